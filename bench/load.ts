import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'

/** A request that a client can make. */
export interface Asking {
  path: string
  headers?: Record<string, string>
  /** JSON. A request with a body is a POST. */
  body?: string
}

/** The answer of an API. */
export interface Answer {
  /** HTTP status. 0: the connection broke, or no answer came within `PATIENCE`. */
  status: number
  etag: string
  body: Buffer
}

/** Asks an API with one key, over connections that it keeps open. */
export interface Client {
  ask(request: Asking): Promise<Answer>
  close(): Promise<void>
}

/** ms after which a request that has no answer counts as failed. */
const PATIENCE = 30_000

/**
 * Makes a client that uses little processor time, because client and API share the cores. `fetch`
 * would use far more.
 */
export function createClient(base: string, key: string, connections = 64): Client {
  const pool = new Pool(base, { connections, headersTimeout: PATIENCE, bodyTimeout: PATIENCE })
  return {
    async ask({ path, headers: own, body: sent }) {
      try {
        const { statusCode, headers, body } = await pool.request({
          method: sent === undefined ? 'GET' : 'POST',
          path,
          headers: {
            authorization: `Bearer ${key}`,
            ...(sent !== undefined && { 'content-type': 'application/json' }),
            ...own,
          },
          body: sent ?? null,
        })
        return {
          status: statusCode,
          etag: String(headers.etag ?? ''),
          body: Buffer.from(await body.arrayBuffer()),
        }
      } catch {
        return { status: 0, etag: '', body: Buffer.alloc(0) }
      }
    },
    close: () => pool.close(),
  }
}

/** A request, as the client that sent it saw it. */
export interface Asked {
  path: string
  /** When the client sent the request, or should have sent it: ms on the clock of `performance`. */
  at: number
  ms: number
  status: number
}

export interface Load {
  asked: Asked[]
  perSecond: number
  /** The number of answers whose status is not a good one, and of connections that broke. */
  failures: number
}

/** How long a load lasts. */
export type Until = { seconds: number } | { requests: number }

/**
 * Sends the requests over each connection without a pause, so that the server does as much as it
 * can. Each connection starts at another request.
 *
 * @param good statuses that do not count as failures
 */
export async function load(
  client: Client,
  requests: Asking[],
  connections: number,
  until: Until,
  signal: AbortSignal,
  good: number[] = [200],
): Promise<Load> {
  const asked: Asked[] = []
  const ended = new AbortController()
  const limit = 'seconds' in until ? AbortSignal.timeout(until.seconds * 1_000) : ended.signal
  const start = performance.now()
  let left = 'requests' in until ? until.requests : Infinity
  await inTurn(
    connections,
    AbortSignal.any([signal, ended.signal, limit]),
    async (connection, turn) => {
      if (--left <= 0) ended.abort()
      if (left < 0) return
      const place = Math.floor((connection * requests.length) / connections) + turn
      const request = requests[place % requests.length]!
      const at = performance.now()
      const { status } = await client.ask(request)
      asked.push({ path: request.path, at, ms: performance.now() - at, status })
    },
  )
  signal.throwIfAborted()
  const failures = asked.filter(one => !good.includes(one.status)).length
  return { asked, perSecond: (asked.length * 1_000) / (performance.now() - start), failures }
}

export const timesOf = (asked: Asked[]): number[] => asked.map(one => one.ms)

/**
 * Runs several workers side by side until the signal. Each worker does the work again and again.
 */
export async function inTurn(
  clients: number,
  until: AbortSignal,
  work: (client: number, turn: number) => Promise<unknown>,
): Promise<void> {
  const one = async (client: number) => {
    for (let turn = 0; !until.aborted; turn++) await work(client, turn)
  }
  await Promise.all(Array.from({ length: clients }, (_, client) => one(client)))
}

/**
 * Begins work at fixed moments until the signal, also while earlier work still runs. So when
 * something holds up the server, all requests that fall due in that time show it.
 */
export async function atSteadyRate(
  perSecond: number,
  until: AbortSignal,
  work: (due: number) => Promise<void>,
): Promise<void> {
  const underWay = new Set<Promise<void>>()
  const start = performance.now()
  for (let number = 0; !until.aborted; number++) {
    const due = start + (number * 1_000) / perSecond
    const wait = due - performance.now()
    if (wait > 0) await pause(wait, undefined, { signal: until }).catch(() => {})
    if (until.aborted) break
    const begun: Promise<void> = work(due).finally(() => underWay.delete(begun))
    underWay.add(begun)
  }
  await Promise.all(underWay)
}
