import type { Figures } from '#bench/figures'
import type { BenchOptions } from '#bench/main'
import { type Bench, withServers } from '#bench/servers'
import { buildCorpus, measureSizes } from './build.ts'
import { measureCold } from './cold.ts'
import { measureHttp } from './http.ts'
import { measureImport } from './importing.ts'
import { measureClasses, measureNames, measureParts } from './measure.ts'
import { comparePeers } from './peers/main.ts'
import { measureRemovals } from './removals.ts'

const ROWS = 100_000

/**
 * Times keyword and boolean searches, lists and polls. The API's own search function runs on a
 * Postgres of the bench's own, and answers a page with its total. When options name parts, it
 * measures those parts instead.
 */
export function run({
  peers,
  importing,
  http,
  cold,
  removals,
  against,
  requests,
  signal,
  ...options
}: BenchOptions): Promise<Figures> {
  const rows = options.rows ?? ROWS
  const measure = async (servers: Bench): Promise<Figures> => {
    const bench = { ...servers, ...(await buildCorpus(servers.server, rows, signal)) }
    const figures: Figures = { rows }
    if (bench.seconds !== null)
      Object.assign(figures, { insert_s: bench.seconds.insert, index_s: bench.seconds.index })
    if (peers !== null) Object.assign(figures, await comparePeers(bench, peers))
    if (importing) Object.assign(figures, await measureImport(bench))
    if (http) Object.assign(figures, await measureHttp(bench, requests))
    if (cold) Object.assign(figures, await measureCold(bench))
    if (removals !== null) Object.assign(figures, await measureRemovals(bench, removals, against))
    if (peers !== null || importing || http || cold || removals !== null) return figures
    Object.assign(figures, await measureClasses(bench), await measureNames(bench))
    Object.assign(figures, await measureParts(bench))
    return { ...figures, ...(await measureSizes(bench.url)) }
  }
  return withServers('search', 'bench-search', signal, measure, ['postgres'])
}
