import { loadavg } from 'node:os'
import type { DataDirectory } from '../../../infra/embedded/data-directory.ts'
import type { EmbeddedServers } from '../../../infra/embedded/servers.ts'
import { openIndex, SEARCH_SETTINGS } from '../../../search/index.ts'
import { createPool } from '../../../shared/postgres/pool.ts'
import type { QueryClass } from '../classes.ts'
import { shuffled } from '../generator.ts'
import { quantile } from '../measure.ts'
import { type ApiProcess, benchKey, deleteKeys, measureProcesses, pathOf, startApiProcess } from './api.ts'
import { measureForms } from './forms.ts'
import { load } from './load.ts'
import { measurePolls } from './polls.ts'

const CONNECTIONS = [1, 8, 64]
const SECONDS = 20
const REQUESTS = 100_000
/** Memory is read after each of so many parts of the requests. */
const PARTS = 10

export interface HttpBench {
  dataDir: DataDirectory
  servers: EmbeddedServers
  /** Address of the archive. */
  url: string
  classes: QueryClass[]
  /** Requests over which memory is watched; null: 100,000. */
  requests: number | null
  signal: AbortSignal
  say: (line: string) => void
}

/**
 * The API as its clients meet it: a process of its own, keys, limits and quota, and the first pages
 * of all classes in an order that is always the same. The API's own share of a request is its time
 * without the search and without the statements for the key, the minute and the month (`access`).
 */
export async function measureHttp(bench: HttpBench): Promise<Record<string, number>> {
  const { url, classes, servers, dataDir, signal, say } = bench
  const pool = createPool(url, 'bench', () => {})
  const paths = shuffled(classes.flatMap(one => one.queries.map(pathOf)))
  const free = await benchKey(pool, null)
  const counted = await benchKey(pool, 2_000_000_000)
  let api: ApiProcess | null = null
  try {
    api = await startApiProcess(servers, dataDir, url)
    const measured: Measured = { api, paths, signal, say }
    const warm = await load(api.base, counted.secret, paths, 4, { requests: paths.length }, signal)
    if (warm.failures > 0) throw new Error(`${warm.failures} of ${warm.requests} requests failed; see logs/api.log.`)
    await api.requests()

    const figures: Record<string, number> = {
      ...(await measureShare(measured, 'no_quota', free.secret)),
      ...(await measureShare(measured, 'quota', counted.secret)),
      cpu_search_ms: rounded(await searchCpu(url, classes)),
    }
    say(
      `Processor time of a request: ${figures.cpu_no_quota_ms} ms, with a quota ${figures.cpu_quota_ms} ms; of its search alone ${figures.cpu_search_ms} ms`,
    )
    const rates = await measureRates(measured, counted.secret)
    const forms = await measureForms(measured, counted.secret)
    const polls = await measurePolls({ api, pool, key: free.secret, signal, say }, 'polls_no_quota')
    const counting = await measurePolls({ api, pool, key: counted.secret, signal, say }, 'polls_quota')
    const memory = await measureMemory(measured, counted.secret, bench.requests ?? REQUESTS)
    await api.stop()
    const start = (processes: number) => startApiProcess(servers, dataDir, url, { processes })
    Object.assign(figures, await measureProcesses({ start, paths, key: counted.secret, signal, say }))
    say(`load ${loadavg()[0]!.toFixed(1)}`)
    const all = [rates, forms, polls, counting, memory]
    return {
      ...Object.assign(figures, ...all.map(one => one.figures)),
      http_failures: all.reduce((sum, one) => sum + one.failures, 0),
    }
  } finally {
    await api?.stop()
    await deleteKeys(pool, [free.id, counted.id])
    await pool.end()
  }
}

/** A running API with the requests that it is asked. */
interface Measured {
  api: ApiProcess
  paths: string[]
  signal: AbortSignal
  say: (line: string) => void
}

/** The API's own share of each request, and its processor time, with one connection. */
async function measureShare(
  { api, paths, signal, say }: Measured,
  name: 'no_quota' | 'quota',
  key: string,
): Promise<Record<string, number>> {
  const { cpu } = await api.usage()
  await load(api.base, key, paths, 1, { requests: paths.length }, signal)
  const figures: Record<string, number> = {
    [`cpu_${name}_ms`]: rounded((((await api.usage()).cpu - cpu) * 1_000) / paths.length),
  }
  const logged = await api.requests()
  const own = logged.map(one => one.ms - one.searchMs - one.accessMs)
  const access = logged.map(one => one.accessMs)
  const search = logged.map(one => one.searchMs)
  for (const part of [0.5, 0.95]) {
    figures[`own_${name}_p${part * 100}_ms`] = rounded(quantile(own, part))
    figures[`access_${name}_p${part * 100}_ms`] = rounded(quantile(access, part))
  }
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map(part => quantile(own, part).toFixed(2))
  say(
    `${name}: the API's own share p50 ${p50}, p95 ${p95}, p99 ${p99} ms; key, minute and month p95 ${quantile(access, 0.95).toFixed(2)} ms; its search p95 ${quantile(search, 0.95).toFixed(2)} ms (${own.length} requests)`,
  )
  return figures
}

/** Figures with the number of requests that failed while they were measured. */
interface Rates {
  figures: Record<string, number>
  failures: number
}

/** Requests a second and their times, by number of connections. */
async function measureRates({ api, paths, signal, say }: Measured, key: string): Promise<Rates> {
  const rates: Rates = { figures: {}, failures: 0 }
  for (const connections of CONNECTIONS) {
    const { perSecond, times, failures } = await load(api.base, key, paths, connections, { seconds: SECONDS }, signal)
    rates.figures[`http_${connections}_per_s`] = rounded(perSecond)
    rates.figures[`http_${connections}_p50_ms`] = rounded(quantile(times, 0.5))
    rates.figures[`http_${connections}_p95_ms`] = rounded(quantile(times, 0.95))
    rates.failures += failures
    say(
      `${connections} connections: ${perSecond.toFixed(0)} requests/s, p50 ${quantile(times, 0.5).toFixed(1)}, p95 ${quantile(times, 0.95).toFixed(1)} ms, ${failures} failed`,
    )
  }
  return rates
}

/** Resident memory before and after so many requests. */
async function measureMemory({ api, paths, signal, say }: Measured, key: string, requests: number): Promise<Rates> {
  const { memory: before } = await api.usage()
  say(`Resident before: ${before.toFixed(0)} MB`)
  let failures = 0
  for (let part = 1; part <= PARTS; part++) {
    const loaded = await load(api.base, key, paths, 8, { requests: Math.ceil(requests / PARTS) }, signal)
    failures += loaded.failures
    say(`after ${Math.round((requests * part) / PARTS)} requests: ${(await api.usage()).memory.toFixed(0)} MB`)
  }
  const after = rounded((await api.usage()).memory)
  return { figures: { rss_mb: after, rss_growth_mb: rounded(after - before) }, failures }
}

/** ms of processor time of each of the same searches, in this process. */
async function searchCpu(url: string, classes: QueryClass[]): Promise<number> {
  const pool = createPool(url, 'bench', () => {}, { settings: SEARCH_SETTINGS })
  const index = openIndex(pool)
  try {
    const queries = classes.flatMap(one => one.queries)
    for (const query of queries) await index.search(query)
    const before = process.cpuUsage()
    for (const query of queries) await index.search(query)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000 / queries.length
  } finally {
    await pool.end()
  }
}

const rounded = (value: number) => Math.round(value * 100) / 100
