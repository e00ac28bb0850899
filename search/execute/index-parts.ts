import type { SegmentCache } from '../cache/segment-cache.ts'
import type { KeptArticle, StoredArticles } from '../cache/stored-articles.ts'
import type { MemoryIndex, MemorySizes } from '../memory/memory-index.ts'
import type { NameLists } from '../memory/name-lists.ts'
import type { ArchiveMeta } from '../store/archive-store.ts'
import type { ArticleSource, KnownDays } from '../store/article-source.ts'
import type { IndexMeta, SegmentStore } from '../store/segment-store.ts'
import type { Collector } from './collector.ts'
import type { MatchOrder, SearchPlan } from './plan.ts'

/**
 * Sizes that change how a result is found and, apart from `cap`, never the result. Tests make them
 * small.
 */
export interface SearchSizes {
  cap: number
  memory: MemorySizes
  /** Articles of the segments that a search matches first. */
  first: number
  /** Articles of the newest segments whose term dictionaries are prefetched. */
  prefetch: number
}

/**
 * All stored parts of the index at one version. `segments` are those that the archive does not
 * cover.
 */
export interface StoredMeta extends IndexMeta {
  archive: ArchiveMeta
}

/** The parts of an opened index. */
export interface IndexParts<A extends KeptArticle = KeptArticle> {
  segments: SegmentStore
  source: ArticleSource
  cache: SegmentCache
  memory: MemoryIndex
  stored: StoredArticles<A>
  names: NameLists
  archive: Archive
  /** The stored parts of a version. */
  metaOf(version: bigint): Promise<StoredMeta>
  /** The days of all articles up to `lastSeq`. */
  daysUpTo(lastSeq: bigint): Promise<KnownDays>
}

/**
 * A part of the index that is stored, ready for one search: the segments, or the archive. The parts
 * of a search have no article in common.
 */
export interface StoredPart {
  /**
   * The sort value with which its matches begin, in the order of the search; ±Infinity: it only has
   * matches without a value. null: it can have no match.
   */
  startsAt: number | null
  /** Hands its matches to collectors. Stops when every collector is complete. */
  match(collectors: readonly Collector[]): Promise<void>
}

/**
 * The archive in OpenSearch as searches use it. It finds what segments would find, because both
 * have the same terms.
 */
export interface Archive {
  /**
   * What it covers beside some segments.
   *
   * @throws ArchiveMissing when articles are in the archive alone and there is no way to it
   * @throws SegmentsChanged
   */
  readMeta(segments: Pick<IndexMeta, 'version' | 'releasedTo'>): Promise<ArchiveMeta>
  /** The articles that it covers, as a part of a search. */
  part(own: ArchiveMeta, plan: SearchPlan, order: MatchOrder): StoredPart
  close(): Promise<void>
}
