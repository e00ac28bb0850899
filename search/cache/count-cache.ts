import { type Cache, type CacheStats, createCache, ENTRY_BYTES } from './cache.ts'

/** The number of matches of a query in a stored segment, as far as a search has counted them. */
export interface KnownCount {
  /** How many of its documents match, whatever their times; null: not known. */
  all: number | null
  /** How many of those with a date of publication match; null: not known. */
  dated: number | null
  /** Whether all documents of the segment have a time of ingestion. */
  allIngested: boolean
}

/** Known counts of a query, by the number of the segment. */
export type KnownCounts = Map<number, KnownCount>

/**
 * How many documents of stored segments match a query, from one search to the next. A segment never
 * changes, so a query that is asked again, by a poller or with another range of times, is matched
 * only in the segments that its page comes from, and in new ones (Lucene: `LRUQueryCache`).
 */
export interface CountCache {
  /** Those who add to it call `keep` afterwards. */
  of(query: string): KnownCounts
  /** @param current numbers of segments that there are, to forget the others */
  keep(query: string, counts: KnownCounts, current: Iterable<number>): void
  stats(): CacheStats
}

/** @param limit bytes */
export function createCountCache(limit: number): CountCache {
  const byQuery: Cache<string, KnownCounts> = createCache(limit)
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
