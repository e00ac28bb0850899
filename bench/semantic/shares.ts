import { readdirSync, readFileSync } from 'node:fs'

/** The steps of a search, as `perscope_semantic_seconds` names them. */
const STEPS = ['model', 'vectors', 'set', 'page'] as const

export type Figures = Record<string, number>

/** The servers of a bench, and where the figures of the API are. */
export interface Watched {
  /** Address of the API's figures. */
  metrics: string
  /** Their `DATA_DIR`. */
  folder: string
  /** Port of the model server. */
  modelPort: string
}

/** Counters at one moment; the difference of two tells what happened between. */
interface Reading {
  /** By step: how many took at most so many ms, by that bound. */
  steps: Map<string, Map<number, number>>
  /** Processor time of each process so far, in ms. */
  processor: Map<string, number>
}

/** Starts to watch. Call the result after so many searches for their shares. */
export async function watchShares(watched: Watched): Promise<(searches: number) => Promise<Figures>> {
  const before = await read(watched)
  return async searches => {
    const after = await read(watched)
    const figures: Figures = {}
    for (const step of STEPS) {
      const counts = difference(after.steps.get(step), before.steps.get(step))
      figures[`${step}_p50_ms`] = rounded(quantile(counts, 0.5))
      figures[`${step}_p95_ms`] = rounded(quantile(counts, 0.95))
    }
    for (const [name, ms] of after.processor) {
      figures[`${name}_cpu_ms`] = rounded((ms - (before.processor.get(name) ?? 0)) / searches)
    }
    return figures
  }
}

async function read({ metrics, folder, modelPort }: Watched): Promise<Reading> {
  const text = await (await fetch(`${metrics}/metrics`)).text()
  const steps: Reading['steps'] = new Map()
  for (const [, labels = '', count] of text.matchAll(/^perscope_semantic_seconds_bucket\{(.*)\} (\d+)$/gm)) {
    const step = /step="(\w+)"/.exec(labels)?.[1] ?? ''
    const bound = /le="([^"]+)"/.exec(labels)?.[1] ?? ''
    const counts = steps.get(step) ?? new Map<number, number>()
    steps.set(step, counts.set(bound === '+Inf' ? Infinity : Number(bound) * 1_000, Number(count)))
  }
  const api = /^process_cpu_seconds_total(?:\{.*\})? (\S+)$/m.exec(text)?.[1]
  const processor = new Map([['api', Number(api) * 1_000]])
  for (const [name, ms] of processorTimes(folder, modelPort)) processor.set(name, ms)
  return { steps, processor }
}

/** Processor time of the servers below a `DATA_DIR` so far, in ms. */
function processorTimes(folder: string, modelPort: string): Map<string, number> {
  const times = new Map([
    ['qdrant', 0],
    ['model', 0],
    ['postgres', 0],
  ])
  const processes = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(pid => readProcess(pid))
  const postgres = processes.find(({ command }) => command.includes(`-D ${folder}/postgres`))
  for (const { pid, parent, command, ms } of processes) {
    const name = command.includes(`${folder}/qdrant.yaml`)
      ? 'qdrant'
      : command.includes('/serve.py') && command.includes(`--port ${modelPort}`)
        ? 'model'
        : postgres && (pid === postgres.pid || parent === postgres.pid)
          ? 'postgres'
          : null
    if (name !== null) times.set(name, (times.get(name) ?? 0) + ms)
  }
  return times
}

/** Ticks of the clock in `/proc/PID/stat`, on every Linux of today. */
const TICK = 10

/** Empty when the process has ended meanwhile. */
function readProcess(pid: string): { pid: string; parent: string; command: string; ms: number }[] {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name before may hold spaces. Fields 4, 14 and 15 of proc(5).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return [{ pid, parent: fields[1] ?? '', command, ms: (Number(fields[11]) + Number(fields[12])) * TICK }]
  } catch {
    return []
  }
}

function difference(after: Map<number, number> = new Map(), before: Map<number, number> = new Map()) {
  return new Map([...after].map(([bound, count]) => [bound, count - (before.get(bound) ?? 0)]))
}

/** Interpolated within the bucket, as Prometheus does. */
function quantile(counts: Map<number, number>, share: number): number {
  const wanted = share * Math.max(0, ...counts.values())
  let [from, below] = [0, 0]
  for (const [bound, count] of [...counts].sort(([a], [b]) => a - b)) {
    if (count >= wanted && count > below) {
      return bound === Infinity ? from : from + ((bound - from) * (wanted - below)) / (count - below)
    }
    from = bound
    below = count
  }
  return 0
}

const rounded = (number: number) => Number(number.toFixed(1))
