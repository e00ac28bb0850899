import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '#test/faults/random'
import {
  backendKilled,
  connectionsEnded,
  ended,
  type Fault,
  machineLost,
  paused,
  redisFault,
  type Scene,
  serverKilled,
  serverPaused,
  supervisorKilled,
} from './faults.ts'

/** One fault to come; `at` in ms from the beginning. */
interface Planned {
  at: number
  kind: KindName
}

const FIRST_MS = 4_000
/** Between two faults; often the second comes before the system has got over the first. */
const SHORTEST_GAP_MS = 4_000
const LONGEST_GAP_MS = 10_000
/**
 * The last published articles must still meet a fault, and the parts that were hit must recover.
 */
const TAIL_MS = 4_000

/** Faults for a run of `ms`: every kind in an order of chance, then again. */
export function planFaults(
  random: Random,
  ms: number,
  onRedis: boolean,
  only: readonly KindName[],
): Planned[] {
  const plan: Planned[] = []
  let round: KindName[] = []
  for (
    let at = FIRST_MS;
    at < ms - TAIL_MS;
    at += random.between(SHORTEST_GAP_MS, LONGEST_GAP_MS)
  ) {
    if (round.length === 0) round = random.shuffled(oneRound(onRedis, only))
    const kind = round.pop()
    if (kind) plan.push({ at: Math.round(at), kind })
  }
  return plan
}

function oneRound(onRedis: boolean, only: readonly KindName[]): KindName[] {
  return kindNames()
    .filter(name => only.length === 0 || only.includes(name))
    .filter(name => onRedis || !('onRedisOnly' in KINDS[name]))
    .flatMap(name => Array<KindName>(KINDS[name].times).fill(name))
}

export function kindNames(): KindName[] {
  const isKind = (name: string): name is KindName => name in KINDS
  return Object.keys(KINDS).filter(isKind)
}

interface Kind {
  inject: Fault
  /** How often it comes in one round of all faults. */
  times: number
  onRedisOnly?: true
}

/** Every fault that is injected, by the name under which it is reported. */
const KINDS = {
  'kill crawler': { inject: ended('crawler', 'SIGKILL'), times: 2 },
  'kill normaliser': { inject: ended('normaliser', 'SIGKILL'), times: 2 },
  'kill embedder': { inject: ended('embedder', 'SIGKILL'), times: 2 },
  'kill api': { inject: ended('api', 'SIGKILL'), times: 1 },
  'end crawler': { inject: ended('crawler', 'SIGTERM'), times: 1 },
  'end normaliser': { inject: ended('normaliser', 'SIGTERM'), times: 1 },
  'end embedder': { inject: ended('embedder', 'SIGTERM'), times: 1 },
  'end api': { inject: ended('api', 'SIGTERM'), times: 1 },
  'pause crawler': { inject: paused('crawler'), times: 1 },
  'pause normaliser': { inject: paused('normaliser'), times: 1 },
  'pause embedder': { inject: paused('embedder'), times: 1 },
  'pause api': { inject: paused('api'), times: 1 },
  'kill postgres': { inject: serverKilled('postgres'), times: 2 },
  'pause postgres': { inject: serverPaused('postgres', 12_000), times: 1 },
  'kill supervisor': { inject: supervisorKilled, times: 1 },
  'end connections': { inject: connectionsEnded, times: 2 },
  'kill backend': { inject: backendKilled, times: 1 },
  'kill qdrant': { inject: serverKilled('qdrant'), times: 2 },
  'pause qdrant': { inject: serverPaused('qdrant', 8_000), times: 1 },
  'kill model': { inject: serverKilled('model'), times: 1 },
  'pause model': { inject: serverPaused('model', 8_000), times: 1 },
  'kill redis': { inject: redisFault('killed'), times: 2, onRedisOnly: true },
  'flush redis': { inject: redisFault('flushed'), times: 2, onRedisOnly: true },
  'lose redis': { inject: redisFault('lost'), times: 1, onRedisOnly: true },
  'lose machine': { inject: machineLost, times: 1 },
} as const satisfies Record<string, Kind>

export type KindName = keyof typeof KINDS

/** A fault that was injected. Times in s. */
export interface DoneFault {
  /** From the beginning of the run. */
  at: number
  time: string
  kind: string
  detail: string
  /** Until what was hit answered again, or was let go on. */
  lasted: number
}

/**
 * Injects the planned faults at their times; they overlap as they fall. Resolves when the last is
 * over.
 */
export async function injectFaults(
  plan: readonly Planned[],
  scene: Scene,
  signal: AbortSignal,
  tell: (fault: DoneFault) => void,
): Promise<DoneFault[]> {
  const began = Date.now()
  const done: DoneFault[] = []
  const running: Promise<void>[] = []
  for (const { at, kind } of plan) {
    await sleep(Math.max(0, began + at - Date.now()), undefined, { signal }).catch(() => {})
    if (signal.aborted) break
    running.push(inject(kind))
  }
  await Promise.all(running)
  return done

  async function inject(kind: Planned['kind']): Promise<void> {
    const from = Date.now()
    const fault = { at: (from - began) / 1000, time: new Date(from).toISOString(), kind }
    const detail = await KINDS[kind].inject(scene)
    const finished = { ...fault, detail, lasted: (Date.now() - from) / 1000 }
    done.push(finished)
    tell(finished)
  }
}
