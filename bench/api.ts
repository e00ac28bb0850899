import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '#infra/embedded/data-directory'
import { COUNTRIES } from '#shared/articles/article'
import { createKey } from '#shared/plans/keys'
import type { Queryable } from '#shared/postgres/pool'
import { API_NODE_OPTIONS } from '#shared/process/node'
import { until } from '#test/fleet'
import { sum } from './figures.ts'
import { type Asking, createClient, type Load, load, type Until } from './load.ts'
import type { Bench } from './servers.ts'

/** ms within which every process of an API must have started, from when the first is ready. */
const START_MS = 120_000
const CHECKOUT = fileURLToPath(new URL('..', import.meta.url))

/**
 * The API's log about one request: ms of the whole request, of its search, and of the statements
 * for key, minute and month.
 */
export interface LoggedRequest {
  ms: number
  searchMs: number
  accessMs: number
  /** The log of a slow request says for what it waited, and how many ms. */
  waited?: Record<string, number>
}

/** A load, and the processor time that the API spent on one of its requests, ms. */
export type ApiLoad = Load & { cpu: number }

/** A real API. The bench's servers start it and stop it. */
export interface ApiProcess {
  base: string
  /** ms from the start of the API until `/readyz` answered that it is ready. */
  readyMs: number
  pid(): number
  /** When each process of the API started, in s since 1970. The primary process is among them. */
  starts(): Promise<number[]>
  /**
   * Adds up all processes of the API: MB of resident memory, and seconds of processor time since
   * their start.
   */
  usage(): Promise<{ memory: number; cpu: number }>
  /** @see load */
  load(
    key: string,
    requests: Asking[],
    connections: number,
    until: Until,
    good?: number[],
  ): Promise<ApiLoad>
  /** The number of requests that failed in all loads of this API. */
  failures(): number
  /** Reads from the API's log the requests since the previous call. */
  requests(): Promise<LoggedRequest[]>
}

/**
 * Starts an API, works with it, and stops it.
 *
 * @param database address of the corpus
 * @param options.processes number of processes that share the port
 * @param options.env settings beside those that every bench has
 */
export async function withApi<T>(
  { servers, dataDir, signal }: Bench,
  database: string,
  { processes = 1, env = {} }: { processes?: number; env?: Record<string, string> },
  work: (api: ApiProcess) => Promise<T>,
): Promise<T> {
  const port = await freePort()
  const metrics = await freePort(candidate => candidate !== port)
  const log = join(dataDir.path, 'logs', 'api.log')
  const base = `http://127.0.0.1:${port}`
  const begun = performance.now()
  const supervised = await servers.supervise({
    name: 'The API',
    command: process.execPath,
    cwd: CHECKOUT,
    owner: null,
    log,
    args: [...API_NODE_OPTIONS, join(CHECKOUT, 'services/api/main.ts')],
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: database,
      PORT: String(port),
      METRICS_PORT: String(metrics),
      WEB_CONCURRENCY: String(processes),
      LOG_LEVEL: 'info',
      ...env,
    },
    isReady: async () => (await fetch(`${base}/readyz`)).ok,
    stop: [{ signal: 'SIGTERM', wait: 15_000 }],
    gentle: 'SIGTERM',
  })
  try {
    const readyMs = performance.now() - begun
    const starts = async () => (await readGauges(metrics))('process_start_time_seconds')
    // Several processes have a primary process beside them.
    const expected = processes === 1 ? 1 : processes + 1
    await until(async () => (await starts()).length >= expected, START_MS)
    const usage = async () => {
      const gauge = await readGauges(metrics)
      return {
        memory: sum(gauge('process_resident_memory_bytes')) / 1_048_576,
        cpu: sum(gauge('process_cpu_seconds_total')),
      }
    }
    let failures = 0
    return await work({
      base,
      readyMs,
      starts,
      usage,
      failures: () => failures,
      requests: await logReader(log),
      pid: () => supervised.pid() ?? 0,
      async load(key, requests, connections, length, good) {
        const client = createClient(base, key, connections)
        const { cpu } = await usage()
        const loaded = await load(client, requests, connections, length, signal, good).finally(() =>
          client.close(),
        )
        failures += loaded.failures
        return { ...loaded, cpu: (((await usage()).cpu - cpu) * 1_000) / loaded.asked.length }
      },
    })
  } finally {
    await supervised.stop()
  }
}

/** Returns a function that reads what the API has logged about requests since its previous call. */
async function logReader(log: string): Promise<ApiProcess['requests']> {
  let seen = (await stat(log)).size
  return async () => {
    const bytes = await readFile(log)
    // A log that became shorter was rotated, because it was too long. All of it is new then.
    const lines = bytes.subarray(bytes.length < seen ? 0 : seen).toString()
    seen = bytes.length
    return lines
      .split('\n')
      .filter(line => line.includes('"searchMs"'))
      .map((line): LoggedRequest => JSON.parse(line))
  }
}

/** The values of a gauge by its name. Each process has one value. */
async function readGauges(port: number): Promise<(name: string) => number[]> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  return name =>
    [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'))].map(([, value]) =>
      Number(value),
    )
}

/** Makes a key for all countries and times. @param quota null: the key has no quota */
export async function benchKey(database: Queryable, quota: number | null): Promise<string> {
  const { secret } = await createKey(database, 'bench', {
    countries: [...COUNTRIES],
    history: { kind: 'fixed', at: new Date('2000-01-01T00:00:00Z') },
    rate: 1_000_000_000,
    quota,
  })
  return secret
}
