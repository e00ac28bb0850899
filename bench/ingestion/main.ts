import type { BenchOptions } from '../main.ts'
import { measureAuthors } from './authors.ts'
import { measureDates } from './dates.ts'
import { measureFeeds } from './feeds.ts'
import { measureIdentity } from './identity.ts'
import { measureInterstitials } from './interstitials.ts'
import { measureLanguage } from './language.ts'
import { measureStems } from './stems.ts'
import { measureFolds } from './strangers/folds.ts'
import { fetchSets } from './strangers/sets/fetch.ts'
import { measureText } from './text.ts'
import { measureThroughput } from './throughput.ts'

type Measure = (options: BenchOptions) => Promise<Record<string, number>>

/** In the order in which an article passes them. */
const MEASURES: [string, Measure][] = [
  ['feeds', ({ data }) => measureFeeds(data)],
  ['text', ({ data }) => measureText(data)],
  ['walls', ({ data }) => measureInterstitials(data)],
  ['dates', ({ data }) => measureDates(data)],
  ['authors', ({ data }) => measureAuthors(data)],
  ['language', ({ data }) => measureLanguage(data)],
  ['stems', ({ data }) => measureStems(data)],
  ['identity', ({ data }) => measureIdentity(data)],
  ['folds', measureFolds],
  ['throughput', measureThroughput],
]

/**
 * Measures ingestion on others' ground truth, then the way from a stored page to a searchable
 * article. Prints tables to standard error.
 */
export async function run(options: BenchOptions): Promise<Record<string, number>> {
  if (options.fetch) return { sets: await fetchSets(options.sets, options.signal) }
  const figures: Record<string, number> = {}
  const onlyFolds = options.folds || options.misses !== null
  for (const [name, measure] of MEASURES) {
    if (onlyFolds && name !== 'folds') continue
    if (options.signal.aborted) break
    const found = await measure(options)
    Object.assign(figures, found)
    // The folds print lines of their own, with intervals.
    if (name === 'folds') continue
    process.stderr.write(`\n${name}\n`)
    for (const [figure, value] of Object.entries(found)) process.stderr.write(`  ${figure.padEnd(36)} ${value}\n`)
  }
  return figures
}
