import { availableParallelism } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { quantile } from '../measure.ts'
import type { ApiProcess } from './api.ts'
import { load } from './load.ts'

const CONNECTIONS = [8, 64]
const SECONDS = 15
/** ms in which the last process reads ahead and gets connections. */
const SETTLING = 10_000

export interface ProcessesBench {
  /** Starts an API of so many processes. */
  start(processes: number): Promise<ApiProcess>
  paths: string[]
  key: string
  signal: AbortSignal
  say: (line: string) => void
}

/**
 * Requests a second, processor time of a request, and memory, by the number of processes behind the
 * port: 1, 2, and one for each core. The clients, and Postgres, share the cores with them.
 */
export async function measureProcesses(bench: ProcessesBench): Promise<Record<string, number>> {
  const figures: Record<string, number> = {}
  for (const processes of [...new Set([1, 2, availableParallelism()])]) {
    const api = await bench.start(processes)
    try {
      Object.assign(figures, await measureOne(api, processes, bench))
    } finally {
      await api.stop()
    }
  }
  return figures
}

async function measureOne(
  api: ApiProcess,
  processes: number,
  { paths, key, signal, say }: ProcessesBench,
): Promise<Record<string, number>> {
  const figures: Record<string, number> = {}
  const name = `http_processes_${processes}`
  if (processes > 1) await pause(SETTLING, undefined, { signal })
  // Each process answers every path once.
  await load(api.base, key, paths, 4 * processes, { requests: paths.length * processes }, signal)
  for (const connections of CONNECTIONS) {
    const before = await api.usage()
    const { perSecond, times, failures, requests } = await load(
      ...([api.base, key, paths, connections, { seconds: SECONDS }, signal] as const),
    )
    const after = await api.usage()
    const cpu = ((after.cpu - before.cpu) * 1_000) / requests
    figures[`${name}_${connections}_per_s`] = rounded(perSecond)
    figures[`${name}_${connections}_p95_ms`] = rounded(quantile(times, 0.95))
    figures[`${name}_${connections}_cpu_ms`] = rounded(cpu)
    say(
      `${processes} processes, ${connections} connections: ${perSecond.toFixed(0)} requests/s, p50 ${quantile(times, 0.5).toFixed(1)}, p95 ${quantile(times, 0.95).toFixed(1)} ms, ${cpu.toFixed(2)} ms of processor time each, ${failures} failed`,
    )
  }
  figures[`${name}_mb`] = rounded((await api.usage()).memory)
  say(`${processes} processes: ${figures[`${name}_mb`]} MB resident`)
  return figures
}

const rounded = (value: number) => Math.round(value * 100) / 100
