import { setTimeout as pause } from 'node:timers/promises'
import type { ApiProcess } from '../http/api.ts'
import { quantile } from '../measure.ts'
import { askSteadily, type Client } from './client.ts'
import { rounded } from './rounded.ts'

/** Requests a second: what two processes on two cores answer while a third one starts. */
const PER_SECOND = 100
/** ms between two looks of the balancer at `/readyz`. */
const LOOK = 200
/** ms from taking a process out to ending it: its requests in hand end meanwhile. */
const DRAIN = 1_000
/** ms before the first restart and after the last. */
const QUIET = 3_000

export interface RollingBench {
  start(name: string): Promise<ApiProcess>
  client: Client
  paths: string[]
  signal: AbortSignal
  say: (line: string) => void
}

/**
 * Replaces two processes one after the other under load. A balancer asks those alone whose
 * `/readyz` says yes and that are not to be ended.
 */
export async function measureRolling({
  start,
  client,
  paths,
  signal,
  say,
}: RollingBench): Promise<Record<string, number>> {
  const running = new Set<ApiProcess>()
  const ready = new Set<ApiProcess>()
  const look = async () => {
    for (const api of running) {
      const { status } = await client.ask(api.base, '/readyz')
      if (status === 200 && running.has(api)) ready.add(api)
      else ready.delete(api)
    }
  }
  let turn = 0
  const ask = (path: string) => {
    const able = [...ready]
    return client.ask(able[turn++ % able.length]!.base, path)
  }
  const replace = async (old: ApiProcess, name: string) => {
    running.delete(old)
    ready.delete(old)
    await pause(DRAIN)
    await old.stop()
    const api = await start(name)
    running.add(api)
    while (!ready.has(api)) await pause(LOOK, undefined, { signal })
    say(`${name} is ready`)
  }
  let looking = true
  try {
    const old = [await start('api-1'), await start('api-2')]
    for (const api of old) running.add(api)
    await look()
    const looks = (async () => {
      for (; looking; await pause(LOOK)) await look()
    })()
    // Both are warm before the load begins.
    for (const path of paths.slice(0, 2_000)) await ask(path)
    const restarts = (async () => {
      await pause(QUIET)
      await replace(old[0]!, 'api-3')
      await pause(QUIET)
      await replace(old[1]!, 'api-4')
      await pause(QUIET)
    })()
    const asked = await askSteadily(ask, paths, PER_SECOND, restarts, signal)
    looking = false
    await looks
    const times = asked.map(one => one.ms)
    say(
      `rolling restart: ${asked.length} requests, p50 ${quantile(times, 0.5).toFixed(1)}, p99 ${quantile(times, 0.99).toFixed(1)}, worst ${Math.max(...times).toFixed(0)} ms`,
    )
    return {
      rolling_requests: asked.length,
      rolling_p50_ms: rounded(quantile(times, 0.5)),
      rolling_p99_ms: rounded(quantile(times, 0.99)),
      rolling_worst_ms: rounded(Math.max(...times)),
      rolling_failures: asked.filter(one => one.status !== 200).length,
    }
  } finally {
    looking = false
    for (const api of running) await api.stop()
  }
}
