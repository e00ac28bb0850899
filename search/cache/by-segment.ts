import type { SegmentMeta } from '../store/segment-store.ts'
import { type Cache, createCache, ENTRY_BYTES } from './cache.ts'

/** A key within a segment. */
export interface OfSegment {
  segment: SegmentMeta
  key: string
}

/** Values by key and segment. */
export interface CacheBySegment<V> extends Cache<OfSegment, V> {
  /** The keys that were used most recently, of any segment. */
  latestKeys(most: number): string[]
  /** Looks a key up once, for many segments. The result holds until the next wait. */
  ofKey(key: string): (segment: SegmentMeta) => V | undefined
}

/** The values of one key. They are kept and dropped together. */
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
      return segment => bySegment?.get(segment.no)?.value
    },

    set({ segment, key }, value, bytes) {
      const before = entries.get(key)
      const part = { value, bytes: bytes + ENTRY_BYTES, first: Number(segment.first), last: Number(segment.last) }
      const bySegment = before?.bySegment ?? new Map<number, Part<V>>()
      let sum = (before?.bytes ?? 0) + part.bytes
      // A merge replaces segments. A search that asks for the new one never asks for these again.
      for (const [no, { first, last, bytes: freed }] of bySegment) {
        if (first > part.last || last < part.first) continue
        bySegment.delete(no)
        sum -= freed
      }
      bySegment.set(segment.no, part)
      // A new object: `lru-cache` counts the size of an entry only when its value is another one.
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
