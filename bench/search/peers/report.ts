import { quantile } from '../measure.ts'
import type { ComparedClass, EngineTimes } from './measure.ts'
import type { Peer } from './peer.ts'

const MISMATCHES_SHOWN = 5

/**
 * Prints one line a class, sums by kind of match and by filter, and a description of each engine.
 */
export function report(results: ComparedClass[], peers: Peer[], say: (line: string) => void): void {
  const keys = ['perscope', ...peers.map(peer => peer.key)]
  const line = (values: number[], name: string) => say(`${values.map(column).join('')}  ${name}`)
  const head = (what: string) => say(`\n${what}\n${keys.map(key => key.padStart(10)).join('')}`)
  const medians = (one: ComparedClass) => keys.map(key => quantile(one.engines.get(key)!.times, 0.5))

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

/** Perscope's figures, and the same figures of each peer with its name as a prefix. */
export function figuresOf(results: ComparedClass[]): Record<string, number> {
  const figures: Record<string, number> = { classes: results.length }
  for (const key of results[0]?.engines.keys() ?? []) {
    const own = key === 'perscope'
    const name = own ? '' : `peer_${key}_`
    const { worst, mismatches, compared, overLimit } = summaryOf(results, key)
    for (const part of [0.5, 0.95, 0.99])
      figures[`${name}p${part * 100}_ms`] = rounded(quantiles(results, [key], part)[0]!)
    figures[`${name}worst_class_ms`] = rounded(worst.ms)
    if (own) {
      const cold = results.flatMap(one => one.coldTimes)
      figures.cold_p50_ms = rounded(quantile(cold, 0.5))
      figures.cold_p95_ms = rounded(quantile(cold, 0.95))
    } else {
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

const column = (ms: number) => (ms < 10 ? ms.toFixed(2) : ms.toFixed(1)).padStart(10)
const rounded = (ms: number) => Math.round(ms * 100) / 100
