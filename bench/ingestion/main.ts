import { type Figures, say } from '#bench/figures'
import type { BenchOptions } from '#bench/main'
import { measureFeeds } from './feeds.ts'
import { measureAddresses } from './identity.ts'
import { measureLanguage, measureStems } from './language.ts'
import { measurePages } from './pages.ts'
import { measureStated } from './stated.ts'
import { measureThroughput } from './throughput.ts'

/**
 * Measures ingestion against true values that others published. Then it measures how fast a stored
 * page becomes an article that searches find.
 */
export async function run(options: BenchOptions): Promise<Figures> {
  const figures: Figures = {}
  for (const measure of [
    measureFeeds,
    measurePages,
    measureStated,
    measureLanguage,
    measureStems,
    measureAddresses,
  ]) {
    if (options.signal.aborted) return figures
    say(`${measure.name} …`)
    Object.assign(figures, await measure(options.data))
  }
  return { ...figures, ...(await measureThroughput(options)) }
}
