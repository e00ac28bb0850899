import {
  type ArticleFilter,
  type ArticleRow,
  createPace,
  type IndexState,
  type KeptArticle,
  type Pace,
} from '#search/index'
import type { Country } from '#shared/articles/article'
import type { SameEvent } from '#shared/embeddings/models'
import type { NearArticle } from '#shared/vectors/store'

/**
 * One valid search by meaning, with its plan applied. All but `state` is the same for all pages of
 * a sequence.
 */
export interface SemanticQuery extends ArticleFilter {
  /** `q`, NFC-normalised and trimmed, 2 to 191 code points. */
  text: string
  /**
   * All of the plan's countries, even when the request names fewer (`countries`). Together with
   * `reach.historyStart` they bound the candidates (decision 26). The filters apply afterwards.
   */
  planCountries: Country[]
  sort: 'relevance' | 'published_at' | 'ingested_at'
  order: 'asc' | 'desc'
  /** 1 to 100 */
  perPage: number
  /** The lowest relevance that counts; absent: all count. */
  least?: number
  /** The state of the index, when the caller has just read it. */
  state?: IndexState | undefined
}

/** The parts of a query that determine its candidates (decision 26). */
export type SemanticQuestion = Pick<SemanticQuery, 'text' | 'planCountries' | 'reach'>

/** The place of a sequence after a page: everything that the next page needs beside the query. */
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
  /** Exact, and the same on every page of a sequence. */
  total: number
  /** null on the last page. */
  next: SemanticPosition | null
}

/** A question for the neighbours of an article, and the reach of the plan. */
export interface AroundQuery {
  seq: bigint
  id: string
  /** ms since 1970 */
  at: number
  countries: Country[]
  since: Date
}

export interface Around {
  /** Best first. */
  near: NearArticle[]
  /** How close articles about the same event are, by the model of their vectors. */
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
 * Waits for permits for the parts of a search. Each part takes one permit and returns it before the
 * next part, so searches cannot deadlock.
 */
export interface SearchPermits {
  /** Aborts when the caller leaves. */
  leaves: AbortSignal
  /** Statements in Postgres, and work in memory. */
  statements<T>(work: (pace: Pace) => Promise<T>): Promise<T>
  /** The model and the vector store, which hold no connection to Postgres. */
  question<T>(work: () => Promise<T>): Promise<T>
}

/** Permits for callers who never wait. */
export const NO_PERMITS: SearchPermits = {
  leaves: new AbortController().signal,
  statements: work => work(createPace()),
  question: work => work(),
}

/** Semantic search for the API; `openSemanticSearch` makes it. */
export interface SemanticSearch<A extends KeptArticle = ArticleRow> {
  /**
   * Finds the page after `position`, or the first page. For the first page it uses the set of the
   * last five minutes, or makes a new one.
   *
   * @throws SemanticUnavailable; `createNearest` says after how long
   * @throws SetExpired when the set of `position` is older than ten minutes
   */
  search(
    query: SemanticQuery,
    position: SemanticPosition | null,
    permits?: SearchPermits,
  ): Promise<SemanticPage<A>>
  /**
   * All candidates of a search. The request's filters are not applied yet.
   *
   * @param least the lowest relevance; candidates below it are left out
   * @throws SemanticUnavailable; `createNearest` says after how long
   */
  candidates(question: SemanticQuestion, least: number, permits?: SearchPermits): Promise<bigint[]>
  /**
   * The nearest articles to an article, from some days around it; null: the article has no vector.
   *
   * @throws SemanticUnavailable within two seconds
   */
  around(query: AroundQuery): Promise<Around | null>
  /** For `/readyz`: which of `model` and `vectors` does not answer, and why; within a second. */
  missing(): Promise<Record<string, string>>
  close(): Promise<void>
}
