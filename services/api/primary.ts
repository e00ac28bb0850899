import cluster, { type Worker } from 'node:cluster'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Config } from '#shared/config/config'
import type { Logger } from '#shared/log/logger'
import { registry } from '#shared/metrics'
import type { Missing } from '#shared/process/health'
import { PROCESS_JOINS, PROCESS_NUMBER } from '#shared/process/node'
import type { RunningService, ServiceContext } from '#shared/process/service'
import { withTimeLimit } from '#shared/resilience/time-limit'
import { isAnswer, type Order, type ProcessReport, WARM } from './worker.ts'

/*
 * One process cannot use several cores. So a primary opens the port and hands the connections to
 * several processes. The primary answers no request itself. It restarts processes that ended,
 * replaces processes without a gap, and joins their metrics.
 */

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url))
/**
 * ms that the first process may take to read ahead what searches need. Then the others start
 * anyway.
 */
const WARM_TIMEOUT = 60_000
/** ms that a process may take to answer a question. */
const ANSWER_TIMEOUT = 2_000
const SHORTEST_PAUSE = 100
const LONGEST_PAUSE = 5_000
/** ms after which a process counts as healthy. If it ends later, it is restarted almost at once. */
const WELL = 20_000
/** ms in which a successor must listen. */
const SUCCESSION_TIMEOUT = 2 * WARM_TIMEOUT
/** ms that a replaced process has to finish its requests. */
const LEAVE_TIMEOUT = 20_000

/** One of the processes that serve the port. */
interface ApiProcess {
  number: string
  worker: Worker
  /** Resolves to true when the process accepts connections, to false when it has ended before. */
  listens: Promise<boolean>
  /**
   * Resolves to true when the process has read ahead what searches need, to false when it has ended
   * before.
   */
  warm: Promise<boolean>
  ended: Promise<Ending>
  /** The process should end, because its successor has taken over. */
  isReplaced: boolean
}

interface Ending {
  code: number | null
  /** How the process ended, as a part of sentences: "ended with code 1". */
  how: string
  /** ms for which the process ran. */
  age: number
}

/** All processes behind the port. */
interface Processes {
  count: number
  config: Config
  log: Logger
  /** Every process, including those that start or end. */
  all: Set<ApiProcess>
  /** The processes that get connections, without replaced processes. */
  serving: Set<ApiProcess>
  stopping: boolean
  replacing: boolean
}

/**
 * The primary of several processes: `node:cluster` opens the port and gives the connections to the
 * processes in turn. The primary restarts a process that has ended, and reads no request.
 *
 * It reports health and metrics of all. SIGUSR2 replaces the processes one after another.
 */
export async function startPrimary(
  { config, log }: ServiceContext,
  count: number,
): Promise<RunningService> {
  // With `--inspect`, each process takes a free port.
  cluster.setupPrimary({
    exec: MAIN,
    args: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    inspectPort: 0,
  })
  const sets = { all: new Set<ApiProcess>(), serving: new Set<ApiProcess>() }
  const processes: Processes = { count, config, log, ...sets, stopping: false, replacing: false }
  process.on('exit', () => {
    for (const one of processes.all) one.worker.process.kill('SIGKILL')
  })
  process.on('SIGUSR2', () => void replaceAll(processes))
  registry().setDefaultLabels({ service: 'api', process: 'primary' })
  await startProcesses(processes)
  log.info({ host: config.HOST, port: config.PORT, processes: count }, 'listening')
  return {
    missing: () => missingAmong(processes),
    async metrics() {
      const reports = await Promise.all([...processes.all].map(ask))
      const texts = reports.flatMap(report => (report === null ? [] : [report.metrics]))
      return mergedMetrics([await registry().metrics(), ...texts])
    },
    async stop() {
      processes.stopping = true
      for (const one of processes.all) sendOrder(one, { kind: 'end' })
      await Promise.all([...processes.all].map(one => one.ended))
    },
  }
}

/**
 * Starts the first process, waits until it listens, and starts the others once it is warm: until
 * then it has all cores. When the first process cannot start, it has logged the reason, and the
 * primary ends with it.
 */
async function startProcesses(processes: Processes): Promise<void> {
  const first = launch(processes, '1')
  void keep(processes, first)
  // `keep` ends the primary when the first process does not listen.
  if (!(await first.listens)) await new Promise(() => {})
  void withTimeLimit(first.warm, WARM_TIMEOUT, () => true).then(() => {
    for (let number = 2; number <= processes.count && !processes.stopping; number++) {
      void keep(processes, launch(processes, `${number}`))
    }
  })
}

/**
 * Starts a process of the API. The process inherits our environment, and gets the keys that only
 * root could read.
 */
function launch({ count, config, all, serving }: Processes, number: string): ApiProcess {
  const began = performance.now()
  const worker = cluster.fork({
    [PROCESS_NUMBER]: number,
    ...(serving.size > 0 ? { [PROCESS_JOINS]: '1' } : {}),
    WEB_CONCURRENCY: String(count),
    QDRANT_API_KEY: config.QDRANT_API_KEY,
    EMBEDDINGS_API_KEY: config.EMBEDDINGS_API_KEY,
  })
  const untaken = lastConnectionOf(worker)
  const listens = Promise.withResolvers<boolean>()
  const warm = Promise.withResolvers<boolean>()
  const ended = new Promise<Ending>(resolve => {
    const end = (code: number | null, how: string) => {
      listens.resolve(false)
      warm.resolve(false)
      all.delete(one)
      serving.delete(one)
      resolve({ code, how, age: performance.now() - began })
    }
    worker.on('error', error => end(null, error.message))
    worker.once('exit', (code, signal) => {
      // A process that ends in order (code 0) has declined its last connection, so another process
      // has it.
      if (code !== 0) untaken()?.close()
      end(code, signal ? `ended by ${signal}` : `ended with code ${code}`)
    })
  })
  worker.once('listening', () => listens.resolve(true))
  worker.on('message', (message: unknown) => {
    if (message === WARM) warm.resolve(true)
  })
  const one: ApiProcess = {
    number,
    worker,
    listens: listens.promise,
    warm: warm.promise,
    ended,
    isReplaced: false,
  }
  all.add(one)
  return one
}

/**
 * `node:cluster` gives a process one connection at a time. When the process dies before it takes
 * the connection, `node:cluster` forgets the connection, and the client would wait for ever. Node
 * has no event for this, so we read its internal message.
 *
 * @returns a function that returns the connection which the process was given last
 */
function lastConnectionOf({ process: child }: Worker): () => { close(): void } | undefined {
  let last: { close(): void } | undefined
  const send = child.send
  child.send = (message: { act?: unknown }, handle?: unknown, ...rest: unknown[]) => {
    if (message.act === 'newconn') last = handle as typeof last
    return Reflect.apply(send, child, [message, handle, ...rest])
  }
  return () => last
}

/**
 * Keeps a process running: restarts it when it ends, after longer and longer pauses while it keeps
 * ending.
 */
async function keep(processes: Processes, first: ApiProcess): Promise<void> {
  const { serving, log } = processes
  let rest = SHORTEST_PAUSE
  for (let one = first; ; one = launch(processes, one.number)) {
    const listens = await one.listens
    if (listens) serving.add(one)
    const { code, how, age } = await one.ended
    if (processes.stopping || one.isReplaced) return
    // No process is left that could answer, and this one has logged the reason. The supervisor of
    // the primary starts everything again.
    if (serving.size === 0 && !listens) giveUp(log, code, how)
    rest = listens && age > WELL ? SHORTEST_PAUSE : Math.min(rest * 2, LONGEST_PAUSE)
    log.error({ process: one.number, pause: rest }, `a process ${how}; it is started again`)
    await pause(rest, undefined, { ref: false })
    if (processes.stopping) return
  }
}

function giveUp(log: Logger, code: number | null, how: string): never {
  if (code === null) log.fatal(`a process ${how} before it was ready`)
  process.exit(code || 1)
}

/** Replaces one process after another, each when its successor listens. */
async function replaceAll(processes: Processes): Promise<void> {
  const { log, serving } = processes
  if (processes.replacing || processes.stopping) return
  processes.replacing = true
  log.info('replacing the processes one after another')
  for (const one of [...serving]) {
    if (await replace(processes, one)) continue
    log.error(
      { process: one.number },
      'a successor did not start; the processes that are left stay',
    )
    break
  }
  processes.replacing = false
}

/** @returns false when the successor did not start; the old process then stays */
async function replace(processes: Processes, old: ApiProcess): Promise<boolean> {
  const successor = launch(processes, old.number)
  const listens = await withTimeLimit(successor.listens, SUCCESSION_TIMEOUT, () => false)
  if (!listens || processes.stopping) {
    successor.worker.process.kill('SIGKILL')
    return processes.stopping
  }
  // The old process ended by itself meanwhile, and another one was started.
  if (!processes.all.has(old)) {
    sendOrder(successor, { kind: 'end' })
    return true
  }
  old.isReplaced = true
  void keep(processes, successor)
  processes.serving.delete(old)
  sendOrder(old, { kind: 'retire' })
  await withTimeLimit(old.ended, LEAVE_TIMEOUT, () => old.worker.process.kill('SIGKILL'))
  return true
}

function sendOrder({ worker }: ApiProcess, order: Order): void {
  if (worker.isConnected()) worker.send(order, () => {})
}

let lastQuestion = 0

/**
 * The report of a process about itself; null: the process does not answer in time, or has ended.
 */
async function ask(one: ApiProcess): Promise<ProcessReport | null> {
  const id = ++lastQuestion
  const { worker } = one
  const answered = Promise.withResolvers<ProcessReport | null>()
  const listener = (message: unknown) => {
    if (isAnswer(message) && message.id === id) answered.resolve(message.report)
  }
  worker.on('message', listener)
  sendOrder(one, { kind: 'ask', id })
  try {
    const ended = one.ended.then(() => null)
    return await withTimeLimit(Promise.race([answered.promise, ended]), ANSWER_TIMEOUT, () => null)
  } finally {
    worker.off('message', listener)
  }
}

/** A dependency is missing when one of the processes misses it. */
async function missingAmong({ serving }: Processes): Promise<Missing> {
  if (serving.size === 0) return { processes: 'none is running' }
  const all = await Promise.all(
    [...serving].map(
      async one => (await ask(one))?.missing ?? { [`process ${one.number}`]: 'does not answer' },
    ),
  )
  return Object.assign({}, ...all)
}

/**
 * Joins the metrics of several processes to one text in Prometheus' format, which allows each
 * metric one heading. A label tells the samples of the processes apart. Their sum would fall when a
 * process ends, and Prometheus would take that for a new start.
 */
function mergedMetrics(texts: string[]): string {
  const metrics = new Map<string, { heading: string; samples: string[] }>()
  for (const text of texts) {
    for (const block of text.split(/^(?=# HELP )/m)) {
      const lines = block.split('\n').filter(line => line !== '')
      const heading = lines.filter(line => line.startsWith('#'))
      const name = heading[0]?.split(' ')[2]
      if (name === undefined) continue
      const known = metrics.get(name) ?? { heading: heading.join('\n'), samples: [] }
      known.samples.push(...lines.slice(heading.length))
      metrics.set(name, known)
    }
  }
  return [...metrics.values()]
    .map(({ heading, samples }) => `${[heading, ...samples].join('\n')}\n`)
    .join('\n')
}
