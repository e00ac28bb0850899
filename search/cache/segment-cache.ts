import type { Columns } from '../segment/columns.ts'
import { bytesOf, type DocIdSet, emptySet } from '../segment/doc-id-set.ts'
import { hashOf } from '../segment/hashing.ts'
import { isFiltered, lacks } from '../segment/term-filter.ts'
import { type ListKey, type SegmentMeta, type SegmentStore, sizeOf } from '../store/segment-store.ts'
import { createCacheBySegment, type OfSegment } from './by-segment.ts'
import { type Cache, type CacheStats, createCache } from './cache.ts'
import { type CountCache, createCountCache } from './count-cache.ts'
import { createPrefetch, type Prefetch } from './prefetch.ts'
import { readSegmentAhead } from './read-ahead.ts'
import { readLists } from './read-lists.ts'
import type { CacheSizes } from './sizes.ts'

/**
 * Parts of stored segments that are kept in memory. A segment never changes, so nothing here is
 * ever stale. The cache may drop any value at any time.
 */
export interface SegmentCache {
  /** The posting list of a term; undefined: it has to be read first. */
  list(segment: SegmentMeta, term: string): DocIdSet | undefined
  /** The same for one term in many segments, in less time; for use until the next wait. */
  listsOf(term: string): (segment: SegmentMeta, columns: Columns) => DocIdSet | undefined
  /** Reads posting lists; the result has the order of `wanted`. */
  readLists(wanted: ListKey[], version: bigint): Promise<DocIdSet[]>
  /** Columns of some segments, read where they are not in memory. */
  columns(segments: SegmentMeta[], version: bigint): Promise<Columns[]>
  /** Documents that were verified, by segment and by what was verified. */
  verified: Cache<OfSegment, Verified>
  /** Numbers of matches, by what is searched for. */
  counts: CountCache
  prefetch: Prefetch
  /**
   * Reads segments that are stored and not used yet: columns, and the dictionary of a small one or
   * the lists of a large one that searches used lately. The first searches then find them here.
   *
   * @param ahead all such segments; those that were read before are not read again
   * @param small articles of a segment whose dictionary is read whole
   */
  readAhead(ahead: SegmentMeta[], small: number): Promise<void>
  stats(): Record<'postings' | 'columns' | 'verified' | 'counts', CacheStats> & { prefetched: number }
}

/** Documents whose words were looked at: those that match, and those that do not. */
export interface Verified {
  yes: DocIdSet
  no: DocIdSet
}

export function createSegmentCache(store: SegmentStore, sizes: CacheSizes): SegmentCache {
  const lists = createCacheBySegment<DocIdSet>(sizes.postings)
  const columns = createCache<number, Columns>(sizes.columns)
  const verified = createCacheBySegment<Verified>(sizes.verified)
  const counts = createCountCache(sizes.counts)
  const prefetch = createPrefetch(store)
  const keep = (segment: SegmentMeta, key: string, set: DocIdSet) => {
    lists.set({ segment, key }, set, bytesOf(set))
  }
  const prefetchedList = (segment: SegmentMeta, term: string) => {
    const prefetched = prefetch.list(segment, term)
    if (prefetched !== undefined) keep(segment, term, prefetched)
    return prefetched
  }
  return {
    verified,
    counts,
    prefetch,
    stats: () => ({
      postings: lists.stats(),
      columns: columns.stats(),
      verified: verified.stats(),
      counts: counts.stats(),
      prefetched: prefetch.bytes(),
    }),

    list(segment, term) {
      const known = lists.get({ segment, key: term })
      if (known !== undefined) return known
      const own = columns.get(segment.no)
      if (own !== undefined && isFiltered(term) && lacks(own.terms, hashOf(term))) return emptySet(sizeOf(segment))
      return prefetchedList(segment, term)
    },

    listsOf(term) {
      const ofTerm = lists.ofKey(term)
      const hash = isFiltered(term) ? hashOf(term) : null
      return (segment, { terms }) => {
        const known = ofTerm(segment)
        if (known !== undefined) return known
        if (hash !== null && lacks(terms, hash)) return emptySet(sizeOf(segment))
        return prefetchedList(segment, term)
      }
    },

    async readAhead(ahead, small) {
      prefetch.announce(ahead)
      for (const segment of ahead) {
        if (prefetch.has(segment)) continue
        const read = await readSegmentAhead(store, segment, small, lists.latestKeys)
        if (read === null) continue
        if (read.columns !== null) columns.set(segment.no, read.columns, read.bytes)
        prefetch.add(segment, read)
      }
    },

    async readLists(wanted, version) {
      const sets = await readLists(store, wanted, version)
      wanted.forEach(({ segment, term }, index) => {
        keep(segment, term, sets[index]!)
      })
      return sets
    },

    columns: (segments, version) => readThrough(store, columns, segments, version),
  }
}

async function readThrough(
  store: SegmentStore,
  cache: Cache<number, Columns>,
  segments: SegmentMeta[],
  version: bigint,
): Promise<Columns[]> {
  const known = segments.map(segment => cache.get(segment.no))
  const missing = segments.filter((_, index) => known[index] === undefined)
  if (missing.length === 0) return known.filter(own => own !== undefined)
  const read = new Map<number, Columns>()
  const nos = missing.map(segment => segment.no)
  for (const { no, columns, bytes } of await store.readColumns(nos, version)) {
    cache.set(no, columns, bytes)
    read.set(no, columns)
  }
  return known.map((own, index) => own ?? read.get(segments[index]!.no)!)
}
