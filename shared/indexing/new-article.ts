import type { ArticleOutlet, Country, Language } from '../articles/article.ts'
import type { PreparedText } from './text.ts'

/**
 * An article on its way into the index: everything that the normaliser or `import` knows of it.
 * `addresses` are all keys under which the same article may be met again (see
 * `shared/articles/address.ts`); the first is its own.
 */
export interface NewArticle {
  /** Kept when it is free; derived from the outlet and the first address otherwise. */
  id?: string
  url: string
  addresses: string[]
  title: string
  /** Plain text, paragraphs separated by a blank line; null when none was captured. */
  body: string | null
  publishedAt: Date | null
  /**
   * Absent: stamped with the time of visibility. A date or null: an archive's own (decision 23).
   */
  ingestedAt?: Date | null
  authors: string[]
  outlet: ArticleOutlet
  language: Language
  country: Country
  /** Its text as the index holds it, where a thread has made that beforehand. */
  prepared?: PreparedText
  /** Number of the page it was made of; absent: it came with an archive. */
  pageNo?: bigint
}

/** What became of a `NewArticle`: a new row, or one that was known already and stays as it is. */
export type Indexed = { outcome: 'indexed'; seq: bigint; id: string } | { outcome: 'known'; id: string }
