import { quantile } from '../measure.ts'
import type { ComparedClass, EngineTimes } from './measure.ts'
import type { Peer } from './peer.ts'

const MISMATCHES_SHOWN = 5
/** Characters of a column. */
const WIDTH = 11

/** The share of the machine that an engine takes; null: unknown. */
export interface EngineSize {
  /** MB of memory, without the pages of mapped files. */
  memory: number | null
  /** MB on disk. */
  disk: number | null
  /** Seconds that building took. */
  built: number | null
}

/**
 * Prints one line a class, sums by kind of match and by filter, and a description of each engine.
 */
export function report(
  results: ComparedClass[],
  peers: Peer[],
  sizes: Map<string, EngineSize>,
  say: (line: string) => void,
): void {
  const keys = ['perscope', ...peers.map(peer => peer.key)]
  const line = (values: number[], name: string) => say(`${values.map(column).join('')}  ${name}`)
  const head = (what: string) => say(`\n${what}\n${keys.map(key => key.padStart(WIDTH)).join('')}`)
  const medians = (one: ComparedClass) => keys.map(key => medianOf(one.engines.get(key)!))

  head('Medians of the classes, ms')
  for (const one of results.toSorted((a, b) => medians(b)[0]! - medians(a)[0]!)) line(medians(one), one.name)
  for (const [what, part] of [
    ['match', 0],
    ['filter', 2],
  ] as const) {
    head(`p95 by ${what}, ms`)
    const kinds = Map.groupBy(results, one => one.name.split(' · ')[part]!)
    for (const [kind, classes] of kinds) line(quantiles(classes, keys, 0.95), kind)
  }
  head('All queries, ms')
  for (const part of [0.5, 0.95, 0.99]) line(quantiles(results, keys, part), `p${part * 100}`)
  line(
    keys.map(key => processorTime(results, key)),
    'processor time of a query, mean',
  )
  for (const [what, unit] of [
    ['memory', 'MB of memory'],
    ['disk', 'MB on disk'],
    ['built', 's to build'],
  ] as const)
    say(`${keys.map(key => whole(sizes.get(key)?.[what] ?? null)).join('')}  ${unit}`)
  ahead(results, peers, say)
  for (const key of keys) {
    const { worst, mismatches, compared, overLimit, queries } = summaryOf(results, key)
    say(
      `${key}: worst class ${worst.ms.toFixed(1)} ms (${worst.name})${
        key === 'perscope'
          ? ''
          : `; ${mismatches.length} of ${compared} answers are others than Perscope's; ${overLimit} of ${queries} queries over the limit`
      }`,
    )
    for (const one of mismatches.slice(0, MISMATCHES_SHOWN)) say(`  ${one}`)
  }
  for (const { title, settings } of peers) say(`${title}: ${settings}`)
}

const AHEAD_SHOWN = 15

/** The classes in which a peer is ahead of Perscope, by the medians. */
function ahead(results: ComparedClass[], peers: Peer[], say: (line: string) => void): void {
  for (const { key, title } of peers) {
    const own = 'perscope'
    if (key === 'api') continue
    const classes = results
      .map(one => ({
        name: one.name,
        ours: quantile(one.engines.get(own)!.times, 0.5),
        theirs: medianOf(one.engines.get(key)!),
      }))
      .filter(({ ours, theirs }) => theirs < ours)
      .sort((a, b) => b.ours - b.theirs - (a.ours - a.theirs))
    say(`\n${title} is ahead of Perscope in ${classes.length} of ${results.length} classes`)
    for (const { name, ours, theirs } of classes.slice(0, AHEAD_SHOWN)) say(`${column(ours)}${column(theirs)}  ${name}`)
  }
}

/** Perscope's figures, and the same figures of each peer with its name as a prefix. */
export function figuresOf(results: ComparedClass[], sizes: Map<string, EngineSize>): Record<string, number> {
  const figures: Record<string, number> = { classes: results.length }
  for (const key of results[0]?.engines.keys() ?? []) {
    const own = key === 'perscope'
    const name = own ? '' : `peer_${key}_`
    const { worst, mismatches, compared, overLimit } = summaryOf(results, key)
    for (const part of [0.5, 0.95, 0.99])
      figures[`${name}p${part * 100}_ms`] = rounded(quantiles(results, [key], part)[0]!)
    figures[`${name}worst_class_ms`] = rounded(worst.ms)
    figures[`${name}cpu_ms`] = rounded(processorTime(results, key))
    const { memory, disk, built } = sizes.get(key) ?? { memory: null, disk: null, built: null }
    if (memory !== null) figures[`${name}memory_mb`] = Math.round(memory)
    if (disk !== null) figures[`${name}disk_mb`] = Math.round(disk)
    if (built !== null) figures[`${name}build_s`] = Math.round(built)
    if (!own) {
      figures[`${name}compared`] = compared
      figures[`${name}mismatches`] = mismatches.length
      figures[`${name}over_limit`] = overLimit
    }
  }
  return figures
}

function summaryOf(results: ComparedClass[], key: string) {
  const all = results.map((one): EngineTimes & { name: string } => ({ name: one.name, ...one.engines.get(key)! }))
  const sum = (value: (one: EngineTimes) => number) => all.reduce((before, one) => before + value(one), 0)
  const classes = all.map(({ name, times }) => ({ name, ms: quantile(times, 0.5) }))
  return {
    worst: classes.reduce((worst, one) => (one.ms > worst.ms ? one : worst)),
    mismatches: all.flatMap(one => one.mismatches.map(text => `${one.name}: ${text}`)),
    compared: sum(one => one.compared),
    overLimit: sum(one => one.overLimit),
    queries: sum(one => one.times.length),
  }
}

function quantiles(results: ComparedClass[], keys: string[], part: number): number[] {
  return keys.map(key =>
    quantile(
      results.flatMap(one => one.engines.get(key)!.times),
      part,
    ),
  )
}

/** NaN: the engine was not asked. */
const medianOf = ({ times }: EngineTimes): number => (times.length === 0 ? Number.NaN : quantile(times, 0.5))

/** ms of a query, the mean of all that were answered. */
function processorTime(results: ComparedClass[], key: string): number {
  const all = results.flatMap(one => one.engines.get(key)!.cpuTimes)
  return all.reduce((sum, ms) => sum + ms, 0) / Math.max(1, all.length)
}

const whole = (value: number | null) => (value === null ? '–' : String(Math.round(value))).padStart(WIDTH)
const column = (ms: number) => (Number.isNaN(ms) ? '–' : ms < 10 ? ms.toFixed(2) : ms.toFixed(1)).padStart(WIDTH)
const rounded = (ms: number) => Math.round(ms * 100) / 100
