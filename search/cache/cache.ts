import { totalmem } from 'node:os'
import { LRUCache } from 'lru-cache'

/** A cache limited by bytes. It drops the least recently used values first. */
export interface Cache<K, V> {
  get(key: K): V | undefined
  /** A value that is larger than the limit is not kept. */
  set(key: K, value: V, bytes: number): void
  stats(): CacheStats
}

interface RecencyCache<K, V> extends Cache<K, V> {
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

/** Most bytes of each cache that an opened index keeps. */
export interface CacheSizes {
  /** Posting lists and their bitmaps. A term in many of a million articles takes 128 kB. */
  postings: number
  /** Columns with term filters: 45 MB for a million articles. */
  columns: number
  /** Articles whose words were verified against a phrase, by phrase. */
  verified: number
  /** Numbers of matches, by query and segment: 64 bytes each. */
  counts: number
  /** Articles as they are shown. */
  articles: number
  /** Names of outlets and authors as they are shown, and the articles of parts of names. */
  names: number
}

const MB = 1 << 20

/**
 * Sizes that fit a machine: a tenth of its memory together, and never more than pays. On 16 GB and
 * more they are 1.1 GB.
 *
 * @param memory bytes of the machine, or of the container where it has a limit
 */
export function defaultCacheSizes(memory = availableMemory()): CacheSizes {
  const share = (part: number, most: number) => Math.min(most, Math.max(4 * MB, Math.floor(memory / part)))
  return {
    postings: share(28, 512 * MB),
    columns: share(28, 512 * MB),
    verified: share(512, 24 * MB),
    counts: share(512, 24 * MB),
    articles: share(128, 64 * MB),
    names: share(256, 64 * MB),
  }
}

/**
 * A container's limit where there is one (`process.constrainedMemory` tells 0, or more than there
 * is, otherwise).
 */
function availableMemory(): number {
  const limit = process.constrainedMemory()
  return limit > 0 && limit < totalmem() ? limit : totalmem()
}
