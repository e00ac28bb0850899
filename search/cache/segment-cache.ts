import { hashOf } from '../analysis/hashes.ts'
import { createPace, eachIn } from '../pace.ts'
import { type Columns, isFiltered, lacks } from '../segment/columns.ts'
import { bytesOf, type DocIdSet, emptySet } from '../segment/doc-id-set.ts'
import { bucketOf, entryStart, readEntry } from '../segment/postings.ts'
import {
  type IndexMeta,
  type ListKey,
  type SegmentMeta,
  type SegmentStore,
  SegmentsChanged,
  sizeOf,
  type TermDictionary,
} from '../store/segment-store.ts'
import {
  type Cache,
  type CacheBySegment,
  type CacheSizes,
  type CacheStats,
  type CountCache,
  createCache,
  createCacheBySegment,
  createCountCache,
} from './cache.ts'

/*
 * Keeps the parts of segments that searches have read: columns, posting lists, dictionaries and
 * results of verification. A segment never changes, so these parts never become stale.
 */

/** The parts of segments that were prefetched. */
interface PrefetchedParts {
  /** The documents with a term; undefined: they were not prefetched. */
  list(segment: SegmentMeta, term: string): DocIdSet | undefined
  /** Whether a segment was prefetched. */
  has(segment: SegmentMeta): boolean
  hasDictionary(segment: SegmentMeta): boolean
  add(segment: SegmentMeta, read: ReadSegment): void
  /** Notes all segments that are stored and not used yet. `prune` keeps their parts. */
  announce(ahead: SegmentMeta[]): void
  /**
   * Drops parts that no search will ask for.
   *
   * @param newest the segments whose dictionaries stay
   */
  prune(meta: IndexMeta, newest: SegmentMeta[]): void
  largestDictionary(): TermDictionary | undefined
  bytes(): number
}

/** Reads the newest segments before searches need them. */
export interface Prefetch extends PrefetchedParts {
  /**
   * Prefetches the newest segments that hold `articles` articles together, and drops all others.
   * Returns at once. The dictionaries are read in the background, and no search waits for them.
   */
  follow(meta: IndexMeta, articles: number): void
  /** Resolves when no prefetch is running. */
  idle(): Promise<void>
  /** Stops prefetching. Resolves when the last read has ended. */
  close(): Promise<void>
}

/** Parts of stored segments that are kept in memory. */
export interface SegmentCache {
  /** Results of verification, by segment and by the verified expression. */
  verified: CacheBySegment<Verified>
  /** Numbers of matches, by query. */
  counts: CountCache
  prefetch: Prefetch
  stats(): {
    postings: CacheStats
    columns: CacheStats
    verified: CacheStats
    counts: CacheStats
    prefetched: number
  }
  /** The posting list of a term; undefined: the list is not in memory. */
  list(segment: SegmentMeta, term: string): DocIdSet | undefined
  /**
   * Does the same as `list` for one term in many segments, in less time. The result is valid
   * until the caller next awaits.
   */
  listsOf(term: string): (segment: SegmentMeta, { terms }: Columns) => DocIdSet | undefined
  /**
   * Reads segments that are stored and not used yet, so that the first searches find them in
   * memory. It reads the columns of each segment. Of a small segment it also reads the
   * dictionary, of a large segment the lists that searches used lately.
   *
   * @param ahead all such segments; those that were read before are not read again
   * @param small a segment of at most this many articles has its dictionary read whole
   */
  readAhead(ahead: SegmentMeta[], small: number): Promise<void>
  /** Reads posting lists; the result has the order of `wanted`. */
  readLists(wanted: ListKey[], version: bigint): Promise<DocIdSet[]>
  /** Columns of some segments. Reads those that are not in memory. */
  columns(segments: SegmentMeta[], version: bigint): Promise<Columns[]>
}

/** Documents whose words a search has read: those that match, and those that do not. */
export interface Verified {
  yes: DocIdSet
  no: DocIdSet
}

/**
 * Parts of stored segments that are kept in memory. The cache may drop each of them at any time.
 */
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
      if (own !== undefined && isFiltered(term) && lacks(own.terms, hashOf(term)))
        return emptySet(sizeOf(segment))
      return prefetchedList(segment, term)
    },

    listsOf(term) {
      const ofTerm = lists.ofKey(term)
      const hash = isFiltered(term) ? hashOf(term) : null
      return (segment: SegmentMeta, { terms }: Columns): DocIdSet | undefined => {
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
 * @param version null: the segments are not used yet, so they belong to no version
 */
async function readLists(
  store: SegmentStore,
  wanted: ListKey[],
  version: bigint | null,
): Promise<DocIdSet[]> {
  const blocks = await store.readBuckets(wanted, version)
  return eachIn(createPace(), wanted, ({ segment, term }, at) => {
    const block = blocks[at]
    const size = sizeOf(segment)
    return (block && readEntry(block, entryStart(term), size)) ?? emptySet(size)
  })
}

/**
 * How many posting lists of a large segment are read ahead. In a segment of 65,536 articles, each
 * takes at most 8 kB.
 */
const LISTS_AHEAD = 4_096

/**
 * Reads a segment that is stored and not used yet. It reads the columns. It also reads the
 * dictionary of a small segment, or the lists of a large segment that searches are likely to need.
 *
 * @param small a segment of at most this many articles has its dictionary read whole
 * @param latestTerms the terms that were used most recently
 * @returns the parts that were read; `columns` is null while the columns are not final. null: the
 *   segment was used or dropped before all parts were read
 */
export async function readSegmentAhead(
  store: SegmentStore,
  segment: SegmentMeta,
  small: number,
  latestTerms: (most: number) => string[],
): Promise<(ReadSegment & { columns: Columns | null; bytes: number }) | null> {
  const columns = segment.imported
    ? { columns: null, bytes: 0 }
    : await store.readColumnsAhead(segment.no)
  if (columns === null) return null
  const read: ReadSegment =
    sizeOf(segment) <= small
      ? { dictionary: await store.readDictionary(segment, null), lists: null }
      : { dictionary: null, lists: await listsOf(store, segment, latestTerms(LISTS_AHEAD)) }
  // The segment may have been dropped before its lists were read. These lists would then be empty,
  // and a search would miss documents.
  return (await store.isStored(segment.no)) ? { ...columns, ...read } : null
}

async function listsOf(store: SegmentStore, segment: SegmentMeta, terms: string[]) {
  const wanted = terms.map(term => ({ segment, term }))
  const lists = await readLists(store, wanted, null)
  return new Map(terms.map((term, at) => [term, lists[at]!]))
}

/**
 * The newest segments with at most this many articles in total have their dictionaries prefetched.
 * The dictionaries take some 80 MB. For older segments, searches have already asked for most terms,
 * so those lists are in the cache.
 */
export const PREFETCHED_ARTICLES = 32_768

/**
 * Reads the whole term dictionaries of the newest segments. These segments are small, come every
 * few seconds under load, and are soon merged. Without a prefetch, the first search for any term
 * would wait for each segment.
 */
function createPrefetch(store: SegmentStore) {
  const parts = createPrefetchedParts()
  let goal: { version: bigint; articles: number; segments: SegmentMeta[] } | null = null
  let newest = -1n
  let warned = -1n
  let reading: Promise<void> | null = null
  let closed = false

  async function readAll(): Promise<void> {
    for (;;) {
      const current = goal
      const missing = current?.segments.find(segment => !parts.hasDictionary(segment))
      if (current === null || missing === undefined) return
      const dictionary = await store
        .readDictionary(missing, current.version)
        .catch((error: unknown) => {
          warnOnce(error, current.version)
          return null
        })
      if (dictionary !== null) {
        if (goal?.segments.some(segment => segment.no === missing.no))
          parts.add(missing, { dictionary, lists: null })
      } else if (goal === current) {
        // The segment was replaced, or the database is away. The next search sets a new goal. Until
        // then searches read the lists that they need.
        goal = null
      }
    }
  }
  /** A replaced segment is no failure. Any other failure is reported once for each version. */
  function warnOnce(error: unknown, version: bigint): void {
    if (error instanceof SegmentsChanged || warned >= version) return
    warned = version
    process.emitWarning(`could not prefetch a segment of the index: ${error}`)
  }

  return {
    ...parts,

    follow(meta: IndexMeta, articles: number): void {
      const { version } = meta
      if (closed || version < newest || (goal?.version === version && goal.articles === articles))
        return
      const wanted = newestSegments(meta, articles)
      if (version > newest) parts.prune(meta, wanted)
      newest = version
      goal = { version, articles, segments: wanted }
      reading ??= readAll().finally(() => {
        reading = null
      })
    },

    idle: (): Promise<void> => reading ?? Promise.resolve(),

    async close(): Promise<void> {
      closed = true
      goal = null
      await reading
    },
  }
}

/** The newest segments that have at most this many articles together, the newest first. */
function newestSegments({ segments }: IndexMeta, articles: number): SegmentMeta[] {
  let sum = 0
  return segments.toReversed().filter(segment => {
    sum += sizeOf(segment)
    return sum <= articles
  })
}

/** The parts of a segment that were read: its whole dictionary, or some lists by their terms. */
export type ReadSegment =
  | { dictionary: TermDictionary; lists: null }
  | { dictionary: null; lists: ReadonlyMap<string, DocIdSet> }

/**
 * Parts of segments that were read before a search asked for them. A dictionary stays as long as
 * its segment is among the newest. Lists stay during the first version that uses their segment.
 * During that time searches copy the lists that they need into the cache.
 */
function createPrefetchedParts(): PrefetchedParts {
  const dictionaries = new Map<number, TermDictionary>()
  const lists = new Map<number, { byTerm: ReadonlyMap<string, DocIdSet>; used: boolean }>()
  let announced = new Set<number>()
  return {
    list(segment, term) {
      const dictionary = dictionaries.get(segment.no)
      if (dictionary === undefined) return lists.get(segment.no)?.byTerm.get(term)
      const { blocks, starts } = dictionary
      const bucket = bucketOf(term, segment.bucketBits)
      const size = sizeOf(segment)
      const block = blocks.subarray(starts[bucket], starts[bucket + 1])
      return readEntry(block, entryStart(term), size) ?? emptySet(size)
    },

    has: ({ no }) => dictionaries.has(no) || lists.has(no),
    hasDictionary: ({ no }) => dictionaries.has(no),

    add({ no }, read) {
      if (read.dictionary === null) lists.set(no, { byTerm: read.lists, used: false })
      else dictionaries.set(no, read.dictionary)
    },

    announce(ahead) {
      announced = new Set(ahead.map(segment => segment.no))
    },

    prune({ segments }, newest) {
      const wanted = new Set([...announced, ...newest.map(segment => segment.no)])
      for (const no of dictionaries.keys()) if (!wanted.has(no)) dictionaries.delete(no)
      const present = new Set(segments.map(segment => segment.no))
      for (const [no, one] of lists) {
        if (present.has(no) ? one.used : !announced.has(no)) lists.delete(no)
        else one.used = present.has(no)
      }
    },

    largestDictionary: () =>
      [...dictionaries.values()].sort((a, b) => b.blocks.length - a.blocks.length)[0],

    bytes() {
      let sum = 0
      for (const { blocks, starts } of dictionaries.values())
        sum += blocks.length + starts.byteLength
      for (const { byTerm } of lists.values())
        for (const list of byTerm.values()) sum += bytesOf(list)
      return sum
    },
  }
}
