import { setTimeout as pause } from 'node:timers/promises'
import autocannon from 'autocannon'
import { Pool } from 'undici'

/** A request as its client saw it. */
export interface Asked {
  path: string
  /** When it began or was due, ms on the clock of `performance`. */
  at: number
  ms: number
  /** 0: the connection broke. */
  status: number
}

export interface Load {
  asked: Asked[]
  perSecond: number
  /** Answers other than the good ones, and connections that broke. */
  failures: number
}

/** A path, or one with headers of its own. */
export type Path = string | { path: string; headers: Record<string, string> }

/** How long a load lasts. */
export type Until = { seconds: number } | { requests: number }

/**
 * Requests the paths one after the other on each connection: the most that a server can do. Each
 * connection starts at another path.
 *
 * @param good statuses that are no failures
 */
export function load(
  base: string,
  key: string,
  paths: Path[],
  connections: number,
  until: Until,
  signal: AbortSignal,
  good: number[] = [200],
): Promise<Load> {
  const asked: Asked[] = []
  const requests = paths.map(one => {
    const { path, headers } = typeof one === 'string' ? { path: one, headers: {} } : one
    return { method: 'GET' as const, path, headers: { authorization: `Bearer ${key}`, ...headers } }
  })
  let begun = 0
  return new Promise((resolve, reject) => {
    const instance = autocannon(
      {
        ...{ url: base, connections, requests },
        setupClient(client) {
          let next = Math.floor((begun++ * paths.length) / connections)
          client.setRequests([...requests.slice(next), ...requests.slice(0, next)])
          // Each request follows the answer before it. autocannon's own times are those of earlier
          // requests when its queue was once longer.
          let at = performance.now()
          client.on('response', status => {
            const now = performance.now()
            asked.push({ path: requests[next++ % requests.length]!.path, at, ms: now - at, status })
            at = now
          })
        },
        ...('seconds' in until ? { duration: until.seconds } : { amount: until.requests }),
      },
      (error, result) => {
        signal.removeEventListener('abort', stop)
        if (signal.aborted) return reject(signal.reason)
        if (error) return reject(error)
        const failures = result.errors + asked.filter(one => !good.includes(one.status)).length
        resolve({ asked, perSecond: asked.length / result.duration, failures })
      },
    )
    const stop = () => instance.stop?.()
    signal.addEventListener('abort', stop, { once: true })
  })
}

export const timesOf = (asked: Asked[]) => asked.map(one => one.ms)

/** Works several times side by side, one after the other each, until the signal. */
export async function inTurn(clients: number, until: AbortSignal, work: () => Promise<unknown>): Promise<void> {
  const client = async () => {
    while (!until.aborted) await work()
  }
  await Promise.all(Array.from({ length: clients }, client))
}

/**
 * Begins work at fixed moments until the signal. Work that takes long delays none, so whatever
 * holds up the server is measured in all requests that fall due meanwhile.
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

/** Whole answers of an API, over connections that are kept, with one key. */
export interface Client {
  /** @returns status 0 when the connection broke or nothing came for half a minute */
  ask(path: string, headers?: Record<string, string>): Promise<{ status: number; etag: string; text: string }>
  close(): Promise<void>
}

/** ms after which a request is given up. */
const PATIENCE = 30_000

/** Uses little processor time, because client and API share the cores: `fetch` takes far more. */
export function createClient(base: string, key: string, connections = 64): Client {
  const pool = new Pool(base, { connections, headersTimeout: PATIENCE, bodyTimeout: PATIENCE })
  return {
    async ask(path, own = {}) {
      try {
        const request = { method: 'GET' as const, path, headers: { authorization: `Bearer ${key}`, ...own } }
        const { statusCode, headers, body } = await pool.request(request)
        return { status: statusCode, etag: String(headers.etag ?? ''), text: await body.text() }
      } catch {
        return { status: 0, etag: '', text: '' }
      }
    },
    close: () => pool.close(),
  }
}
