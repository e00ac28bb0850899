import type { Figures } from '../figures.ts'
import type { BenchOptions } from '../main.ts'
import { withServers } from '../servers.ts'
import { buildArchive, measureSizes, type SearchBench } from './build.ts'
import { queryClasses } from './classes.ts'
import { measureCold } from './cold.ts'
import { measureHttp } from './http.ts'
import { measureImport } from './importing.ts'
import { measureClasses, measureNames, QUERIES } from './measure.ts'
import { comparePeers } from './peers/main.ts'

const ROWS = 100_000

/**
 * Times keyword and boolean searches, lists and polls: each class is what the API answers, a page
 * with its total, through the API's own search function, on Postgres of its own. Or measures the
 * parts that the options name.
 */
export function run({ peers, importing, http, cold, requests, signal, ...options }: BenchOptions): Promise<Figures> {
  const rows = options.rows ?? ROWS
  return withServers(
    'search',
    'bench-search',
    signal,
    async servers => {
      const built = await buildArchive(servers.server, rows, signal)
      const bench: SearchBench = { ...servers, ...built, classes: queryClasses(built.archive, QUERIES) }
      const figures: Figures = { rows }
      if (peers !== null) Object.assign(figures, await comparePeers(bench, peers))
      if (importing) Object.assign(figures, await measureImport(bench))
      if (http) Object.assign(figures, await measureHttp(bench, requests))
      if (cold) Object.assign(figures, await measureCold(bench))
      if (peers === null && !importing && !http && !cold) {
        Object.assign(figures, await measureClasses(built.url, built.archive, signal))
        Object.assign(figures, await measureNames(built.url, built.archive, signal), await measureSizes(built.url))
      }
      if (built.seconds !== null)
        Object.assign(figures, { insert_s: built.seconds.insert, index_s: built.seconds.index })
      return figures
    },
    ['postgres'],
  )
}
