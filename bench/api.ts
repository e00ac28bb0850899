import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../infra/embedded/data-directory.ts'
import type { ArticleQuery } from '../search/index.ts'
import { COUNTRIES } from '../shared/articles/article.ts'
import { createKey } from '../shared/plans/keys.ts'
import type { Queryable } from '../shared/postgres/pool.ts'
import { API_NODE_OPTIONS } from '../shared/process/node.ts'
import { sum } from './figures.ts'
import { type Load, load, type Path, type Until } from './load.ts'
import type { Bench } from './servers.ts'

/** Seconds that the processes after the first may take to start. */
const START_TRIES = 120
const CHECKOUT = fileURLToPath(new URL('..', import.meta.url))

/** A line of the API's log about a request: ms in all, of the search, of key, minute and month. */
export interface LoggedRequest {
  ms: number
  searchMs: number
  accessMs: number
  path: string
  search: string
  /** ms by what it waited for, of a slow one. */
  waited?: Record<string, number>
}

/** A load with the processor time of the API for one request, ms. */
export interface ApiLoad extends Load {
  cpu: number
}

/** A real API process under the watch of the servers. */
export interface ApiProcess {
  base: string
  /** ms from its start until `/readyz` said yes. */
  readyMs: number
  pid(): number
  /** When its processes started, the primary's included. */
  starts(): Promise<number[]>
  /**
   * MB of memory that are resident, and seconds of processor time since its start, of all
   * processes.
   *
   * @throws when one was restarted meanwhile
   */
  usage(): Promise<{ memory: number; cpu: number }>
  /** @see load */
  load(key: string, paths: Path[], connections: number, until: Until, good?: number[]): Promise<ApiLoad>
  /** Reads the requests since the last call from the log of the API. */
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

/** @param database address of the archive */
export async function startApi(
  { servers, dataDir, signal }: Bench,
  database: string,
  { name = 'api', processes = 1, env = {} }: ApiOptions = {},
): Promise<ApiProcess> {
  const port = await freePort()
  const metrics = await freePort(candidate => candidate !== port)
  const log = join(dataDir.path, 'logs', `${name}.log`)
  const base = `http://127.0.0.1:${port}`
  const begun = performance.now()
  const supervised = await servers.supervise({
    ...{ name: 'The API', command: process.execPath, cwd: CHECKOUT, owner: null, log },
    args: [...API_NODE_OPTIONS, join(CHECKOUT, 'services/api/main.ts')],
    env: {
      ...{ PATH: process.env.PATH, DATABASE_URL: database, PORT: String(port), METRICS_PORT: String(metrics) },
      ...{ WEB_CONCURRENCY: String(processes), LOG_LEVEL: 'info', ...env },
    },
    isReady: async () => (await fetch(`${base}/readyz`)).ok,
    stop: [{ signal: 'SIGTERM', wait: 15_000 }],
    gentle: 'SIGTERM',
  })
  const readyMs = performance.now() - begun
  const starts = async () => (await readGauges(metrics))('process_start_time_seconds')
  // Of several, one is the primary.
  const expected = processes === 1 ? 1 : processes + 1
  for (let tries = 0; (await starts()).length < expected && tries < START_TRIES; tries++) await pause(1_000)
  const started = String(await starts())
  const usage = async () => {
    const gauge = await readGauges(metrics)
    if (String(gauge('process_start_time_seconds')) !== started) throw new Error(`The API ended by itself; see ${log}.`)
    return {
      memory: sum(gauge('process_resident_memory_bytes')) / 1_048_576,
      cpu: sum(gauge('process_cpu_seconds_total')),
    }
  }
  return {
    ...{ base, readyMs, starts, usage },
    pid: () => supervised.pid() ?? 0,
    async load(key, paths, connections, until, good) {
      const { cpu } = await usage()
      const loaded = await load(base, key, paths, connections, until, signal, good)
      return { ...loaded, cpu: (((await usage()).cpu - cpu) * 1_000) / loaded.asked.length }
    },
    requests: await logReader(log),
    stop: () => supervised.stop(),
  }
}

/** Reads the lines of requests that a log gets from now on. */
async function logReader(log: string): Promise<ApiProcess['requests']> {
  let seen = (await stat(log)).size
  return async () => {
    await using file = await open(log)
    const { size } = await file.stat()
    // The log was rotated because of its length; the rest was written after that.
    if (size < seen) seen = 0
    const { buffer } = await file.read(Buffer.alloc(size - seen), 0, size - seen, seen)
    seen = size
    const lines = buffer.toString().split('\n')
    return lines.filter(line => line.includes('"searchMs"')).map((line): LoggedRequest => JSON.parse(line))
  }
}

/** The values of a gauge by its name, one a process. */
async function readGauges(port: number): Promise<(name: string) => number[]> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  return name => [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'))].map(([, value]) => Number(value))
}

/** A key of all countries and times. @param quota null: none */
export async function benchKey(database: Queryable, quota: number | null): Promise<{ id: string; secret: string }> {
  const { key, secret } = await createKey(database, 'bench', {
    countries: [...COUNTRIES],
    history: { kind: 'fixed', at: new Date('2000-01-01T00:00:00Z') },
    rate: 1_000_000_000,
    quota,
  })
  return { id: key.id, secret }
}

/** Keys are revoked, never deleted: only a bench leaves nothing behind. */
export async function deleteKeys(database: Queryable, ids: string[]): Promise<void> {
  const statements = ['quota_months where key_id', 'rate_windows where key_id', 'api_keys where id']
  for (const keys of statements) await database.query(`delete from ${keys} = any ($1)`, [ids]).catch(() => {})
}

/** The request of a client that asks a query's first page. */
export function pathOf(query: ArticleQuery): string {
  const { match, coverage, countries, languages } = query
  const phrase = (words: string[]) => (words.length === 1 ? words[0]! : `"${words.join(' ')}"`)
  // The bounds of the bench end at midnight, and a day as a bound includes all of that day.
  const last = coverage.publishedBefore && new Date(coverage.publishedBefore.at.getTime() - 1)
  const given = {
    ...(match.kind === 'keyword' && { q: match.words.join(' ') }),
    ...(match.kind === 'boolean' && {
      search: 'boolean',
      q: [...match.required.map(phrase), ...match.excluded.map(words => `-${phrase(words)}`)].join(' '),
    }),
    search_in: query.searchIn,
    country: countries.length < COUNTRIES.length ? countries.join(',') : null,
    language: languages?.join(','),
    has_author: query.hasAuthor,
    outlet: query.outlet,
    author: query.author,
    published_after: coverage.publishedAfter?.toISOString(),
    published_before: last?.toISOString().slice(0, 10),
    ingested_after: query.ingestedAfter?.toISOString(),
    sort: query.sort,
    order: query.order,
    per_page: query.perPage,
  }
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(given)) if (value != null) parameters.set(name, String(value))
  return `/v1/articles?${parameters}`
}
