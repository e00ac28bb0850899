import { type Figures, say } from '../figures.ts'
import type { BenchOptions } from '../main.ts'
import { measureAuthors } from './authors.ts'
import { measureDates } from './dates.ts'
import { measureFeeds } from './feeds.ts'
import { measureIdentity } from './identity.ts'
import { measureInterstitials } from './interstitials.ts'
import { measureLanguage, measureStems } from './language.ts'
import { measureText } from './text.ts'
import { measureThroughput } from './throughput.ts'

type Measure = (options: BenchOptions) => Promise<Figures>

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
  ['throughput', measureThroughput],
]

/**
 * Measures ingestion on others' ground truth, then the way from a stored page to a searchable
 * article. Prints tables to standard error.
 */
export async function run(options: BenchOptions): Promise<Figures> {
  const figures: Figures = {}
  for (const [name, measure] of MEASURES) {
    if (options.signal.aborted) break
    const found = await measure(options)
    Object.assign(figures, found)
    say(`\n${name}`)
    for (const [figure, value] of Object.entries(found)) say(`  ${figure.padEnd(36)} ${value}`)
  }
  return figures
}
