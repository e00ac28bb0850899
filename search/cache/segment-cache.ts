import type { Columns } from '../segment/columns.ts'
import { bytesOf, type DocIdSet, emptySet } from '../segment/doc-id-set.ts'
import { bucketOf, readEntries } from '../segment/postings.ts'
import { type BucketKey, type SegmentMeta, type SegmentStore, sizeOf } from '../store/segment-store.ts'
import { createCacheBySegment, type OfSegment } from './by-segment.ts'
import { type Cache, type CacheStats, createCache } from './cache.ts'
import { createPrefetch, type Prefetch } from './prefetch.ts'
import type { CacheSizes } from './sizes.ts'

/**
 * What is in memory of the stored segments. A segment never changes, so nothing here is ever stale;
 * but every value may be dropped a moment later.
 */
export interface SegmentCache {
  /** The posting list of a term; undefined: it has to be read first. */
  list(segment: SegmentMeta, term: string): DocIdSet | undefined
  /** Reads posting lists; the result has the order of `wanted`. */
  readLists(wanted: WantedList[], version: bigint): Promise<DocIdSet[]>
  /** Columns of some segments, read where they are not in memory. */
  columns(segments: SegmentMeta[], version: bigint): Promise<Columns[]>
  /** Documents that were verified, by segment and by what was verified. */
  verified: Cache<OfSegment, Verified>
  prefetch: Prefetch
  stats(): Record<'postings' | 'columns' | 'verified', CacheStats> & { prefetched: number }
}

export interface WantedList {
  segment: SegmentMeta
  term: string
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
  const prefetch = createPrefetch(store)
  const keep = (segment: SegmentMeta, key: string, set: DocIdSet) => {
    lists.set({ segment, key }, set, bytesOf(set))
  }
  return {
    verified,
    prefetch,
    stats: () => ({
      postings: lists.stats(),
      columns: columns.stats(),
      verified: verified.stats(),
      prefetched: prefetch.bytes(),
    }),

    list(segment, term) {
      const known = lists.get({ segment, key: term })
      if (known !== undefined) return known
      const prefetched = prefetch.list(segment, term)
      if (prefetched !== undefined) keep(segment, term, prefetched)
      return prefetched
    },

    async readLists(wanted, version) {
      const buckets = byBucket(wanted)
      const blocks = await store.readBuckets(buckets, version)
      const found = new Map<WantedList, DocIdSet>()
      buckets.forEach(({ segment, wanted: own }, index) => {
        const size = sizeOf(segment)
        const block = blocks[index]
        const terms = own.map(one => one.term)
        const entries = block === undefined ? null : readEntries(block, terms, size)
        for (const one of own) {
          const set = entries?.get(one.term) ?? emptySet(size)
          found.set(one, set)
          keep(segment, one.term, set)
        }
      })
      return wanted.map(one => found.get(one)!)
    },

    async columns(segments, version) {
      const found = new Map(segments.map(segment => [segment.no, columns.get(segment.no)]))
      const missing = segments.filter(segment => found.get(segment.no) === undefined).map(segment => segment.no)
      if (missing.length > 0) {
        for (const read of await store.readColumns(missing, version)) {
          columns.set(read.no, read.columns, read.bytes)
          found.set(read.no, read.columns)
        }
      }
      return segments.map(segment => found.get(segment.no)!)
    },
  }
}

interface WantedBucket extends BucketKey {
  segment: SegmentMeta
  wanted: WantedList[]
}

/** Lists of one bucket are read together. */
function byBucket(wanted: WantedList[]): WantedBucket[] {
  const buckets = new Map<string, WantedBucket>()
  for (const one of wanted) {
    const { segment } = one
    const bucket = bucketOf(one.term, segment.bucketBits)
    const key = `${segment.no} ${bucket}`
    const present = buckets.get(key)
    if (present === undefined) buckets.set(key, { segmentNo: segment.no, bucket, segment, wanted: [one] })
    else present.wanted.push(one)
  }
  return [...buckets.values()]
}
