import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type DataDirectory, freePort } from '../../../infra/embedded/data-directory.ts'
import type { EmbeddedServers } from '../../../infra/embedded/servers.ts'
import { API_NODE_OPTIONS } from '../../../shared/process/node.ts'

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

export interface ApiOptions {
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
