import { type Figures, say } from '../figures.ts'
import type { BenchOptions } from '../main.ts'
import { measureFeeds } from './feeds.ts'
import { measureAddresses } from './identity.ts'
import { measureLanguage, measureStems } from './language.ts'
import { measurePages } from './pages.ts'
import { measureThroughput } from './throughput.ts'

/**
 * Measures ingestion on others' ground truth, then the way from a stored page to a searchable
 * article.
 */
export async function run(options: BenchOptions): Promise<Figures> {
  const figures: Figures = {}
  for (const measure of [measureFeeds, measurePages, measureLanguage, measureStems, measureAddresses]) {
    if (options.signal.aborted) return figures
    say(`${measure.name} …`)
    Object.assign(figures, await measure(options.data))
  }
  return { ...figures, ...(await measureThroughput(options)) }
}
