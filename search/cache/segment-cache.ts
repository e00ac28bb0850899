import { hashOf } from '../analysis/hashes.ts'
import { createPace } from '../pace.ts'
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
import { type Cache, type CacheSizes, createCache, createCacheBySegment, createCountCache } from './cache.ts'

/*
 * A segment never changes, so whatever was read of it stays right for good. This file holds what
 * searches read of segments: columns, posting lists, dictionaries, and what verification has found.
 */

export type SegmentCache = ReturnType<typeof createSegmentCache>

/** Documents whose words were looked at: those that match, and those that do not. */
interface Verified {
  yes: DocIdSet
  no: DocIdSet
}

/**
 * Parts of stored segments that are kept in memory. A segment never changes, so nothing here is
 * ever stale. The cache may drop any value at any time.
 */
export function createSegmentCache(store: SegmentStore, sizes: CacheSizes) {
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
    /** Results of verification, by segment and by what was verified. */
    verified,
    /** Numbers of matches, by query. */
    counts,
    prefetch,
    stats: () => ({
      postings: lists.stats(),
      columns: columns.stats(),
      verified: verified.stats(),
      counts: counts.stats(),
      prefetched: prefetch.bytes(),
    }),

    /** The posting list of a term; undefined: it has to be read first. */
    list(segment: SegmentMeta, term: string): DocIdSet | undefined {
      const known = lists.get({ segment, key: term })
      if (known !== undefined) return known
      const own = columns.get(segment.no)
      if (own !== undefined && isFiltered(term) && lacks(own.terms, hashOf(term))) return emptySet(sizeOf(segment))
      return prefetchedList(segment, term)
    },

    /**
     * The same as `list` for one term in many segments, in less time. The result holds until the
     * next wait.
     */
    listsOf(term: string) {
      const ofTerm = lists.ofKey(term)
      const hash = isFiltered(term) ? hashOf(term) : null
      return (segment: SegmentMeta, { terms }: Columns): DocIdSet | undefined => {
        const known = ofTerm(segment)
        if (known !== undefined) return known
        if (hash !== null && lacks(terms, hash)) return emptySet(sizeOf(segment))
        return prefetchedList(segment, term)
      }
    },

    /**
     * Reads segments that are stored and not used yet, so that the first searches find them here.
     * Of each it reads the columns. It also reads the dictionary of a small segment, and of a large
     * one the lists that searches used lately.
     *
     * @param ahead all such segments; those that were read before are not read again
     * @param small a segment of at most this many articles has its dictionary read whole
     */
    async readAhead(ahead: SegmentMeta[], small: number): Promise<void> {
      prefetch.announce(ahead)
      for (const segment of ahead) {
        if (prefetch.has(segment)) continue
        const read = await readSegmentAhead(store, segment, small, lists.latestKeys)
        if (read === null) continue
        if (read.columns !== null) columns.set(segment.no, read.columns, read.bytes)
        prefetch.add(segment, read)
      }
    },

    /** Reads posting lists; the result has the order of `wanted`. */
    async readLists(wanted: ListKey[], version: bigint): Promise<DocIdSet[]> {
      const sets = await readLists(store, wanted, version)
      wanted.forEach(({ segment, term }, index) => {
        keep(segment, term, sets[index]!)
      })
      return sets
    },

    /** Columns of some segments, read where they are not in memory. */
    columns: (segments: SegmentMeta[], version: bigint): Promise<Columns[]> =>
      readThrough(store, columns, segments, version),
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

/**
 * How many lists of a large segment are read ahead. A list of 65,536 articles takes at most 8 kB.
 */
const LISTS_AHEAD = 4_096

/**
 * Reads a segment that is stored and not used yet. It reads the columns, and the dictionary of a
 * small segment or the lists of a large one that searches are likely to ask for.
 *
 * @param small a segment of at most this many articles has its dictionary read whole
 * @param latestTerms the terms that were used most recently
 * @returns what was read; without columns, when the columns of the segment are not final. null:
 *   before all was read, the segment was used, or is gone
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
  // A segment that is gone by now may have been gone before it was read. Its lists were then read
  // as empty, and a search would take them for the truth.
  return (await store.isStored(segment.no)) ? { ...columns, ...read } : null
}

async function listsOf(store: SegmentStore, segment: SegmentMeta, terms: string[]) {
  const wanted = terms.map(term => ({ segment, term }))
  const lists = await readLists(store, wanted, null)
  return new Map(terms.map((term, at) => [term, lists[at]!]))
}

/**
 * How many articles the newest segments have whose dictionaries are prefetched. These take some 80
 * MB. Most terms of older segments were asked for already, so their lists are kept.
 */
export const PREFETCHED_ARTICLES = 32_768

/**
 * Reads the whole term dictionaries of the newest segments. These are small, come every few seconds
 * under load, and are soon merged. Without a prefetch the first search for any term would wait for
 * each.
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
      const dictionary = await store.readDictionary(missing, current.version).catch((error: unknown) => {
        warnOnce(error, current.version)
        return null
      })
      if (dictionary !== null) {
        if (goal?.segments.some(segment => segment.no === missing.no)) parts.add(missing, { dictionary, lists: null })
      } else if (goal === current) {
        // The segment was replaced, or the database is away. The next search sets a new goal. Until
        // then lists are read on demand.
        goal = null
      }
    }
  }
  /**
   * That a segment was replaced is no failure. Any other failure is reported once for each version.
   */
  function warnOnce(error: unknown, version: bigint): void {
    if (error instanceof SegmentsChanged || warned >= version) return
    warned = version
    process.emitWarning(`could not prefetch a segment of the index: ${error}`)
  }

  return {
    ...parts,

    /**
     * Prefetches the newest segments that hold `articles` articles together, and drops all others.
     * Returns at once. The dictionaries are read in the background, and nothing waits for them.
     */
    follow(meta: IndexMeta, articles: number): void {
      const { version } = meta
      if (closed || version < newest || (goal?.version === version && goal.articles === articles)) return
      const wanted = newestSegments(meta, articles)
      if (version > newest) parts.prune(meta, wanted)
      newest = version
      goal = { version, articles, segments: wanted }
      reading ??= readAll().finally(() => {
        reading = null
      })
    },

    /** Resolves when nothing is being read. */
    idle: () => reading ?? Promise.resolve(),

    /** Reads nothing more. Resolves when nothing is being read. */
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
type ReadSegment =
  | { dictionary: TermDictionary; lists: null }
  | { dictionary: null; lists: ReadonlyMap<string, DocIdSet> }

/**
 * Parts of segments that were read before a search asked for them. A dictionary stays as long as
 * its segment is among the newest. Lists stay for the first version that has their segment: by the
 * next one, searches have taken those that they need into the cache.
 */
function createPrefetchedParts() {
  const dictionaries = new Map<number, TermDictionary>()
  const lists = new Map<number, { byTerm: ReadonlyMap<string, DocIdSet>; used: boolean }>()
  let announced = new Set<number>()
  return {
    /** The documents with a term; undefined: they were not prefetched. */
    list(segment: SegmentMeta, term: string): DocIdSet | undefined {
      const dictionary = dictionaries.get(segment.no)
      if (dictionary === undefined) return lists.get(segment.no)?.byTerm.get(term)
      const { blocks, starts } = dictionary
      const bucket = bucketOf(term, segment.bucketBits)
      const size = sizeOf(segment)
      const block = blocks.subarray(starts[bucket], starts[bucket + 1])
      return readEntry(block, entryStart(term), size) ?? emptySet(size)
    },

    /** Whether a segment was prefetched. */
    has: ({ no }: SegmentMeta) => dictionaries.has(no) || lists.has(no),
    hasDictionary: ({ no }: SegmentMeta) => dictionaries.has(no),

    add({ no }: SegmentMeta, read: ReadSegment) {
      if (read.dictionary === null) lists.set(no, { byTerm: read.lists, used: false })
      else dictionaries.set(no, read.dictionary)
    },

    /** Told of all segments that are stored and not used yet. Their parts stay. */
    announce(ahead: SegmentMeta[]) {
      announced = new Set(ahead.map(segment => segment.no))
    },

    /**
     * Drops what no search will ask for.
     *
     * @param newest the segments whose dictionaries stay
     */
    prune({ segments }: IndexMeta, newest: SegmentMeta[]) {
      const wanted = new Set([...announced, ...newest.map(segment => segment.no)])
      for (const no of dictionaries.keys()) if (!wanted.has(no)) dictionaries.delete(no)
      const present = new Set(segments.map(segment => segment.no))
      for (const [no, one] of lists) {
        if (present.has(no) ? one.used : !announced.has(no)) lists.delete(no)
        else one.used = present.has(no)
      }
    },

    largestDictionary: (): TermDictionary | undefined =>
      [...dictionaries.values()].sort((a, b) => b.blocks.length - a.blocks.length)[0],

    bytes(): number {
      let sum = 0
      for (const { blocks, starts } of dictionaries.values()) sum += blocks.length + starts.byteLength
      for (const { byTerm } of lists.values()) for (const list of byTerm.values()) sum += bytesOf(list)
      return sum
    },
  }
}
