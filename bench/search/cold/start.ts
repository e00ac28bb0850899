import { Agent, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { QueryClass } from '../classes.ts'
import { type ApiProcess, pathOf } from '../http/api.ts'
import { quantile } from '../measure.ts'
import { rounded } from './rounded.ts'

const CONNECTIONS = 8
/**
 * From this second on a process must be as fast as a warm one; with more than a million articles.
 */
const SETTLED = 5
const SETTLED_LARGE = 10
const LARGE = 1_000_000
/** Seconds that are watched from then on. */
const SECONDS = 7
const FIRST = 20

interface StartBench {
  api: ApiProcess
  /** Articles of the archive. */
  rows: number
  /** ms from the start of the process until `/readyz` said yes. */
  readyMs: number
  client: Client
  classes: QueryClass[]
  /** The same paths as those of the classes, in another order. */
  paths: string[]
  signal: AbortSignal
  say: (line: string) => void
}

/** Asks a process from the moment on when it says that it is ready, and again when it is warm. */
export async function measureStart(bench: StartBench): Promise<Record<string, number>> {
  const { api, rows, client, paths, signal, say } = bench
  const settledAfter = rows > LARGE ? SETTLED_LARGE : SETTLED
  const watched = settledAfter + SECONDS
  const ask = (path: string) => client.ask(api.base, path)
  const start = performance.now()
  const first: Asked[] = []
  for (const path of paths.slice(0, FIRST)) first.push(await ask(path))
  say(`ready after ${bench.readyMs.toFixed(0)} ms; first requests: ${first.map(one => one.ms.toFixed(0)).join(' ')} ms`)

  const early = await askUntil(ask, paths, CONNECTIONS, start + watched * 1_000, signal)
  const figures: Record<string, number> = {
    cold_ready_ms: rounded(bench.readyMs),
    cold_first_ms: rounded(first[0]!.ms),
    cold_first_worst_ms: rounded(Math.max(...first.map(one => one.ms))),
  }
  for (let second = 0; second < watched; second++) {
    const own = early.filter(one => Math.floor((one.at - start) / 1_000) === second).map(one => one.ms)
    figures[`cold_second_${second + 1}_p95_ms`] = rounded(quantile(own, 0.95))
    say(
      `second ${second + 1}: ${own.length} requests, p95 ${quantile(own, 0.95).toFixed(1)}, p99 ${quantile(own, 0.99).toFixed(1)} ms`,
    )
  }

  // Every query once, so that all words are in memory.
  for (let from = 0; from < paths.length; from += CONNECTIONS) {
    signal.throwIfAborted()
    await Promise.all(paths.slice(from, from + CONNECTIONS).map(ask))
  }
  const warm = await askUntil(ask, paths, CONNECTIONS, performance.now() + watched * 1_000, signal)
  const settled = early.filter(one => one.at - start >= settledAfter * 1_000)
  const all = [first, early, warm].flat()
  return {
    ...figures,
    settled_p95_ms: p95(settled),
    warm_p95_ms: p95(warm),
    settled_after_s: settledAfter,
    ...compareKinds(bench, settled, warm),
    start_failures: all.filter(one => one.status !== 200).length,
  }
}

const p95 = (asked: Asked[]) =>
  rounded(
    quantile(
      asked.map(one => one.ms),
      0.95,
    ),
  )

/** The kinds of match whose p95 is furthest above that of a warm process. */
function compareKinds({ classes, say }: StartBench, settled: Asked[], warm: Asked[]): Record<string, number> {
  const kinds = new Map(classes.flatMap(one => one.queries.map(query => [pathOf(query), one.name.split(' · ')[0]!])))
  const byKind = (asked: Asked[]) => Map.groupBy(asked, one => kinds.get(one.path)!)
  const later = byKind(warm)
  const compared = [...byKind(settled)].map(([kind, own]) => ({
    kind,
    own: p95(own),
    warm: p95(later.get(kind) ?? []),
  }))
  const ratio = (one: (typeof compared)[number]) => one.own / one.warm
  for (const one of compared.toSorted((a, b) => ratio(b) - ratio(a)).slice(0, 5))
    say(`${one.kind}: p95 ${one.own} ms when settled, ${one.warm} ms when warm`)
  return { settled_worst_ratio: rounded(Math.max(...compared.map(ratio))) }
}

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
async function askUntil(
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
