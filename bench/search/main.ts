import { join, resolve } from 'node:path'
import { type DataDirectory, openDataDirectory } from '../../infra/embedded/data-directory.ts'
import { type EmbeddedServers, startServers } from '../../infra/embedded/servers.ts'
import { type CacheSizes, openIndex, SEARCH_SETTINGS } from '../../search/index.ts'
import { readConfig } from '../../shared/config/config.ts'
import { createPool } from '../../shared/postgres/pool.ts'
import type { BenchOptions } from '../main.ts'
import { buildArchive, measureSizes } from './build.ts'
import { queryClasses } from './classes.ts'
import { measureCold } from './cold/main.ts'
import type { Archive } from './generator.ts'
import { measureHttp } from './http/main.ts'
import { measureImport } from './importing.ts'
import { type ClassTimes, measureClass, quantile } from './measure.ts'
import { comparePeers } from './peers/main.ts'

const ROWS = 100_000
const QUERIES = 5

const say = (line: string) => void process.stderr.write(`${line}\n`)

/**
 * Times keyword and boolean searches, lists and polls: each class is what the API answers, a page
 * with its total, through the API's own search function, on Postgres of its own.
 *
 * @returns p50, p95 over all queries of all classes, and of the slowest class the median of its
 * queries, in ms
 */
export async function run(options: BenchOptions): Promise<Record<string, number>> {
  const rows = options.rows ?? ROWS
  const dataDir = await openDataDirectory(
    resolve(join(readConfig().DATA_DIR, 'bench-search')),
    'npm run bench -- search',
  )
  const servers = await startServers(dataDir, { servers: ['postgres'], report: say, signal: options.signal })
  try {
    return await measure(options, rows, dataDir, servers)
  } finally {
    await servers.stop()
    dataDir.release()
  }
}

/** Builds the archive, or takes the one that stands, and measures what is asked for. */
async function measure(
  { peers, importing, http, requests, cold, signal }: BenchOptions,
  rows: number,
  dataDir: DataDirectory,
  servers: EmbeddedServers,
): Promise<Record<string, number>> {
  const server = servers.addresses.DATABASE_URL!
  const { url, archive, seconds } = await buildArchive(server, rows, signal)
  const figures: Record<string, number> = { rows }
  const classes = queryClasses(archive, QUERIES)
  const parts: (() => Promise<Record<string, number>>)[] = []
  if (peers !== null) parts.push(() => comparePeers({ peers, dataDir, servers, url, classes, signal, say }))
  if (importing) parts.push(() => measureImport({ server, url, archive, rows, classes, signal, say }))
  if (http) parts.push(() => measureHttp({ dataDir, servers, url, classes, requests, signal, say }))
  if (cold) parts.push(() => measureCold({ dataDir, servers, url, archive, rows, classes, signal, say }))
  if (parts.length === 0)
    parts.push(
      () => measureClasses(url, archive, signal),
      () => measureSizes(url),
    )
  for (const part of parts) Object.assign(figures, await part())
  if (seconds !== null) Object.assign(figures, { insert_s: seconds.insert, index_s: seconds.index })
  return figures
}

/**
 * Searches of all classes, in process.
 *
 * @returns ms: `p50` of queries whose words are in memory, `cold` of their first runs, `again` of
 * queries that were asked before
 */
export async function measureClasses(
  url: string,
  archive: Archive,
  signal: AbortSignal,
): Promise<Record<string, number>> {
  const pool = createPool(url, 'bench', () => {}, { settings: SEARCH_SETTINGS })
  try {
    const measured = async (caches: Partial<CacheSizes>) => {
      const index = openIndex(pool, { caches })
      const results: ClassTimes[] = []
      for (const one of queryClasses(archive, QUERIES)) {
        signal.throwIfAborted()
        results.push(await measureClass(index, one))
      }
      return results
    }
    // Forgets how many matches there were, so that only the words are in memory.
    const results = await measured({ counts: 1 })
    report(results)
    const again = (await measured({})).flatMap(one => one.times)
    const all = results.flatMap(one => one.times)
    const cold = results.flatMap(one => one.coldTimes)
    return {
      classes: results.length,
      p50_ms: rounded(quantile(all, 0.5)),
      p95_ms: rounded(quantile(all, 0.95)),
      worst_class_ms: rounded(Math.max(...results.map(one => quantile(one.times, 0.5)))),
      worst_query_ms: rounded(Math.max(...all)),
      cold_p50_ms: rounded(quantile(cold, 0.5)),
      cold_p95_ms: rounded(quantile(cold, 0.95)),
      again_p50_ms: rounded(quantile(again, 0.5)),
      again_p95_ms: rounded(quantile(again, 0.95)),
    }
  } finally {
    await pool.end()
  }
}

/** One line a class, slowest first: warm median, slowest query, cold median, articles found. */
function report(results: ClassTimes[]): void {
  const column = (ms: number) => ms.toFixed(1).padStart(8)
  const slowestFirst = results.toSorted((a, b) => quantile(b.times, 0.5) - quantile(a.times, 0.5))
  for (const { name, times, coldTimes, total } of slowestFirst) {
    const figures = [quantile(times, 0.5), Math.max(...times), quantile(coldTimes, 0.5)].map(column).join('')
    say(`${figures}  ${String(total).padStart(6)}  ${name}`)
  }
}

const rounded = (ms: number) => Math.round(ms * 100) / 100
