import { open, stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type DataDirectory, freePort } from '../../../infra/embedded/data-directory.ts'
import type { EmbeddedServers } from '../../../infra/embedded/servers.ts'
import type { ArticleQuery } from '../../../search/index.ts'
import { COUNTRIES } from '../../../shared/articles/article.ts'
import { createKey } from '../../../shared/plans/keys.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import { API_NODE_OPTIONS } from '../../../shared/process/node.ts'
import { quantile } from '../measure.ts'
import { load } from './load.ts'

/** Seconds that the processes after the first may take to start. */
const START_TRIES = 120
const CHECKOUT = fileURLToPath(new URL('../../..', import.meta.url))

/** A line of the API's log about a request. */
export interface LoggedRequest {
  ms: number
  searchMs: number
  accessMs: number
  status: number
  path: string
  search: string
  /** ms by what it waited for, of a slow one. */
  waited?: Record<string, number>
}

/** A real API process under the watch of the servers. */
export interface ApiProcess {
  base: string
  pid(): number
  /** When its processes started, the primary's included. */
  starts(): Promise<number[]>
  /**
   * MB of memory that are resident, and seconds of processor time since its start, of all
   * processes.
   * @throws when one was restarted meanwhile
   */
  usage(): Promise<{ memory: number; cpu: number }>
  /**
   * Reads the requests since the last call from the log of the API. For each: ms in all, ms of the
   * search, and ms of the statements for key, minute and month.
   */
  requests(): Promise<LoggedRequest[]>
  stop(): Promise<void>
}

interface ApiOptions {
  /** Of its log; processes that run side by side have one each. */
  name?: string
  /** Processes that share the port. */
  processes?: number
  /** Settings beside those that every bench has. */
  env?: Record<string, string>
}

export async function startApiProcess(
  servers: EmbeddedServers,
  dataDir: DataDirectory,
  database: string,
  { name = 'api', processes = 1, env = {} }: ApiOptions = {},
): Promise<ApiProcess> {
  const port = await freePort()
  const metrics = await freePort(candidate => candidate !== port)
  const log = join(dataDir.path, 'logs', `${name}.log`)
  const base = `http://127.0.0.1:${port}`
  const supervised = await servers.supervise({
    name: 'The API',
    command: process.execPath,
    args: [...API_NODE_OPTIONS, join(CHECKOUT, 'services/api/main.ts')],
    cwd: CHECKOUT,
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: database,
      PORT: String(port),
      METRICS_PORT: String(metrics),
      WEB_CONCURRENCY: String(processes),
      LOG_LEVEL: 'info',
      ...env,
    },
    owner: null,
    log,
    isReady: async () => (await fetch(`${base}/readyz`)).ok,
    stop: [{ signal: 'SIGTERM', wait: 15_000 }],
    gentle: 'SIGTERM',
  })
  const gauges = () => readGauges(metrics)
  // Of several, one is the primary.
  const expected = processes === 1 ? 1 : processes + 1
  const starts = async () => (await gauges())('process_start_time_seconds')
  for (let tries = 0; (await starts()).length < expected && tries < START_TRIES; tries++) await pause(1_000)
  const started = String(await starts())
  return {
    base,
    pid: () => supervised.pid() ?? 0,
    starts,
    async usage() {
      const gauge = await gauges()
      if (String(gauge('process_start_time_seconds')) !== started)
        throw new Error(`The API ended by itself; see ${log}.`)
      return {
        memory: sum(gauge('process_resident_memory_bytes')) / 1_048_576,
        cpu: sum(gauge('process_cpu_seconds_total')),
      }
    },
    requests: await logReader(log),
    stop: () => supervised.stop(),
  }
}

/** Reads the lines of requests that a log gets from now on. */
async function logReader(log: string): Promise<ApiProcess['requests']> {
  let seen = (await stat(log)).size
  return async () => {
    const file = await open(log)
    try {
      const { size } = await file.stat()
      // The log was rotated because of its length; the rest was written after that.
      if (size < seen) seen = 0
      const { buffer } = await file.read(Buffer.alloc(size - seen), 0, size - seen, seen)
      seen = size
      return buffer
        .toString()
        .split('\n')
        .filter(line => line.includes('"searchMs"'))
        .map((line): LoggedRequest => JSON.parse(line))
    } finally {
      await file.close()
    }
  }
}

/** The values of a gauge by its name, one a process. */
async function readGauges(port: number): Promise<(name: string) => number[]> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  return name => [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'))].map(([, value]) => Number(value))
}

const sum = (values: number[]) => values.reduce((all, value) => all + value, 0)

const CONNECTIONS = [8, 64]
const SECONDS = 15
/** ms in which the last process reads ahead and gets connections. */
const SETTLING = 10_000

interface ProcessesBench {
  /** Starts an API of so many processes. */
  start(processes: number): Promise<ApiProcess>
  paths: string[]
  key: string
  signal: AbortSignal
  say: (line: string) => void
}

/**
 * Requests a second, processor time of a request, and memory, by the number of processes behind the
 * port: 1, 2, and one for each core. The clients, and Postgres, share the cores with them.
 */
export async function measureProcesses(bench: ProcessesBench): Promise<Record<string, number>> {
  const figures: Record<string, number> = {}
  for (const processes of [...new Set([1, 2, availableParallelism()])]) {
    const api = await bench.start(processes)
    try {
      Object.assign(figures, await measureOne(api, processes, bench))
    } finally {
      await api.stop()
    }
  }
  return figures
}

async function measureOne(
  api: ApiProcess,
  processes: number,
  { paths, key, signal, say }: ProcessesBench,
): Promise<Record<string, number>> {
  const figures: Record<string, number> = {}
  const name = `http_processes_${processes}`
  if (processes > 1) await pause(SETTLING, undefined, { signal })
  // Each process answers every path once.
  await load(api.base, key, paths, 4 * processes, { requests: paths.length * processes }, signal)
  for (const connections of CONNECTIONS) {
    const before = await api.usage()
    const { perSecond, times, failures, requests } = await load(
      ...([api.base, key, paths, connections, { seconds: SECONDS }, signal] as const),
    )
    const after = await api.usage()
    const cpu = ((after.cpu - before.cpu) * 1_000) / requests
    figures[`${name}_${connections}_per_s`] = rounded(perSecond)
    figures[`${name}_${connections}_p95_ms`] = rounded(quantile(times, 0.95))
    figures[`${name}_${connections}_cpu_ms`] = rounded(cpu)
    say(
      `${processes} processes, ${connections} connections: ${perSecond.toFixed(0)} requests/s, p50 ${quantile(times, 0.5).toFixed(1)}, p95 ${quantile(times, 0.95).toFixed(1)} ms, ${cpu.toFixed(2)} ms of processor time each, ${failures} failed`,
    )
  }
  figures[`${name}_mb`] = rounded((await api.usage()).memory)
  say(`${processes} processes: ${figures[`${name}_mb`]} MB resident`)
  return figures
}

const rounded = (value: number) => Math.round(value * 100) / 100

/** A key of all countries and times. @param quota null: none */
export async function benchKey(pool: Pool, quota: number | null): Promise<{ id: string; secret: string }> {
  const { key, secret } = await createKey(pool, 'bench', {
    countries: [...COUNTRIES],
    history: { kind: 'fixed', at: new Date('2000-01-01T00:00:00Z') },
    rate: 1_000_000,
    quota,
  })
  return { id: key.id, secret }
}

/** Keys are revoked, never deleted: only a bench leaves nothing behind. */
export async function deleteKeys(pool: Pool, ids: string[]): Promise<void> {
  for (const [table, column] of [
    ['quota_months', 'key_id'],
    ['rate_windows', 'key_id'],
    ['api_keys', 'id'],
  ]) {
    await pool.query(`delete from ${table} where ${column} = any ($1)`, [ids]).catch(() => {})
  }
}

/** The request of a client that asks a query's first page. */
export function pathOf(query: ArticleQuery): string {
  const given = new URLSearchParams()
  const { match, coverage } = query
  if (match.kind === 'keyword') given.set('q', match.words.join(' '))
  if (match.kind === 'boolean') {
    given.set('search', 'boolean')
    const phrase = (words: string[]) => (words.length === 1 ? words[0]! : `"${words.join(' ')}"`)
    given.set('q', [...match.required.map(phrase), ...match.excluded.map(words => `-${phrase(words)}`)].join(' '))
  }
  given.set('search_in', query.searchIn)
  if (query.countries.length < COUNTRIES.length) given.set('country', query.countries.join(','))
  if (query.languages !== null) given.set('language', query.languages.join(','))
  if (query.hasAuthor !== null) given.set('has_author', String(query.hasAuthor))
  if (query.outlet !== null) given.set('outlet', query.outlet)
  if (query.author !== null) given.set('author', query.author)
  if (coverage.publishedAfter !== null) given.set('published_after', coverage.publishedAfter.toISOString())
  if (coverage.publishedBefore !== null) {
    // The bounds of the bench end at midnight, and a day as a bound includes all of that day.
    const last = new Date(coverage.publishedBefore.at.getTime() - 1)
    given.set('published_before', last.toISOString().slice(0, 10))
  }
  if (query.ingestedAfter !== null) given.set('ingested_after', query.ingestedAfter.toISOString())
  given.set('sort', query.sort)
  given.set('order', query.order)
  given.set('per_page', String(query.perPage))
  return `/v1/articles?${given}`
}
