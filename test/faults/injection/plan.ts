import type { Random } from '../random.ts'
import { KINDS, type KindName } from './kinds.ts'

/** One fault to come; `at` in ms from the beginning. */
export interface Planned {
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
export function planFaults(random: Random, ms: number, onRedis: boolean, only: readonly KindName[]): Planned[] {
  const plan: Planned[] = []
  let round: KindName[] = []
  for (let at = FIRST_MS; at < ms - TAIL_MS; at += random.between(SHORTEST_GAP_MS, LONGEST_GAP_MS)) {
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
