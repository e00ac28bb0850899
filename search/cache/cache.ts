import { LRUCache } from 'lru-cache'

/** A cache limited by bytes. It drops the least recently used values first. */
export interface Cache<K, V> {
  get(key: K): V | undefined
  /** A value that is larger than the limit is not kept. */
  set(key: K, value: V, bytes: number): void
  stats(): CacheStats
}

export interface RecencyCache<K, V> extends Cache<K, V> {
  /** All keys, the most recently used first. */
  keys(): Iterable<K>
}

/** In bytes, as estimated by those who put values in. */
export interface CacheStats {
  limit: number
  used: number
}

/** Bytes of a key, its entry and the object around the value. */
export const ENTRY_BYTES = 200

/** @param limit bytes */
export function createCache<K extends {}, V extends {}>(limit: number): RecencyCache<K, V> {
  const maxSize = Math.max(1, Math.floor(limit))
  const cache = new LRUCache<K, V>({ maxSize })
  return {
    get: key => cache.get(key),
    set: (key, value, bytes) => void cache.set(key, value, { size: bytes + ENTRY_BYTES }),
    keys: () => cache.keys(),
    stats: () => ({ limit: maxSize, used: cache.calculatedSize }),
  }
}
