import type { Stated } from '../terms.ts'
import type { ArticleOutlet, Country, Language } from '../vocabulary.ts'
import type { ArticleFilter, Axis } from './filters.ts'
import type { Match } from './parse.ts'

/** One validated search with its plan applied. It is the same on all pages of a sequence. */
export interface ArticleQuery extends ArticleFilter {
  match: Match
  searchIn: 'title' | 'title_body'
  sort: Axis
  order: 'asc' | 'desc'
  /** 1 to 100 */
  perPage: number
}

/** The end of a page in its sequence: all that the next page needs besides the query. */
export interface Position {
  /** Articles with a higher `seq` are not part of the result set (decision 22). */
  watermark: bigint
  total: number
  estimate: boolean
  /** The number of the last removal when `total` was counted; absent: there was none. */
  removals?: number
  /**
   * The last article of the page: its sort value (ms since 1970; null sorts last), its score, its
   * id.
   */
  last: { value: number | null; score: number; id: string }
}

/**
 * An article with all fields that are shown. A cache may keep the object, so no code may change it.
 */
export interface ArticleRow extends Readonly<Stated> {
  readonly seq: bigint
  readonly id: string
  readonly title: string
  readonly url: string
  readonly snippet: string | null
  readonly publishedAt: Date | null
  readonly ingestedAt: Date | null
  readonly authors: readonly { id: string; name: string }[]
  readonly outlet: ArticleOutlet
  readonly language: Language
  readonly country: Country
}

export interface SearchPage<A = ArticleRow> {
  rows: A[]
  /**
   * Matches, counted up to 10,000. `estimate` is true when the count stopped there (decision 25).
   * Both are the same on every page of a sequence.
   */
  total: number
  estimate: boolean
  /** null on the last page of the sequence. */
  next: Position | null
}
