import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '../../../shared/config/config.ts'
import type { Logger } from '../../../shared/log/logger.ts'
import { withTimeLimit } from '../../../shared/resilience/time-limit.ts'
import type { Dispatcher } from './dispatch.ts'
import { type ApiProcess, startProcess } from './process.ts'

/** ms that searches may take to be read ahead before a process is used all the same. */
const WARM_TIMEOUT = 60_000
const SHORTEST_PAUSE = 100
const LONGEST_PAUSE = 5_000
/** ms after which a process counts as well: after its end it is started again at once. */
const WELL = 20_000
/** ms in which a successor must be ready. */
const SUCCESSION_TIMEOUT = 2 * WARM_TIMEOUT
/** ms that a replaced process has for the requests in hand. */
const LEAVE_TIMEOUT = 20_000

/** The processes behind the port. */
export interface Processes {
  parts: Parts
  /** Also those that start, and those that end. */
  all: Set<ApiProcess>
  /** Those that get connections. */
  serving: Set<ApiProcess>
  /** Those whose successors have taken their place. */
  retired: WeakSet<ApiProcess>
  stopping: boolean
  replacing: boolean
}

interface Parts {
  count: number
  config: Config
  log: Logger
  dispatcher: Dispatcher
}

export const createProcesses = (parts: Parts): Processes => ({
  ...{ parts, all: new Set(), serving: new Set(), retired: new WeakSet() },
  ...{ stopping: false, replacing: false },
})

/**
 * Starts the first process, waits until it can answer, and starts the others once it is warm: until
 * then it has all cores. When it cannot start, it has said why, and our own process ends as it did.
 *
 * @returns once the first one can answer
 */
export async function startProcesses(processes: Processes): Promise<void> {
  const first = launch(processes, '1')
  void keep(processes, first)
  // Without it our process ends.
  if (!(await first.ready)) await new Promise(() => {})
  void startOthers(processes, first)
}

async function startOthers(processes: Processes, first: ApiProcess): Promise<void> {
  await withTimeLimit(first.warm, WARM_TIMEOUT, () => true)
  for (let number = 2; number <= processes.parts.count && !processes.stopping; number++) {
    void keep(processes, launch(processes, `${number}`))
  }
}

/** Replaces one process after another, each when its successor is ready. */
export async function replaceAll(processes: Processes): Promise<void> {
  const { parts, serving } = processes
  if (processes.replacing || processes.stopping) return
  processes.replacing = true
  parts.log.info('replacing the processes one after another')
  for (const one of [...serving]) {
    if (await replace(processes, one)) continue
    parts.log.error({ process: one.number }, 'a successor did not start; the processes that are left stay')
    break
  }
  processes.replacing = false
}

/** Ends all, gently; resolves when they have ended. */
export async function stopProcesses(processes: Processes): Promise<void> {
  processes.stopping = true
  for (const one of processes.all) one.end()
  await Promise.all([...processes.all].map(one => one.ended))
}

function launch({ parts, all, serving }: Processes, number: string): ApiProcess {
  const { count, config, dispatcher } = parts
  const joins = serving.size > 0
  const one = startProcess(number, { count, joins }, config, { took: dispatcher.took, closed: dispatcher.closed })
  all.add(one)
  void one.ended.then(() => {
    all.delete(one)
    serving.delete(one)
    dispatcher.gone(one)
  })
  return one
}

/** Keeps a process running: what ends is started again, later and later while it keeps ending. */
async function keep(processes: Processes, first: ApiProcess): Promise<void> {
  const { parts, serving, retired } = processes
  let rest = SHORTEST_PAUSE
  for (let one = first; ; one = launch(processes, one.number)) {
    const usable = await isUsable(processes, one)
    if (usable) serve(processes, one)
    const { code, how, age } = await one.ended
    if (processes.stopping || retired.has(one)) return
    // Nobody is left who would answer, and it has said why. Our own supervisor starts us again.
    if (!usable && serving.size === 0) giveUp(parts.log, code, how)
    rest = age > WELL ? SHORTEST_PAUSE : Math.min(rest * 2, LONGEST_PAUSE)
    parts.log.error({ process: one.number, pause: rest }, `a process ${how}; it is started again`)
    await pause(rest, undefined, { ref: false })
    if (processes.stopping) return
  }
}

function giveUp(log: Logger, code: number | null, how: string): never {
  if (code === null) log.fatal(`a process ${how} before it was ready`)
  process.exit(code || 1)
}

/** Whether it lives to get connections. A cold process gets some only where there is no other. */
async function isUsable({ all, serving }: Processes, one: ApiProcess): Promise<boolean> {
  if (!(await one.ready)) return false
  if (serving.size > 0) await withTimeLimit(one.warm, WARM_TIMEOUT, () => true)
  return all.has(one)
}

function serve({ serving, stopping, parts }: Processes, one: ApiProcess): void {
  if (serving.has(one) || stopping) return
  serving.add(one)
  parts.dispatcher.add(one)
}

/** @returns false when the successor did not start; the old one then stays */
async function replace(processes: Processes, old: ApiProcess): Promise<boolean> {
  const { parts, serving, retired } = processes
  const successor = launch(processes, old.number)
  const usable = await withTimeLimit(isUsable(processes, successor), SUCCESSION_TIMEOUT, () => false)
  if (!usable || processes.stopping) {
    successor.kill()
    return processes.stopping
  }
  // It has ended by itself meanwhile, and was started again.
  if (!processes.all.has(old)) {
    successor.end()
    return true
  }
  retired.add(old)
  serve(processes, successor)
  void keep(processes, successor)
  serving.delete(old)
  parts.dispatcher.remove(old)
  old.retire()
  await withTimeLimit(old.ended, LEAVE_TIMEOUT, old.kill)
  return true
}
