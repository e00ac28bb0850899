import { openIndex, SEARCH_SETTINGS, timeZoneNamed } from '../../search/index.ts'
import { createPool } from '../../shared/postgres/pool.ts'
import { type Figures, quantile, quantiles, rounded } from '../figures.ts'
import { BASE, nameClasses, nameParts } from './classes.ts'
import { type Archive, createRandom } from './generator.ts'
import { measureAll, QUERIES, RUNS, sayClasses } from './measure.ts'

/**
 * Times searches by parts of names, pages and counts by day; the last by a process that has read
 * nothing.
 */
export async function measureNames(url: string, archive: Archive, signal: AbortSignal): Promise<Figures> {
  const pool = createPool(url, 'bench', () => {}, { settings: SEARCH_SETTINGS })
  const [index, fresh] = [openIndex(pool), openIndex(pool)]
  const all = { ...BASE, searchIn: 'title_body', match: { kind: 'all' } } as const
  try {
    await index.warm()
    const results = await measureAll(index, nameClasses(archive, QUERIES), signal)
    sayClasses(results)
    const times = results.flatMap(one => one.times)
    const colds = results.flatMap(one => one.measured.map(({ coldMs }) => coldMs))
    const parts = Object.values(nameParts(archive))
    for (const part of parts) {
      const runs: number[] = []
      for (let run = 0; run <= RUNS; run++) {
        const start = performance.now()
        await index.countBy(
          { ...all, ...part(createRandom(1)) },
          { by: 'day', zone: timeZoneNamed('Europe/Brussels')! },
        )
        runs.push(performance.now() - start)
      }
      colds.push(runs.shift()!)
      times.push(quantile(runs, 0.5))
    }
    const start = performance.now()
    await fresh.search({ ...all, author: 'van' })
    return {
      names_classes: results.length + parts.length,
      ...quantiles('names_', times),
      names_worst_ms: rounded(Math.max(...times)),
      names_cold_worst_ms: rounded(Math.max(...colds)),
      names_unread_ms: rounded(performance.now() - start),
    }
  } finally {
    await Promise.all([index.close(), fresh.close()])
    await pool.end()
  }
}
