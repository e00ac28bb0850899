import { createPace, eachIn } from '../pace.ts'
import type { ArticleSource, StoredArticle, UnflushedArticle } from '../store/article-source.ts'
import { SegmentsChanged } from '../store/segment-store.ts'
import {
  createMemorySegment,
  createTermIds,
  type MemorySegment,
  type TermIds,
} from './memory-segment.ts'

export interface MemorySizes {
  /**
   * How many articles an in-memory segment has. The size of a flushed segment is a multiple of it,
   * so a flush replaces whole in-memory segments.
   */
  segment: bigint
  /**
   * When the ids of one set stand for more words than this, the next in-memory segment gets a new
   * set.
   */
  words: number
}

export const MEMORY_SIZES: MemorySizes = { segment: 4_096n, words: 400_000 }

/** The articles that this process has read: those after `from` up to `last`. */
interface State {
  /** The version of the words in memory. When `reindex` changes words, they are read again. */
  wordsVersion: bigint
  from: bigint
  last: bigint
  segments: MemorySegment[]
  termIds: TermIds
  reading: Promise<void> | null
}

export interface MemoryIndex {
  /**
   * Returns in-memory segments with the articles after `covered` up to `last`. They may hold
   * other articles too. It reads articles that are not in memory, and searches that come
   * meanwhile wait for the same read. It drops segments whose articles all have a stored segment.
   *
   * @throws SegmentsChanged another search knows a later state of the index
   */
  upTo(
    options: { covered: bigint; last: bigint; wordsVersion: bigint },
    sizes?: MemorySizes,
  ): Promise<readonly MemorySegment[]>
}

/**
 * The articles that have no stored segment yet, in in-memory segments.
 *
 * @param keep takes in articles as they will be shown, so that no page has to read them again
 */
export function createMemoryIndex(
  source: ArticleSource,
  keep: (articles: StoredArticle[], wordsVersion: bigint) => Promise<void>,
): MemoryIndex {
  let state: State | null = null

  async function readMore(own: State, last: bigint, sizes: MemorySizes): Promise<void> {
    const to = own.last + ARTICLES_PER_READ < last ? own.last + ARTICLES_PER_READ : last
    const articles = await source.readNew(own.last, to, own.wordsVersion)
    // If `keep` fails, pages read these articles again.
    const stored = articles.map(article => article.stored)
    const kept = keep(stored, own.wordsVersion).catch(() => {})
    try {
      await addAll(own, articles, sizes)
    } catch (error) {
      // After a half-added article, all later articles would be wrong. So the next search reads all
      // articles again.
      if (state === own) state = null
      throw error
    }
    await kept
    own.last = to
  }

  return {
    async upTo({ covered, last, wordsVersion }, sizes = MEMORY_SIZES) {
      if (state !== null && wordsVersion < state.wordsVersion)
        throw new SegmentsChanged('words were indexed anew')
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
  }
}

const emptyState = (covered: bigint, wordsVersion: bigint): State => ({
  wordsVersion,
  from: covered,
  last: covered,
  segments: [] as MemorySegment[],
  termIds: createTermIds(),
  reading: null as Promise<void> | null,
})

/**
 * Drops in-memory segments whose articles all have a stored segment. The last in-memory segment
 * stays, because it may still grow.
 */
function dropStored(state: State, covered: bigint): void {
  while (state.segments.length > 1) {
    const end = state.segments[0]!.documents.at(-1)!.seq
    if (end > covered) return
    state.segments.shift()
    state.from = end
  }
}

/**
 * How many articles one statement reads. The number is small, because some articles are megabytes
 * long.
 */
const ARTICLES_PER_READ = 64n

async function addAll(
  state: State,
  articles: UnflushedArticle[],
  sizes: MemorySizes,
): Promise<void> {
  // One article of megabytes may take longer than a turn.
  await eachIn(createPace(), articles, ({ source, words }) => {
    segmentFor(state, source.seq, sizes).add(source, words.title, words.body)
    state.last = source.seq
  })
}

/**
 * The in-memory segment for an article. It ends at a `seq` where a stored segment may also end, so
 * that a flush replaces whole in-memory segments.
 */
function segmentFor(state: State, seq: bigint, sizes: MemorySizes): MemorySegment {
  const blockOf = (one: bigint) => (one - 1n) / sizes.segment
  const last = state.segments.at(-1)
  if (last !== undefined && blockOf(last.documents.at(-1)!.seq) === blockOf(seq)) return last
  // Single ids are never freed. When there are many, later segments get a fresh set of ids.
  if (state.termIds.words > sizes.words) state.termIds = createTermIds()
  const next = createMemorySegment(state.termIds)
  state.segments.push(next)
  return next
}
