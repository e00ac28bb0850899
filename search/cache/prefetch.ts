import { createPace } from '../pace.ts'
import { type IndexMeta, type SegmentMeta, type SegmentStore, SegmentsChanged, sizeOf } from '../store/segment-store.ts'
import { frequentTerms } from './frequent-terms.ts'
import { createPrefetchedParts, type PrefetchedParts } from './prefetched.ts'

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
