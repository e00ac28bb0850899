import type { KeptArticle } from '../cache/article-form.ts'
import type { SegmentCache } from '../cache/segment-cache.ts'
import type { StoredArticles } from '../cache/stored-articles.ts'
import type { MemoryIndex, MemorySizes } from '../memory/memory-index.ts'
import type { NameLists } from '../names/name-lists.ts'
import type { ArchiveMeta } from '../store/archive-store.ts'
import type { ArticleSource, KnownDays } from '../store/article-source.ts'
import type { IndexMeta, SegmentStore } from '../store/segment-store.ts'
import type { SearchPlan } from './plan.ts'
import type { StoredPart } from './stored-part.ts'
import type { Visit } from './visit.ts'

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
  /**
   * The archive as a part of a search; null: there is none.
   */
  archive: ((meta: StoredMeta, plan: SearchPlan, visit: Visit) => StoredPart) | null
  /** The stored parts of a version. */
  metaOf(version: bigint): Promise<StoredMeta>
  /** The days of all articles up to `lastSeq`. */
  daysUpTo(lastSeq: bigint): Promise<KnownDays>
}
