import { createPace, type Pace } from '../pace.ts'
import { type Reader, readVarint } from '../segment/arrays.ts'
import { bytesOf, type DocIdSet, emptySet } from '../segment/doc-id-set.ts'
import { bucketOf, entryStart, readEntry } from '../segment/postings.ts'
import {
  type IndexMeta,
  type SegmentMeta,
  type SegmentStore,
  SegmentsChanged,
  sizeOf,
  type TermDictionary,
} from '../store/segment-store.ts'
import { parseWordTerm } from '../terms.ts'

/**
 * Reads the whole term dictionaries of the newest segments. These are small, come every few seconds
 * under load, and are soon merged. Without a prefetch the first search for any term would wait for
 * each.
 */
export interface Prefetch extends Pick<PrefetchedParts, 'list' | 'has' | 'announce' | 'add' | 'bytes'> {
  /**
   * Prefetches the newest segments that hold `articles` articles together, and drops all others.
   * Returns at once. The dictionaries are read in the background, and nothing waits for them.
   */
  follow(meta: IndexMeta, articles: number): void
  /** The words and stems that most documents of the largest prefetched segment have. */
  frequentTerms(most: number): Promise<string[]>
  /** Resolves when nothing is being read. */
  idle(): Promise<void>
  /** Reads nothing more. Resolves when nothing is being read. */
  close(): Promise<void>
}

/**
 * Articles of the newest segments: some 80 MB. Most terms of older segments were asked for already.
 */
export const PREFETCHED_ARTICLES = 32_768

export function createPrefetch(store: SegmentStore): Prefetch {
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
        // Replaced, or the database is away. The next search sets a new goal; until then lists are
        // read on demand.
        goal = null
      }
    }
  }
  /** Segments come and go; any other failure is reported once for each version. */
  function warnOnce(error: unknown, version: bigint): void {
    if (error instanceof SegmentsChanged || warned >= version) return
    warned = version
    process.emitWarning(`could not prefetch a segment of the index: ${error}`)
  }

  return {
    ...parts,

    follow(meta, articles) {
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

    async frequentTerms(most) {
      const largest = parts.largestDictionary()
      return largest === undefined ? [] : frequentTerms(largest, most, createPace())
    },

    idle: () => reading ?? Promise.resolve(),

    async close() {
      closed = true
      goal = null
      await reading
    },
  }
}

/** Newest first. */
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
 * its segment is among the newest. Lists stay for the first version that has their segment: by the
 * next one, searches have taken those that they need into the cache.
 */
interface PrefetchedParts {
  /** The documents with a term; undefined: they were not prefetched. */
  list(segment: SegmentMeta, term: string): DocIdSet | undefined
  /** Whether a segment was prefetched. */
  has(segment: SegmentMeta): boolean
  hasDictionary(segment: SegmentMeta): boolean
  add(segment: SegmentMeta, read: ReadSegment): void
  /** All segments that are stored and not used yet. Their parts stay. */
  announce(ahead: SegmentMeta[]): void
  /**
   * Drops what no search will ask for.
   *
   * @param newest those whose dictionaries stay
   */
  prune(meta: IndexMeta, newest: SegmentMeta[]): void
  largestDictionary(): TermDictionary | undefined
  bytes(): number
}

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

    largestDictionary: () => [...dictionaries.values()].sort((a, b) => b.blocks.length - a.blocks.length)[0],

    bytes() {
      let sum = 0
      for (const { blocks, starts } of dictionaries.values()) sum += blocks.length + starts.byteLength
      for (const { byTerm } of lists.values()) for (const list of byTerm.values()) sum += bytesOf(list)
      return sum
    },
  }
}

/**
 * A posting list takes more bytes the more documents it has. Below this, a term is not frequent.
 */
const LEAST_BYTES = 128

/** The words and stems of a segment that most documents have, the most frequent first. */
async function frequentTerms({ blocks, starts }: TermDictionary, most: number, pace: Pace): Promise<string[]> {
  const found: { term: string; bytes: number }[] = []
  const reader: Reader = { at: 0, bytes: blocks }
  for (let bucket = 0; bucket + 1 < starts.length; bucket++) {
    for (const end = starts[bucket + 1]!; reader.at < end; ) {
      const length = readVarint(reader)
      const from = reader.at
      reader.at += length
      const bytes = readVarint(reader)
      reader.at += bytes
      if (bytes < LEAST_BYTES) continue
      const term = blocks.toString('utf8', from, from + length)
      if (parseWordTerm(term) !== null) found.push({ term, bytes })
    }
    if (pace.isDue()) await pace.rest()
  }
  return found
    .sort((a, b) => b.bytes - a.bytes)
    .slice(0, most)
    .map(one => one.term)
}
