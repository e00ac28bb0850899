import { execFile } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { isRecord } from '../../../shared/json/is-record.ts'
import type { ApiProcess } from '../http/api.ts'
import { quantile } from '../measure.ts'
import { rounded } from './rounded.ts'

/** With and without the compile cache, in turn. */
const ROUNDS = 5
const LOAD = fileURLToPath(new URL('load.ts', import.meta.url))
/** ms that a process may take to load, or to be warm. */
const LIMIT = 120_000
/** ms between two looks. */
const LOOK = 50

const KINDS = {
  cached: {},
  uncached: { NODE_DISABLE_COMPILE_CACHE: '1' },
} as const
type Kind = keyof typeof KINDS

export interface StartsBench {
  /** Starts an API process with these settings. */
  start(env: Record<string, string>): Promise<ApiProcess>
  signal: AbortSignal
  say: (line: string) => void
}

/** Processor time of a start: to load all modules, and until the process is warm. */
export async function measureStarts({ start, signal, say }: StartsBench): Promise<Record<string, number>> {
  const load: Record<Kind, number[]> = { cached: [], uncached: [] }
  const warm: Record<Kind, number[]> = { cached: [], uncached: [] }
  // The first ones fill the cache.
  await loadOnce(KINDS.cached)
  await warmOnce(start, KINDS.cached)
  for (let round = 0; round < ROUNDS; round++) {
    for (const kind of ['cached', 'uncached'] as const) {
      signal.throwIfAborted()
      load[kind].push(await loadOnce(KINDS[kind]))
      warm[kind].push(await warmOnce(start, KINDS[kind]))
    }
  }
  for (const kind of ['cached', 'uncached'] as const) {
    say(`${kind}: to load ${load[kind].map(Math.round).join(' ')} ms of processor time`)
    say(`${kind}: until warm ${warm[kind].map(Math.round).join(' ')} ms`)
  }
  const figures = { load: median(load.cached), warm: median(warm.cached) }
  const uncached = { load: median(load.uncached), warm: median(warm.uncached) }
  return {
    start_load_cpu_ms: rounded(figures.load),
    start_load_uncached_cpu_ms: rounded(uncached.load),
    start_load_ratio: rounded(figures.load / uncached.load),
    start_warm_cpu_ms: rounded(figures.warm),
    start_warm_uncached_cpu_ms: rounded(uncached.warm),
    start_warm_ratio: rounded(figures.warm / uncached.warm),
  }
}

const median = (times: number[]) => quantile(times, 0.5)

/** ms of processor time. */
async function loadOnce(env: Record<string, string>): Promise<number> {
  const options = { env: { PATH: process.env.PATH, ...env }, timeout: LIMIT }
  const { stdout } = await promisify(execFile)(process.execPath, [LOAD], options)
  return Number(stdout)
}

/** ms of processor time. */
async function warmOnce(start: StartsBench['start'], env: Record<string, string>): Promise<number> {
  const api = await start(env)
  try {
    // After ten seconds a process says that it is ready though it is not warm.
    await untilWarm(api.base)
    const { cpu } = await api.usage()
    return cpu * 1_000
  } finally {
    await api.stop()
  }
}

async function untilWarm(base: string): Promise<void> {
  for (const until = performance.now() + LIMIT; performance.now() < until; ) {
    const health: unknown = await (await fetch(`${base}/readyz`)).json()
    if (isRecord(health) && health.warm === true) return
    await pause(LOOK)
  }
  throw new Error('The process did not become warm in time; see logs/api.log.')
}
