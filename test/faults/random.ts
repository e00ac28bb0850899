import { createHash } from 'node:crypto'

/** A source of chance that gives the same run for the same seed. */
export interface Random {
  /** From 0 up to, not including, 1. */
  next(): number
  /** From 0 up to, not including, `limit`: a whole number. */
  below(limit: number): number
  pick<T>(list: readonly T[]): T
  between(low: number, high: number): number
  chance(share: number): boolean
  /** A part of a list, in its order, at least one. */
  some<T>(list: readonly T[]): T[]
  shuffled<T>(list: readonly T[]): T[]
}

/**
 * Mulberry32, a generator of 32 bits of state by Tommy Ettinger: good enough to choose faults and
 * questions.
 *
 * @param stream whose chance it is: the site, the faults, a reader … so that one does not disturb
 * another's; absent: the seed has one alone
 */
export function createRandom(seed: number, stream?: string): Random {
  let state =
    stream === undefined
      ? seed | 0
      : createHash('sha256').update(`${seed} ${stream}`).digest().readUInt32LE()
  function next(): number {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  function pick<T>(list: readonly T[]): T {
    const picked = list[below(list.length)]
    if (picked === undefined) throw new Error('There is nothing to pick from an empty list.')
    return picked
  }
  return {
    next,
    below,
    pick,
    between: (low, high) => low + next() * (high - low),
    chance: share => next() < share,
    some<T>(list: readonly T[]): T[] {
      const chosen = list.filter(() => next() < 0.5)
      return chosen.length > 0 ? chosen : [pick(list)]
    },
    shuffled<T>(list: readonly T[]): T[] {
      const rest = [...list]
      const out: typeof rest = []
      while (rest.length > 0) out.push(...rest.splice(below(rest.length), 1))
      return out
    },
  }
}
