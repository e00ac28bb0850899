/**
 * A cache limited by bytes, with two generations: a value that is read moves to the young one. When
 * the young generation has taken half of the limit, it becomes the old one, and the former old one
 * is dropped. A single value larger than that stays until the next one comes.
 *
 * `lru-cache` links its entries in a list of its own: one string key for each list of each segment
 * costs a search more than the lists themselves (`docs/experiments/`).
 */
export interface Cache<K, V> {
  get(key: K): V | undefined
  set(key: K, value: V, bytes: number): void
  stats(): CacheStats
}

/** In bytes, as estimated by those who put values in. */
export interface CacheStats {
  limit: number
  used: number
}

/** Where a generation keeps its values; equal keys need not be equal for a `Map`. */
export type Table<K, V> = Pick<Map<K, V>, 'get'> & { set(key: K, value: V): void; delete(key: K): void }

export interface Entry<V> {
  value: V
  bytes: number
}

/** Bytes of a key, its entry and the object around the value. */
const OVERHEAD = 200

/** @param limit bytes; between half of them and all of them are used once the cache is full */
export function createCache<K, V>(limit: number, createTable: () => Table<K, Entry<V>> = () => new Map()): Cache<K, V> {
  let young = createTable()
  let old = createTable()
  let [youngBytes, oldBytes] = [0, 0]
  const add = (key: K, entry: Entry<V>) => {
    if (youngBytes + entry.bytes > limit / 2 && youngBytes > 0) {
      old = young
      oldBytes = youngBytes
      young = createTable()
      youngBytes = 0
    }
    young.set(key, entry)
    youngBytes += entry.bytes
  }
  return {
    get(key) {
      const entry = young.get(key)
      if (entry !== undefined) return entry.value
      const older = old.get(key)
      if (older === undefined) return undefined
      old.delete(key)
      oldBytes -= older.bytes
      add(key, older)
      return older.value
    },
    set(key, value, bytes) {
      youngBytes -= young.get(key)?.bytes ?? 0
      add(key, { value, bytes: bytes + OVERHEAD })
    },
    stats: () => ({ limit, used: youngBytes + oldBytes }),
  }
}
