import type { ArticleFilter, ArticleRow, KeptArticle } from '../../../search/index.ts'
import type { Country } from '../../../shared/articles/article.ts'
import type { SameEvent } from '../../../shared/embeddings/models.ts'
import type { NearArticle } from '../../../shared/vectors/store.ts'

/** One search by meaning, validated, with its plan applied. The same on all pages of a sequence. */
export interface SemanticQuery extends ArticleFilter {
  /** `q`, NFC-normalised and trimmed, 2 to 191 code points. */
  text: string
  /**
   * All of the plan's countries, also when the request names fewer (`countries`). Together with
   * `reach.historyStart` they bound the candidates (decision 26). The filters apply after that.
   */
  planCountries: Country[]
  sort: 'relevance' | 'published_at' | 'ingested_at'
  order: 'asc' | 'desc'
  /** 1 to 100 */
  perPage: number
}

/** The parts of a query that decide on its candidates (decision 26). */
export type SemanticQuestion = Pick<SemanticQuery, 'text' | 'planCountries' | 'reach'>

/** Where a sequence stands after a page; everything that the next page needs besides the query. */
export interface SemanticPosition {
  /** 16 letters of base64url: the frozen candidate set (decision 28). */
  setId: string
  /**
   * The last article of the page. `value`: its relevance × 10,000, or ms since 1970; null sorts
   * last.
   */
  last: { value: number | null; id: string }
}

/** An article in the form that the index returns. */
export type SemanticRow<A extends KeptArticle = ArticleRow> = A & {
  /** Cosine similarity, 0 to 1, rounded half up to four decimals (decision 27). */
  relevance: number
}

export interface SemanticPage<A extends KeptArticle = ArticleRow> {
  rows: SemanticRow<A>[]
  /** Exact, the same on every page of a sequence. */
  total: number
  /** null on the page that ends the set. */
  next: SemanticPosition | null
}

/** An article whose neighbours are asked for, and what the plan covers. */
export interface AroundQuery {
  seq: bigint
  /** ms since 1970 */
  at: number
  countries: Country[]
  since: Date
}

export interface Around {
  /** Best first. */
  near: NearArticle[]
  /** How close articles on the same event are, with the model of their vectors. */
  same: SameEvent | null
}

/** The set that a cursor names is gone: 422 `errors.cursor: ["expired"]` (decision 28). */
export class SetExpired extends Error {
  override name = 'SetExpired'
}

/**
 * The model or the vector store does not answer: 503 `semantic_search_unavailable` (decision 29).
 */
export class SemanticUnavailable extends Error {
  override name = 'SemanticUnavailable'
}

/**
 * How a search waits for its permits. Each part of the work takes one and gives it back, never
 * inside another one, so searches cannot wait for one another in a circle.
 */
export interface SearchPermits {
  /** Statements in Postgres, and work in memory. */
  statements<T>(work: () => Promise<T>): Promise<T>
  /** The model and the vector store, which hold no connection to Postgres. */
  question<T>(work: () => Promise<T>): Promise<T>
}

/** Permits for callers who never wait. */
export const NO_PERMITS: SearchPermits = { statements: work => work(), question: work => work() }

/** Semantic search as the API uses it; `openSemanticSearch` makes it. */
export interface SemanticSearch<A extends KeptArticle = ArticleRow> {
  /**
   * Finds one page: the one after `position`, or the first one. For the first one, a set is made,
   * or the one of the last five minutes is taken.
   *
   * @throws SemanticUnavailable within two seconds, waits for permits included
   * @throws SetExpired when the set of `position` is older than ten minutes
   */
  search(query: SemanticQuery, position: SemanticPosition | null, permits?: SearchPermits): Promise<SemanticPage<A>>
  /**
   * All articles that the pages of a search are chosen from; the request's filters are not applied
   * yet.
   *
   * @throws SemanticUnavailable within two seconds, waits for permits included
   */
  candidates(question: SemanticQuestion, permits?: SearchPermits): Promise<bigint[]>
  /**
   * The articles nearest to one that has a vector, some days around it; null: it has none.
   *
   * @throws SemanticUnavailable within two seconds
   */
  around(query: AroundQuery): Promise<Around | null>
  /** For `/readyz`: which of `model` and `vectors` does not answer, and why; within a second. */
  missing(): Promise<Record<string, string>>
  close(): Promise<void>
}
