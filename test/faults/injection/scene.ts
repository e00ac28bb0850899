import { setTimeout as sleep } from 'node:timers/promises'
import type { ServiceName } from '../../fleet.ts'
import type { Findings } from '../findings.ts'
import type { Machine, Worker } from '../machine/machine.ts'
import type { Member } from '../machine/member.ts'
import type { EmbeddedServer } from '../machine/servers.ts'
import type { Outages, Part } from '../outages.ts'
import type { Random } from '../random.ts'

/** The processes and servers that a fault acts on. */
export interface Scene {
  machine: Machine
  outages: Outages
  findings: Findings
  random: Random
}

/** A server that died is back, or its supervisor has been started anew, by then. */
const BACK_MS = 60_000

/** A process of the service that nothing has been done to yet; any of them when there is none. */
export function pickWorker({ machine, random }: Scene, service: ServiceName): Worker {
  const all = machine.workers.filter(worker => worker.service === service)
  const well = all.filter(worker => worker.isWell())
  return random.pick(well.length > 0 ? well : all)
}

export function partsOf(worker: Worker): Part[] {
  return worker.service === 'api' ? [`api-${numberOf(worker)}`] : []
}

const numberOf = (worker: Worker): number => Number(worker.name.split('-')[1])

/** Waits until the worker has a process other than `before`, and an API answers. */
export async function isBack({ machine }: Scene, worker: Worker, before: number | null): Promise<boolean> {
  return isTrue(async () => {
    const pid = worker.pid()
    if (pid === null || pid === before) return false
    return worker.service !== 'api' || machine.answers.api(numberOf(worker))
  })
}

/** Sends SIGKILL to an embedded server; returns its id, null when it was away already. */
export async function killServer({ machine }: Scene, server: EmbeddedServer): Promise<number | null> {
  const pid = await machine.servers.pidOf(server)
  return pid !== null && signalProcess(pid, 'SIGKILL') ? pid : null
}

export function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch {
    return false
  }
}

/** Runs `work` as an outage of `parts`: begun before it, ended after it, whatever it does. */
export async function during<T>({ outages }: Scene, parts: readonly Part[], work: () => Promise<T>): Promise<T> {
  const end = outages.begin(parts)
  try {
    return await work()
  } finally {
    end()
  }
}

export async function isTrue(condition: () => Promise<boolean>, within = BACK_MS): Promise<boolean> {
  const end = Date.now() + within
  while (!(await condition())) {
    if (Date.now() > end) return false
    await sleep(100)
  }
  return true
}

/** Sends SIGSTOP, and SIGCONT after `ms`. */
export async function pause(member: Member, ms: number): Promise<void> {
  member.signal('SIGSTOP')
  await sleep(ms)
  member.signal('SIGCONT')
}
