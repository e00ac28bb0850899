import { Agent, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'

/** A request as its client saw it. */
export interface Asked {
  path: string
  /** When it began, ms on the clock of `performance`. */
  at: number
  ms: number
  /** 0: the connection broke. */
  status: number
}

/** ms after which a request counts as broken. */
const LIMIT = 10_000

/** Asks over connections that are kept, with one key. */
export interface Client {
  ask(base: string, path: string): Promise<Asked>
  close(): void
}

export function createClient(key: string): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const headers = { authorization: `Bearer ${key}` }
  return {
    ask(base, path) {
      const at = performance.now()
      return new Promise(resolve => {
        const end = (status: number) => resolve({ path, at, ms: performance.now() - at, status })
        const asked = request(new URL(path, base), { agent, headers, timeout: LIMIT }, response => {
          response.resume()
          response.on('end', () => end(response.statusCode ?? 0))
          response.on('error', () => end(0))
        })
        asked.on('timeout', () => asked.destroy())
        asked.on('error', () => end(0))
        asked.end()
      })
    },
    close: () => agent.destroy(),
  }
}

/** Several connections ask the paths in turn, one after the other each, until a time. */
export async function askUntil(
  ask: (path: string) => Promise<Asked>,
  paths: string[],
  connections: number,
  until: number,
  signal: AbortSignal,
): Promise<Asked[]> {
  const asked: Asked[] = []
  const run = async (_: unknown, connection: number) => {
    for (let at = Math.floor((connection * paths.length) / connections); performance.now() < until; at++) {
      signal.throwIfAborted()
      asked.push(await ask(paths[at % paths.length]!))
    }
  }
  await Promise.all(Array.from({ length: connections }, run))
  return asked
}

/** Asks the paths at a steady rate, whether or not the requests before are answered. */
export async function askSteadily(
  ask: (path: string) => Promise<Asked>,
  paths: string[],
  perSecond: number,
  until: Promise<unknown>,
  signal: AbortSignal,
): Promise<Asked[]> {
  const pending: Promise<Asked>[] = []
  let ended = false
  const end = until.finally(() => {
    ended = true
  })
  const start = performance.now()
  while (!ended) {
    signal.throwIfAborted()
    const due = Math.floor(((performance.now() - start) * perSecond) / 1_000)
    while (pending.length <= due) pending.push(ask(paths[pending.length % paths.length]!))
    await pause(1)
  }
  await end
  return Promise.all(pending)
}
