import { createPace } from '../pace.ts'
import { hashOf } from '../segment/arrays.ts'
import { type Columns, isFiltered, lacks } from '../segment/columns.ts'
import { bytesOf, type DocIdSet, emptySet } from '../segment/doc-id-set.ts'
import { entryStart, readEntry } from '../segment/postings.ts'
import { type ListKey, type SegmentMeta, type SegmentStore, sizeOf } from '../store/segment-store.ts'
import {
  type Cache,
  type CacheSizes,
  type CacheStats,
  createCache,
  createCacheBySegment,
  ENTRY_BYTES,
  type OfSegment,
} from './cache.ts'
import { createPrefetch, type Prefetch, type ReadSegment } from './prefetch.ts'

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
interface Verified {
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

/**
 * Reads posting lists; the result has the order of `wanted`.
 *
 * @param version null: the segments are read ahead
 */
async function readLists(store: SegmentStore, wanted: ListKey[], version: bigint | null): Promise<DocIdSet[]> {
  const blocks = await store.readBuckets(wanted, version)
  const pace = createPace()
  const lists: DocIdSet[] = []
  for (const [index, { segment, term }] of wanted.entries()) {
    const block = blocks[index]
    const size = sizeOf(segment)
    lists.push((block && readEntry(block, entryStart(term), size)) ?? emptySet(size))
    if (pace.isDue()) await pace.rest()
  }
  return lists
}

/** Lists of a large segment that are read ahead. A list of 65,536 articles takes at most 8 kB. */
const LISTS_AHEAD = 4_096

/**
 * Reads a segment that is stored and not used yet: columns, and the dictionary of a small one or
 * the lists of a large one that searches are likely to ask for.
 *
 * @param small articles of a segment whose dictionary is read whole
 * @param latestTerms the terms that were used most recently
 * @returns without columns where these are not final. null: it was used, or it is gone, before all
 * was read
 */
export async function readSegmentAhead(
  store: SegmentStore,
  segment: SegmentMeta,
  small: number,
  latestTerms: (most: number) => string[],
): Promise<(ReadSegment & { columns: Columns | null; bytes: number }) | null> {
  const columns = segment.imported ? { columns: null, bytes: 0 } : await store.readColumnsAhead(segment.no)
  if (columns === null) return null
  const read: ReadSegment =
    sizeOf(segment) <= small
      ? { dictionary: await store.readDictionary(segment, null), lists: null }
      : { dictionary: null, lists: await listsOf(store, segment, latestTerms(LISTS_AHEAD)) }
  // A segment that is gone by now may have been gone before it was read, and a search would take
  // an empty list for the truth.
  return (await store.isStored(segment.no)) ? { ...columns, ...read } : null
}

async function listsOf(store: SegmentStore, segment: SegmentMeta, terms: string[]) {
  const wanted = terms.map(term => ({ segment, term }))
  const lists = await readLists(store, wanted, null)
  return new Map(terms.map((term, at) => [term, lists[at]!]))
}

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
type KnownCounts = Map<number, KnownCount>

/**
 * How many documents of stored segments match a query, from one search to the next. A segment never
 * changes, so a query that is asked again, by a poller or with another range of times, is matched
 * only in the segments that its page comes from, and in new ones (Lucene: `LRUQueryCache`).
 */
interface CountCache {
  /** Those who add to it call `keep` afterwards. */
  of(query: string): KnownCounts
  /** @param current numbers of segments that there are, to forget the others */
  keep(query: string, counts: KnownCounts, current: Iterable<number>): void
  stats(): CacheStats
}

/** @param limit bytes */
function createCountCache(limit: number): CountCache {
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
