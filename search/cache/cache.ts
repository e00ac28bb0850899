/**
 * Remembers values up to a number of bytes (one that is larger by itself until the next one) and forgets those that were not asked
 * for lately. In two generations: what is asked for moves to the younger, and when that has taken half the room, the older
 * is dropped whole.
 */
export interface Memory<K, T> {
  get(key: K): T | undefined
  set(key: K, value: T, bytes: number): void
}

/** Where a generation keeps its values; keys need not be what a `Map` takes for equal. */
export type Table<K, V> = Pick<Map<K, V>, 'get'> & { set(key: K, value: V): void; delete(key: K): void }

export interface Kept<T> {
  value: T
  bytes: number
}

export function createMemory<K, T>(
  limit: number,
  createTable: () => Table<K, Kept<T>> = () => new Map(),
): Memory<K, T> {
  let young = createTable()
  let old = createTable()
  let used = 0
  const keep = (key: K, kept: Kept<T>) => {
    if (used + kept.bytes > limit / 2 && used > 0) {
      old = young
      young = createTable()
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
      used -= young.get(key)?.bytes ?? 0
      keep(key, { value, bytes: bytes + 200 })
    },
  }
}
