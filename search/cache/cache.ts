import { totalmem } from 'node:os'
import { LRUCache } from 'lru-cache'
import type { SegmentMeta } from '../store/segment-store.ts'

/** A cache limited by bytes. It drops the least recently used values first. */
export interface Cache<K extends {}, V extends {}> {
  get(key: K): V | undefined
  /** A value that is larger than the limit is not kept. */
  set(key: K, value: V, bytes: number): undefined
  keys(): Generator<K, void, unknown>
  stats(): CacheStats
}

/** In bytes, as the callers of `set` estimate them. */
export interface CacheStats {
  limit: number
  used: number
}

/** Adds up the figures of several caches. */
export const together = (stats: CacheStats[]): CacheStats => ({
  limit: stats.reduce((sum, one) => sum + one.limit, 0),
  used: stats.reduce((sum, one) => sum + one.used, 0),
})

/** Bytes of a key, its entry and the object around the value. */
export const ENTRY_BYTES = 200

/** @param limit bytes */
export function createCache<K extends {}, V extends {}>(limit: number): Cache<K, V> {
  const maxSize = Math.max(1, Math.floor(limit))
  // `lru-cache` counts the size of an entry again only for a new object, so each value gets a new
  // wrapper.
  const cache = new LRUCache<K, { value: V }>({ maxSize })
  return {
    get: key => cache.get(key)?.value,
    set: (key, value, bytes) => void cache.set(key, { value }, { size: bytes + ENTRY_BYTES }),
    keys: () => cache.keys(),
    stats: () => ({ limit: maxSize, used: cache.calculatedSize }),
  }
}

/** The most bytes of each cache that an opened index keeps. */
export interface CacheSizes {
  /**
   * Posting lists and their bitmaps. In a million articles, the lists of a frequent term take 128
   * kB.
   */
  postings: number
  /** Columns with term filters: 45 MB for a million articles. */
  columns: number
  /** Results of verification, by expression: the articles that match and those that do not. */
  verified: number
  /** Numbers of matches, by query and segment: 64 bytes each. */
  counts: number
  /** Articles as they are shown. */
  articles: number
  /** Names of outlets and authors as they are shown, and posting lists of parts of names. */
  names: number
}

const MB = 1 << 20

/**
 * Sizes of caches that fit a machine. Together they take a tenth of its memory. Each has an upper
 * limit, because still more memory would be of no use. On 16 GB and more they are 1.2 GB.
 *
 * @param scale by which each size is multiplied
 */
export function defaultCacheSizes(scale = 1): CacheSizes {
  const memory = availableMemory()
  const share = (part: number, most: number) =>
    Math.floor(scale * Math.min(most, Math.max(4 * MB, Math.floor(memory / part))))
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
 * The memory limit of the container, or else the memory of the machine, in bytes. Without a limit,
 * `process.constrainedMemory` returns 0, or more than the machine has.
 */
function availableMemory(): number {
  const limit = process.constrainedMemory()
  return limit > 0 && limit < totalmem() ? limit : totalmem()
}

/** A key within a segment. */
export interface OfSegment {
  segment: SegmentMeta
  key: string
}

/** The values of one key in all segments. The cache keeps or drops them together. */
interface Entry<V> {
  bytes: number
  bySegment: Map<number, Part<V>>
}

interface Part<V> {
  value: V
  bytes: number
  /** `seq` of the first and the last article of the segment. */
  first: number
  last: number
}

export interface CacheBySegment<V> {
  get(segment: OfSegment): V | undefined
  /** Looks a key up once, for many segments. The result is valid until the caller next awaits. */
  ofKey(key: string): (segment: SegmentMeta) => V | undefined
  set(segment: OfSegment, value: V, bytes: number): void
  /** The keys that were used most recently, of all segments together. */
  latestKeys(most: number): string[]
  stats(): CacheStats
}

/**
 * A cache of values by key and segment. Every key has one entry, because a search asks all segments
 * for the same few keys. One entry for each key of each segment costs a search five to ten times as
 * much (`docs/experiments/README.md`).
 *
 * @param limit bytes
 */
export function createCacheBySegment<V>(limit: number): CacheBySegment<V> {
  const entries = createCache<string, Entry<V>>(limit)
  return {
    get: ({ segment, key }) => entries.get(key)?.bySegment.get(segment.no)?.value,

    ofKey(key) {
      const bySegment = entries.get(key)?.bySegment
      return (segment: SegmentMeta): V | undefined => bySegment?.get(segment.no)?.value
    },

    set({ segment, key }, value, bytes) {
      const before = entries.get(key)
      const part = {
        value,
        bytes: bytes + ENTRY_BYTES,
        first: Number(segment.first),
        last: Number(segment.last),
      }
      const bySegment = before?.bySegment ?? new Map<number, Part<V>>()
      let sum = (before?.bytes ?? 0) + part.bytes
      // A merge replaces segments. A search that uses the new segment never asks for the old ones
      // again.
      for (const [no, { first, last, bytes: freed }] of bySegment) {
        if (first > part.last || last < part.first) continue
        bySegment.delete(no)
        sum -= freed
      }
      bySegment.set(segment.no, part)
      entries.set(key, { bytes: sum, bySegment }, sum)
    },

    latestKeys(most) {
      const keys: string[] = []
      for (const key of entries.keys()) {
        if (keys.length === most) break
        keys.push(key)
      }
      return keys
    },

    stats: () => entries.stats(),
  }
}

/** The number of matches of a query in a stored segment, if a search has counted them. */
export interface KnownCount {
  /** How many documents of the segment match, with any times; null: not known. */
  all: number | null
  /** How many documents with a date of publication match; null: not known. */
  dated: number | null
  /** Whether all documents of the segment have a time of ingestion. */
  allIngested: boolean
}

/** Known counts of a query, by the number of the segment. */
type KnownCounts = Map<number, KnownCount>

export interface CountCache {
  /** The counts of a query. Callers that add to them call `keep` afterwards. */
  of(query: string): KnownCounts
  /** @param current numbers of the present segments; counts of other segments are forgotten */
  keep(query: string, counts: KnownCounts, current: Iterable<number>): void
  stats(): CacheStats
}

/**
 * How many documents of stored segments match a query, kept for the next search. A segment never
 * changes. So a search that is repeated, even with another range of times, matches only new
 * segments and the segments of its page (Lucene: `LRUQueryCache`).
 *
 * @param limit bytes
 */
export function createCountCache(limit: number): CountCache {
  const byQuery = createCache<string, KnownCounts>(limit)
  return {
    of: query => byQuery.get(query) ?? new Map(),

    keep(query, counts, current) {
      const kept: KnownCounts = new Map()
      for (const no of current) {
        const known = counts.get(no)
        if (known !== undefined) kept.set(no, known)
      }
      byQuery.set(query, kept, query.length + kept.size * COUNT_BYTES + ENTRY_BYTES)
    },

    stats: () => byQuery.stats(),
  }
}

/** Bytes of a count with its place in the map. */
const COUNT_BYTES = 64
