import type { ArticleOutlet, Country, Language } from '../vocabulary.ts'
import type { ArticleFilter, Axis } from './filters.ts'
import type { Match } from './parse.ts'

/** One search, validated, with its plan applied. The same on all pages of a sequence. */
export interface ArticleQuery extends ArticleFilter {
  match: Match
  searchIn: 'title' | 'title_body'
  sort: Axis
  order: 'asc' | 'desc'
  /** 1 to 100 */
  perPage: number
}

/** Where a sequence stands after a page: everything that the next page needs besides the query. */
export interface Position {
  /** Articles with a higher `seq` are not part of the set (decision 22). */
  watermark: bigint
  total: number
  estimate: boolean
  /**
   * The last article of the page: its sort value (ms since 1970; null sorts last), its score, its
   * id.
   */
  last: { value: number | null; score: number; id: string }
}

/** An article with all fields that are shown. It may be kept in memory, so nobody changes it. */
export interface ArticleRow {
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
   * Counted up to 10,000. `estimate` is true when the count stopped there (decision 25). The same
   * on every page of a sequence.
   */
  total: number
  estimate: boolean
  /** null on the page that ends the set. */
  next: Position | null
}
