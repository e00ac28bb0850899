/**
 * Random choices that a seed repeats (splitmix32, whose neighbouring seeds do not resemble each
 * other).
 */
export interface Random {
  /** 0 to below 1. */
  next(): number
  below(limit: number): number
  chance(part: number): boolean
  one<T>(list: readonly T[]): T
}

export function createRandom(seed: number): Random {
  let state = seed | 0
  const next = () => {
    state = (state + 0x9e3779b9) | 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed ^= mixed >>> 15
    mixed = Math.imul(mixed, 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 4_294_967_296
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return { next, below, chance: part => next() < part, one: list => list[below(list.length)]! }
}
