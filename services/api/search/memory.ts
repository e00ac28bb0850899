/**
 * Remembers values up to a number of bytes and forgets those that were not asked for lately. In two generations: what is
 * asked for moves to the younger, and when that has taken half the room, the older is dropped whole.
 */
export interface Memory<T> {
  get(key: string): T | undefined
  set(key: string, value: T, bytes: number): void
}

export function createMemory<T>(limit: number): Memory<T> {
  type Kept = { value: T; bytes: number }
  let young = new Map<string, Kept>()
  let old = new Map<string, Kept>()
  let used = 0
  const keep = (key: string, kept: Kept) => {
    if (used + kept.bytes > limit / 2 && young.size > 0) {
      old = young
      young = new Map()
      used = 0
    }
    young.set(key, kept)
    used += kept.bytes
  }
  return {
    get(key) {
      const kept = young.get(key)
      if (kept !== undefined) return kept.value
      const older = old.get(key)
      if (older === undefined) return undefined
      old.delete(key)
      keep(key, older)
      return older.value
    },
    set(key, value, bytes) {
      // The key, the entry and the object around the value take room too.
      keep(key, { value, bytes: bytes + 200 })
    },
  }
}
