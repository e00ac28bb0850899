import { setTimeout as sleep } from 'node:timers/promises'
import { type ServiceName, until } from '../../fleet.ts'
import type { Findings } from '../findings.ts'
import type { Machine, Worker } from '../machine/machine.ts'
import type { Member } from '../machine/member.ts'
import type { Outages, Part } from '../outages.ts'
import type { Random } from '../random.ts'

/** The processes and servers that a fault acts on. */
export interface Scene {
  machine: Machine
  outages: Outages
  findings: Findings
  random: Random
}

/** Does something bad, waits until the system could be well again, and says what it hit. */
export type Fault = (scene: Scene) => Promise<string>

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

/** Waits until something is there again; that it does not come back is a finding. */
export async function backAgain({ findings }: Scene, name: string, isBack: () => Promise<boolean>): Promise<void> {
  await until(isBack, BACK_MS).catch(() => findings.add(`${name} did not come back within a minute.`))
}

/** Waits until the worker has a process other than `before`, and an API answers. */
export async function workerAgain(scene: Scene, worker: Worker, before: number | null): Promise<void> {
  await backAgain(scene, worker.name, async () => {
    const pid = worker.pid()
    if (pid === null || pid === before) return false
    return worker.service !== 'api' || scene.machine.answers.api(numberOf(worker))
  })
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

/** Sends SIGSTOP, and SIGCONT after `ms`. */
export async function pause({ signal }: Pick<Member, 'signal'>, ms: number): Promise<void> {
  signal('SIGSTOP')
  await sleep(ms)
  signal('SIGCONT')
}
