/** Something that waits for its turn, and the key to which its cost is charged. */
interface Waiting {
  key: string
}

export interface Turns {
  /**
   * The first of those that wait whose key has used least. Of two keys that used the same, the one
   * that comes first.
   */
  next<T extends Waiting>(waiting: readonly T[]): T | undefined
  charge(key: string, cost: number): void
}

/**
 * Turns between keys by what they used (start-time fair queuing, Goyal et al. 1996). A key that
 * comes back after a while begins at the level of the others, so it has saved nothing. Unlike
 * `createFairQueue`, the caller may leave the line and ask anew who waits.
 */
export function createTurns(): Turns {
  let used = new Map<string, number>()
  let level = 0
  return {
    next<T extends Waiting>(waiting: readonly T[]): T | undefined {
      let best: T | undefined
      let least = Infinity
      for (const one of waiting) {
        const own = Math.max(level, used.get(one.key) ?? 0)
        if (own >= least) continue
        best = one
        least = own
      }
      if (best !== undefined) level = least
      return best
    },
    charge(key, cost) {
      // A key at or below the level needs no account.
      if (used.size > 1_000) used = new Map([...used].filter(([, own]) => own > level))
      used.set(key, Math.max(level, used.get(key) ?? 0) + cost)
    },
  }
}
