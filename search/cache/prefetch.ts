import { createPace } from '../pace.ts'
import { type DocIdSet, emptySet } from '../segment/doc-id-set.ts'
import { bucketOf, entryStart, readEntry } from '../segment/postings.ts'
import {
  type IndexMeta,
  type SegmentMeta,
  type SegmentStore,
  SegmentsChanged,
  sizeOf,
  type TermDictionary,
} from '../store/segment-store.ts'
import { frequentTerms } from './frequent-terms.ts'

/**
 * The whole term dictionaries of the newest segments. These are small, come every few seconds under
 * load, and are soon merged. Without a prefetch the first search for any term would wait for each.
 */
export interface Prefetch {
  /** The documents with a term; undefined: this segment is not prefetched. */
  list(segment: SegmentMeta, term: string): DocIdSet | undefined
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
  /** Bytes of the dictionaries in memory. */
  bytes(): number
}

/**
 * Articles of the newest segments: some 80 MB. Most terms of older segments were asked for already.
 */
export const PREFETCHED_ARTICLES = 32_768

export function createPrefetch(store: SegmentStore): Prefetch {
  const dictionaries = new Map<number, TermDictionary>()
  let goal: { version: bigint; articles: number; segments: SegmentMeta[] } | null = null
  let newest = -1n
  let warned = -1n
  let reading: Promise<void> | null = null
  let closed = false

  async function readAll(): Promise<void> {
    for (;;) {
      const current = goal
      const missing = current?.segments.find(segment => !dictionaries.has(segment.no))
      if (current === null || missing === undefined) return
      const dictionary = await store.readDictionary(missing, current.version).catch((error: unknown) => {
        warnOnce(error, current.version)
        return null
      })
      if (dictionary !== null) {
        if (goal?.segments.some(segment => segment.no === missing.no)) dictionaries.set(missing.no, dictionary)
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
    list(segment, term) {
      const dictionary = dictionaries.get(segment.no)
      if (dictionary === undefined) return undefined
      const { blocks, starts } = dictionary
      const bucket = bucketOf(term, segment.bucketBits)
      const size = sizeOf(segment)
      const block = blocks.subarray(starts[bucket], starts[bucket + 1])
      return readEntry(block, entryStart(term), size) ?? emptySet(size)
    },

    follow(meta, articles) {
      const { version } = meta
      if (closed || version < newest || (goal?.version === version && goal.articles === articles)) return
      newest = version
      goal = { version, articles, segments: newestSegments(meta, articles) }
      const wanted = new Set(goal.segments.map(segment => segment.no))
      for (const no of dictionaries.keys()) if (!wanted.has(no)) dictionaries.delete(no)
      reading ??= readAll().finally(() => {
        reading = null
      })
    },

    async frequentTerms(most) {
      const [largest] = [...dictionaries.values()].sort((a, b) => b.blocks.length - a.blocks.length)
      return largest === undefined ? [] : frequentTerms(largest, most, createPace())
    },

    idle: () => reading ?? Promise.resolve(),

    async close() {
      closed = true
      goal = null
      await reading
    },

    bytes: () => dictionaries.values().reduce((sum, { blocks, starts }) => sum + blocks.length + starts.byteLength, 0),
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
