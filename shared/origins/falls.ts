import { FIELDS, type Field, type Source } from './origins.ts'

/** How many articles each source named a field of. */
export type Counts = Partial<Record<Field, Partial<Record<Source, number>>>>

/** A field whose articles come from less trusted sources than before. */
export interface Fall {
  field: Field
  /** The source that lost most, with its shares before and now, from 0 to 1. */
  source: Source
  before: number
  now: number
}

/** The sources of each field by trust, the most trusted first; `none` is behind them all. */
const TRUST: Record<Field, Source[][]> = {
  title: [['json-ld'], ['markup', 'meta', 'feed'], ['document']],
  date: [['json-ld'], ['meta'], ['microdata', 'feed'], ['markup', 'line']],
  authors: [['json-ld'], ['meta', 'account'], ['feed'], ['line', 'markup', 'box']],
  text: [['page', 'json-ld'], ['feed'], ['summary']],
  language: [['words']],
}

/**
 * A smaller fall is no matter for an operator. A rarer one than this many standard deviations would
 * come by chance: some thousand shares are compared each day.
 */
const LEAST = 0.25
const DEVIATIONS = 4

/**
 * The fields whose sources are worse than before. A change to a source of the same trust or of a
 * higher one is no fall. The two shares are compared by the test for two proportions.
 */
export function fallsOf(before: Counts, now: Counts): Fall[] {
  return FIELDS.flatMap(field => {
    const [earlier, later] = [before[field] ?? {}, now[field] ?? {}]
    const trusted = TRUST[field].map((_, at) => TRUST[field].slice(0, at + 1).flat())
    const fell = trusted.some(sources => isFall(sum(earlier, sources), sum(earlier), sum(later, sources), sum(later)))
    return fell ? [{ field, ...greatestLoss(earlier, later) }] : []
  })
}

type Named = Partial<Record<Source, number>>

function sum(named: Named, sources?: Source[]): number {
  return (sources?.map(source => named[source]) ?? Object.values(named)).reduce<number>((all, n) => all + (n ?? 0), 0)
}

function isFall(partBefore: number, before: number, partNow: number, now: number): boolean {
  if (before === 0 || now === 0) return false
  const fall = partBefore / before - partNow / now
  const pooled = (partBefore + partNow) / (before + now)
  const deviation = Math.sqrt(pooled * (1 - pooled) * (1 / before + 1 / now))
  return fall >= LEAST && fall >= DEVIATIONS * deviation
}

function greatestLoss(before: Named, now: Named): Omit<Fall, 'field'> {
  const share = (named: Named, source: Source) => (named[source] ?? 0) / sum(named)
  let lost: Omit<Fall, 'field'> = { source: 'none', before: 0, now: 0 }
  let source: keyof Named
  for (source in before) {
    const one = { source, before: share(before, source), now: share(now, source) }
    if (one.before - one.now > lost.before - lost.now) lost = one
  }
  return lost
}
