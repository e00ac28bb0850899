import type { ArticleOutlet, Country, Language } from '../articles/article.ts'
import type { EncodedText } from './encoded-text.ts'
import type { PreparedText } from './text.ts'

/**
 * An article that is to be indexed, as the normaliser or `import` knows it. `addresses` are the
 * keys of all its addresses (`shared/articles/address.ts`); the first is its own.
 */
export interface NewArticle {
  /** Used when it is free. Otherwise an id is derived from the outlet and the first address. */
  id?: string
  url: string
  addresses: string[]
  title: string
  /** Plain text, paragraphs separated by a blank line; null when none was captured. */
  body: string | null
  publishedAt: Date | null
  /** Absent: the time of visibility. A date or null: the value in an archive (decision 23). */
  ingestedAt?: Date | null
  authors: string[]
  outlet: ArticleOutlet
  language: Language
  country: Country
  /**
   * Its text as the index stores it, when a thread has prepared it. `title` and `body` are then not
   * looked at.
   */
  prepared?: PreparedText | EncodedText
  /** Number of its page; absent for an article from an archive. */
  pageNo?: bigint
}

/** The result for a `NewArticle`: a new row, or a known row that stays as it is. */
export type Indexed = { outcome: 'indexed'; seq: bigint; id: string } | { outcome: 'known'; id: string }
