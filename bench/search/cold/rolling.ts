import { setTimeout as pause } from 'node:timers/promises'
import type { ApiProcess } from '../http/api.ts'
import { quantile } from '../measure.ts'
import { rounded } from './rounded.ts'
import { type Asked, askSteadily, type Client } from './start.ts'

/** Requests a second: what two processes on two cores answer while a third one starts. */
const PER_SECOND = 100
const PROCESSES = 2
/** ms before the restart and after it. */
const QUIET = 5_000
/** ms that the replacement of all processes may take. */
const LIMIT = 240_000
/** ms between two looks whether all were replaced. */
const LOOK = 500
const MOST = 50

export interface RollingBench {
  /** Starts an API of so many processes behind one port. */
  start(processes: number): Promise<ApiProcess>
  client: Client
  paths: string[]
  signal: AbortSignal
  say: (line: string) => void
}

/** Replaces the processes of an API one after the other (SIGUSR2) under load. */
export async function measureRolling(bench: RollingBench): Promise<Record<string, number>> {
  const { start, client, paths, signal, say } = bench
  const api = await start(PROCESSES)
  const ask = (path: string) => client.ask(api.base, path)
  try {
    // Both are warm before the load begins.
    for (const path of paths.slice(0, 2_000)) await ask(path)
    let [from, to] = [0, 0]
    const restart = async () => {
      await pause(QUIET, undefined, { signal })
      from = performance.now()
      await replaceAll(api, signal)
      to = performance.now()
      await pause(QUIET, undefined, { signal })
    }
    const asked = await askSteadily(ask, paths, PER_SECOND, restart(), signal)
    const during = asked.filter(one => one.at >= from && one.at <= to)
    const quiet = asked.filter(one => one.at < from)
    say(`rolling restart of ${PROCESSES} processes in ${((to - from) / 1_000).toFixed(1)} s`)
    sayTimes('before', quiet, say)
    sayTimes('meanwhile', during, say)
    for (const { at, ms, path } of during.filter(one => one.ms > MOST).slice(0, 20))
      say(`  ${ms.toFixed(0)} ms, ${((at - from) / 1_000).toFixed(2)} s after the signal: ${path}`)
    const failed = asked.filter(one => one.status !== 200)
    for (const { status, ms, at } of failed.slice(0, 20))
      say(
        `  failed: status ${status} after ${ms.toFixed(0)} ms, ${((at - from) / 1_000).toFixed(2)} s after the signal`,
      )
    return {
      rolling_seconds: rounded((to - from) / 1_000),
      rolling_requests: during.length,
      rolling_quiet_p99_ms: p99(quiet),
      rolling_p50_ms: rounded(quantile(timesOf(during), 0.5)),
      rolling_p99_ms: p99(during),
      rolling_worst_ms: rounded(Math.max(...timesOf(during))),
      rolling_failures: failed.length,
    }
  } finally {
    await api.stop()
  }
}

/** Resolves when none of the processes is there that were. The primary stays. */
async function replaceAll(api: ApiProcess, signal: AbortSignal): Promise<void> {
  const before = await api.starts()
  process.kill(api.pid(), 'SIGUSR2')
  for (const until = performance.now() + LIMIT; performance.now() < until; ) {
    await pause(LOOK, undefined, { signal })
    const now = await api.starts()
    if (now.length === before.length && now.filter(one => before.includes(one)).length === 1) return
  }
  throw new Error('The processes were not replaced in time; see logs/api.log.')
}

const timesOf = (asked: Asked[]) => asked.map(one => one.ms)
const p99 = (asked: Asked[]) => rounded(quantile(timesOf(asked), 0.99))

function sayTimes(when: string, asked: Asked[], say: (line: string) => void): void {
  const [p50, p95, p99, worst] = [0.5, 0.95, 0.99, 1].map(part => quantile(timesOf(asked), part).toFixed(1))
  say(`${when}: ${asked.length} requests, p50 ${p50}, p95 ${p95}, p99 ${p99}, worst ${worst} ms`)
}
