import type { KeptArticle } from '../cache/article-form.ts'
import type { SegmentCache } from '../cache/segment-cache.ts'
import type { StoredArticles } from '../cache/stored-articles.ts'
import type { MemoryIndex, MemorySizes } from '../memory/memory-index.ts'
import type { NameLists } from '../names/name-lists.ts'
import type { ArticleSource, KnownDays } from '../store/article-source.ts'
import type { IndexMeta, SegmentStore } from '../store/segment-store.ts'

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

/** The parts of an opened index. */
export interface IndexParts<A extends KeptArticle = KeptArticle> {
  segments: SegmentStore
  source: ArticleSource
  cache: SegmentCache
  memory: MemoryIndex
  stored: StoredArticles<A>
  names: NameLists
  /** The segments of a version. */
  metaOf(version: bigint): Promise<IndexMeta>
  /** The days of all articles up to `lastSeq`. */
  daysUpTo(lastSeq: bigint): Promise<KnownDays>
}
