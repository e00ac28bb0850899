import type { OutletOrigins } from '#shared/figures'
import { FIELDS, type Field, isSource, type Source } from '#shared/outlets/origins'
import type { Queryable } from '#shared/postgres/pool'

export const NO_ORIGINS: OutletOrigins = { shares: [], falls: [] }

/** A day with fewer articles than this does not prove a change. */
const ENOUGH = 10

// $1: ENOUGH. The latest day is today if today has enough articles, otherwise yesterday if
// yesterday has enough. Index: the primary key of outlet_origins.
const READ = `
  with today as (select (now() at time zone 'UTC')::date as day), recent as materialized (
    select o.* from outlet_origins o, today where o.day >= today.day - 8
  ), latest as (
    select outlet_no, max(day) as day
      from (select outlet_no, recent.day from recent, today
             where field = 'title' and recent.day >= today.day - 1
             group by 1, 2 having sum(articles) >= $1) d
     group by 1
  )
  select domain, field, source, sum(articles)::int as all,
         coalesce(sum(articles) filter (where recent.day = latest.day), 0)::int as now,
         coalesce(sum(articles) filter (where recent.day < latest.day), 0)::int as before
    from recent join outlets using (outlet_no) left join latest using (outlet_no)
   group by 1, 2, 3 order by 1, 2, 4 desc, 3`

interface Row {
  domain: string
  field: string
  source: string
  all: number
  now: number
  before: number
}

/** The origins of all outlets that had articles in the last eight days, by domain. */
export async function readOutletOrigins(db: Queryable): Promise<Map<string, OutletOrigins>> {
  const { rows } = await db.query<Row>(READ, [ENOUGH])
  const byDomain = Map.groupBy(rows, ({ domain }) => domain)
  return new Map([...byDomain].map(([domain, its]) => [domain, originsOf(its)]))
}

function originsOf(rows: Row[]): OutletOrigins {
  const known = rows.flatMap(({ field, source, ...counts }) =>
    isField(field) && isSource(source) ? [{ field, source, ...counts }] : [],
  )
  const counts = (when: 'all' | 'now' | 'before') => {
    const found: SourceCounts = {}
    for (const { field, source, [when]: n } of known)
      found[field] = { ...found[field], [source]: n }
    return found
  }
  const enough = total(counts('before')) >= ENOUGH
  const shares = FIELDS.flatMap(field => {
    const ofField = known.filter(row => row.field === field)
    const all = ofField.reduce((sum, row) => sum + row.all, 0)
    return ofField.map(({ source, all: n }) => ({ field, source, share: n / all }))
  })
  return { shares, falls: enough ? fallsOf(counts('before'), counts('now')) : [] }
}

/** The number of articles. Each article has exactly one title, so the titles are counted. */
const total = ({ title = {} }: SourceCounts) => Object.values(title).reduce((sum, n) => sum + n, 0)

const isField = (name: string): name is Field => FIELDS.some(field => field === name)

/** For each field and source: how many articles have this field from this source. */
type SourceCounts = Partial<Record<Field, Partial<Record<Source, number>>>>

/** A field for which less trusted sources are used than before. */
interface Fall {
  field: Field
  /** The source that lost the largest share. `before` and `now` are its shares, from 0 to 1. */
  source: Source
  before: number
  now: number
}

/** The sources of each field, the most trusted first. `none` comes after all of them. */
const TRUST: Record<Field, Source[][]> = {
  title: [['json-ld'], ['markup', 'meta', 'feed'], ['document']],
  date: [['json-ld'], ['meta'], ['microdata', 'feed'], ['markup', 'line']],
  authors: [['json-ld'], ['meta', 'account'], ['feed'], ['line', 'markup', 'box']],
  text: [['page', 'json-ld'], ['feed'], ['summary']],
  language: [['words']],
}

/**
 * A fall of a share counts if it is at least LEAST, because a smaller fall does not matter to an
 * operator. It must also be at least DEVIATIONS standard deviations. Some thousand shares are
 * compared each day, and some of them fall less than that by chance.
 */
const LEAST = 0.25
const DEVIATIONS = 4

/**
 * The fields whose sources are worse than before. A change to a source with the same or more trust
 * is no fall. The test for two proportions compares the two shares.
 */
export const fallsOf = (before: SourceCounts, now: SourceCounts): Fall[] =>
  FIELDS.flatMap(field => {
    const earlier = before[field] ?? {}
    const later = now[field] ?? {}
    const trusted = TRUST[field].map((_, at) => TRUST[field].slice(0, at + 1).flat())
    const fell = trusted.some(sources =>
      isFall(sum(earlier, sources), sum(earlier), sum(later, sources), sum(later)),
    )
    return fell ? [{ field, ...greatestLoss(earlier, later) }] : []
  })

type Named = Partial<Record<Source, number>>

const sum = (named: Named, sources?: Source[]): number =>
  (sources?.map(source => named[source]) ?? Object.values(named)).reduce<number>(
    (all, n) => all + (n ?? 0),
    0,
  )

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
