/** Random choices that a seed repeats (mulberry32). */
export interface Random {
  /** 0 to below `limit`. */
  below(limit: number): number
  chance(part: number): boolean
  one<T>(list: readonly T[]): T
  /** A part of a list, in its order, at least one. */
  some<T>(list: readonly T[]): T[]
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    below,
    chance: part => next() < part,
    one: list => list[below(list.length)]!,
    some(list) {
      const chosen = list.filter(() => next() < 0.5)
      return chosen.length > 0 ? chosen : [list[below(list.length)]!]
    },
  }
}
