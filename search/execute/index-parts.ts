import type { SegmentCache } from '../cache/segment-cache.ts'
import type { KeptArticle, StoredArticles } from '../cache/stored-articles.ts'
import type { Lexicons } from '../memory/lexicons.ts'
import type { MemoryIndex, MemorySizes } from '../memory/memory-index.ts'
import type { NameLists } from '../memory/name-lists.ts'
import type { Pace } from '../pace.ts'
import type { ArticleSource, KnownDays } from '../store/article-source.ts'
import type { IndexMeta, SegmentStore, WaitFor } from '../store/segment-store.ts'
import type { Collector } from './collector.ts'
import type { MatchOrder, SearchPlan } from './plan.ts'
import type { RemovedArticles } from './removed.ts'

/**
 * Sizes of a search. `cap` limits the total. The others change how fast a result is found, and
 * never the result. Tests make them small.
 */
export interface SearchSizes {
  cap: number
  memory: MemorySizes
  /** How many articles a search matches first, in whole segments. */
  first: number
  /**
   * The newest segments with at most this many articles in total have their dictionaries
   * prefetched.
   */
  prefetch: number
}

/** The stored parts of the index at one version. */
export interface StoredMeta extends IndexMeta {
  /** The oldest articles, which no segment of `segments` has. */
  elsewhere: HeldElsewhere
  /** The articles that searches leave out. */
  removed: RemovedArticles
}

/** The parts of an opened index. */
export interface IndexParts<A extends KeptArticle = KeptArticle> {
  segments: SegmentStore
  source: ArticleSource
  cache: SegmentCache
  memory: MemoryIndex
  stored: StoredArticles<A>
  names: NameLists
  /** Finds the words for which wildcards stand. */
  lexicons: Lexicons
  waitFor: WaitFor
  /** Reads the stored parts of a version. */
  metaOf(version: bigint): Promise<StoredMeta>
  /** The days of all articles up to `lastSeq`. */
  daysUpTo(lastSeq: bigint): Promise<KnownDays>
}

/** The parts of an opened index for one search, which rests at its own pace. */
export type PacedParts<A extends KeptArticle = KeptArticle> = IndexParts<A> & { pace: Pace }

/**
 * A stored part of the index, ready for one search: the segments, or the archive in their place. No
 * article is in two parts of a search.
 */
export interface IndexPart {
  /**
   * The first sort value of its matches, in the order of the search; ±Infinity: it only has matches
   * without a value. null: it can have no match.
   */
  startsAt: number | null
  /** Hands its matches to collectors. Stops when every collector is complete. */
  match(collectors: readonly Collector[]): Promise<void>
}

/** The oldest articles of the index, which the archive matches and counts in place of segments. */
export interface HeldElsewhere {
  /** Articles up to this `seq` are matched here and not in segments. */
  covered: bigint
  /**
   * Makes the part for one search. The part finds the same articles as segments would, because both
   * have the same terms.
   */
  part(plan: SearchPlan, order: MatchOrder, verify: Verify): IndexPart
}

/**
 * The port of an index whose articles are all in segments.
 *
 * @param missing makes the error for a search when some articles have no segment
 */
export const nowhere = (missing: (articles: bigint) => Error): Elsewhere => ({
  async at(_version, articles) {
    if (articles > 0n) throw missing(articles)
    return { covered: 0n, part: () => ({ startsAt: null, async match() {} }) }
  },
  async close() {},
})

/**
 * A search cannot count what outlets state, or each text once: some matches are in the archive,
 * which knows neither.
 */
export class CountedElsewhere extends Error {
  override name = 'CountedElsewhere'
  readonly what: 'texts' | 'sections' | 'kinds'
  constructor(what: CountedElsewhere['what']) {
    super(`the archive counts no ${what}`)
    this.what = what
  }
}

/** Returns those articles that pass the verification of a search. */
export type Verify = (seqs: bigint[]) => Promise<bigint[]>

/** The port through which a search engine of another kind holds the oldest articles. */
export interface Elsewhere {
  /**
   * Reads which articles the other engine holds at a version of the segments.
   *
   * @param missing articles up to this `seq` have no segment; 0: all have one
   * @throws SegmentsChanged when the index has another version by now; another error when the
   *   missing articles are nowhere
   */
  at(version: bigint, missing: bigint): Promise<HeldElsewhere>
  close(): Promise<void>
}
