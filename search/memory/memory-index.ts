import { createPace } from '../pace.ts'
import type { ArticleSource, StoredArticle, UnflushedArticle } from '../store/article-source.ts'
import { SegmentsChanged } from '../store/segment-store.ts'
import { createMemorySegment, createTermIds, type MemorySegment } from './memory-segment.ts'

export interface MemorySizes {
  /**
   * How many articles an in-memory segment has. It divides the size of a flushed segment, so that a
   * flush replaces whole in-memory segments.
   */
  segment: bigint
  /** Words that the ids may hold before a new in-memory segment starts with fresh ones. */
  words: number
}

export const MEMORY_SIZES: MemorySizes = { segment: 4_096n, words: 400_000 }

/** The articles that this process has read: those after `from` up to `last`. */
type State = ReturnType<typeof emptyState>

export type MemoryIndex = ReturnType<typeof createMemoryIndex>

/**
 * The articles that have no stored segment yet, in in-memory segments.
 *
 * @param keep takes in articles as they will be shown, so that they need not be read once more
 */
export function createMemoryIndex(
  source: ArticleSource,
  keep: (articles: StoredArticle[], wordsVersion: bigint) => Promise<void>,
) {
  let state: State | null = null

  async function readMore(own: State, last: bigint, sizes: MemorySizes): Promise<void> {
    const to = own.last + ARTICLES_PER_READ < last ? own.last + ARTICLES_PER_READ : last
    const articles = await source.readNew(own.last, to, own.wordsVersion)
    // When `keep` fails, the articles are read again when they are shown.
    const stored = articles.map(article => article.stored)
    const kept = keep(stored, own.wordsVersion).catch(() => {})
    try {
      await addAll(own, articles, sizes)
    } catch (error) {
      // A half-added article would spoil all that follow, so the next search reads everything
      // again.
      if (state === own) state = null
      throw error
    }
    await kept
    own.last = to
  }

  return {
    /**
     * In-memory segments with the articles after `covered` up to `last`; they may hold others too.
     * Articles that are not known yet are read. Searches that come meanwhile wait for that read.
     * Segments whose articles are all stored by now are dropped.
     *
     * @throws SegmentsChanged another search knows a later state of the index
     */
    async upTo(
      { covered, last, wordsVersion }: { covered: bigint; last: bigint; wordsVersion: bigint },
      sizes: MemorySizes = MEMORY_SIZES,
    ): Promise<readonly MemorySegment[]> {
      if (state !== null && wordsVersion < state.wordsVersion) throw new SegmentsChanged('words were indexed anew')
      if (state === null || state.last < covered || state.wordsVersion !== wordsVersion) {
        state = emptyState(covered, wordsVersion)
      }
      const own: State = state
      while (own.last < last) {
        own.reading ??= readMore(own, last, sizes).finally(() => {
          own.reading = null
        })
        await own.reading
      }
      if (covered < own.from) throw new SegmentsChanged('new articles were flushed to a segment')
      dropStored(own, covered)
      return [...own.segments]
    },
    stats: () => ({
      articles: state?.segments.reduce((sum, segment) => sum + segment.documents.length, 0) ?? 0,
      segments: state?.segments.length ?? 0,
      words: state?.termIds.words ?? 0,
    }),
  }
}

const emptyState = (covered: bigint, wordsVersion: bigint) => ({
  /**
   * The version of the words that were read. They are read again when `reindex` has changed them.
   */
  wordsVersion,
  from: covered,
  last: covered,
  segments: [] as MemorySegment[],
  termIds: createTermIds(),
  reading: null as Promise<void> | null,
})

/**
 * Drops the segments whose articles are all stored. The last one stays, because it may still grow.
 */
function dropStored(state: State, covered: bigint): void {
  while (state.segments.length > 1) {
    const end = state.segments[0]!.documents.at(-1)!.seq
    if (end > covered) return
    state.segments.shift()
    state.from = end
  }
}

/** How many articles one read asks for. They are few, because some articles are megabytes long. */
const ARTICLES_PER_READ = 64n

async function addAll(state: State, articles: UnflushedArticle[], sizes: MemorySizes): Promise<void> {
  const pace = createPace()
  for (const { source, words } of articles) {
    segmentFor(state, source.seq, sizes).add(source, words.title, words.body)
    state.last = source.seq
    // A single article of megabytes may take longer than its turn.
    if (pace.isDue()) await pace.rest()
  }
}

/**
 * The in-memory segment for an article. It ends at a `seq` where a stored segment may end, too, so
 * that a flush replaces whole ones.
 */
function segmentFor(state: State, seq: bigint, sizes: MemorySizes): MemorySegment {
  const blockOf = (one: bigint) => (one - 1n) / sizes.segment
  const last = state.segments.at(-1)
  if (last !== undefined && blockOf(last.documents.at(-1)!.seq) === blockOf(seq)) return last
  // Ids are never freed one by one. When there are many, later segments get a fresh set of ids.
  if (state.termIds.words > sizes.words) state.termIds = createTermIds()
  const next = createMemorySegment(state.termIds)
  state.segments.push(next)
  return next
}
