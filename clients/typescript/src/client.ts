// What a program does with the client. This file has only types, because the package ships it
// unchanged.

import type {
  Alert,
  AlertTerms,
  Article,
  ArticlesQuery,
  By,
  Citation,
  Copies,
  Counts,
  Coverage,
  CoverageFilters,
  ErrorObject,
  ExploreParameters,
  GivenFeed,
  KeptSearch,
  OutletSet,
  Page,
  Related,
  Removals,
  Then,
  WhatIsNew,
  Words,
} from './contract.js'

export type WordsQuery = Omit<ArticlesQuery, 'q' | 'search' | 'sort' | 'order' | 'per_page'>

/** A search, and the property by which its articles are counted. */
export interface CountsQuery extends Omit<ArticlesQuery, 'order' | 'per_page'> {
  by: By
  /** Also counts the articles of each bucket by this property; see `parts` of `Count`. */
  then?: Then | undefined
  /**
   * Counts each text once: of several copies that the search finds, the one that was ingested
   * first.
   */
  texts?: boolean | undefined
  /** With `search=semantic`: counts only what is close in meaning, or all where nothing is. */
  close?: boolean | undefined
  /** IANA name of the zone in which hours, days, weeks and months begin; UTC by default. */
  time_zone?: string | undefined
}

export interface CoverageQuery extends CoverageFilters {
  /** Days unless it says otherwise. */
  by?: 'day' | 'outlet' | undefined
}

/** A client of one API with one key. All methods throw `PerscopeError`s, or the signal's reason. */
export interface Client {
  /** One page; `cursor` is the `next_cursor` of the page before. */
  search(query?: ExploreParameters): Promise<Page>
  /** All pages of a search, in order, one request each. */
  pages(query?: ArticlesQuery, options?: IterationOptions): AsyncGenerator<Page, void, undefined>
  /** The articles of all pages. */
  articles(
    query?: ArticlesQuery,
    options?: IterationOptions,
  ): AsyncGenerator<Article, void, undefined>
  /** Articles as they become visible, each once; see `PollBatch`. */
  poll(query?: PollQuery, options?: PollOptions): AsyncGenerator<PollBatch, void, undefined>
  /** How many articles a search finds, by time or by a property. */
  counts(query: CountsQuery): Promise<Counts>
  /** The copies of the articles of a page, or of one article. */
  copies(query: ExploreParameters | { id: string }): Promise<Copies[]>
  /**
   * Articles on the same event as the article `id`. Articles in other languages come first. Null:
   * the article `id` has no vector yet.
   */
  related(id: string): Promise<Related[] | null>
  /** The words for which a part of words, as `trein*`, stands in an expression. */
  words(part: string, query?: WordsQuery): Promise<Words>
  /** How much is here of what outlets named. */
  coverage(query?: CoverageQuery): Promise<Coverage>
  /** Articles that were taken out after the removal `after`. Delete what you keep of them. */
  removals(after?: number): Promise<Removals>
  /** The searches that the key keeps, in their order. */
  searches(): Promise<KeptSearch[]>
  /** Keeps a search. */
  keepSearch(search: { search: string; name?: string | undefined }): Promise<KeptSearch>
  /** Changes the given properties of a kept search. Its feed keeps its address. */
  changeSearch(
    id: string,
    change: Partial<Pick<KeptSearch, 'name' | 'search' | 'position'>>,
  ): Promise<KeptSearch>
  removeSearch(id: string): Promise<void>
  /** The sets of outlets of the key. `outlets` takes their names in place of domains. */
  outletSets(): Promise<OutletSet[]>
  /** Names some outlets, or changes the outlets of a name. */
  putOutletSet(name: string, domains: readonly string[]): Promise<OutletSet>
  /** Gives a set another name, also in the kept searches that name it. */
  renameOutletSet(name: string, to: string): Promise<OutletSet>
  removeOutletSet(name: string): Promise<void>
  /**
   * The addresses of the feed of a kept search, which are secrets. Makes a feed if there is none.
   */
  giveFeed(id: string): Promise<GivenFeed>
  endFeed(id: string): Promise<void>
  /** Sets where a kept search reports new articles, and when. */
  setAlert(id: string, terms: AlertTerms): Promise<Alert>
  endAlert(id: string): Promise<void>
  /** Gives a search an address that always shows the same articles. */
  cite(search: string): Promise<Citation>
  /**
   * Counts the new articles of searches since the mark of each search. Send null as the first mark.
   */
  whatIsNew(marks: Readonly<Record<string, string | null>>): Promise<WhatIsNew[]>
  /** The RSS 2.0 text of a search. */
  feed(query?: ArticlesQuery): Promise<string>
  /** The counters of the last answer that had counters. */
  limits(): Limits | null
}

export interface ClientOptions {
  /** Address of the API, as `https://news.example`. */
  url: string
  key: string
  /** Longest one attempt may take, in ms; 30,000 by default. */
  timeout?: number | undefined
  /**
   * How often a request is repeated that may succeed later: when the minute is used up, after a
   * 5xx, or without an answer. 5 by default.
   */
  retries?: number | undefined
  /** ms. When a wait would be longer, the error is thrown instead. 120,000 by default. */
  longestWait?: number | undefined
  /** Aborts requests and waits. */
  signal?: AbortSignal | undefined
  /** Called before each wait. */
  onWait?(ms: number, reason: unknown): void
}

export interface IterationOptions {
  /** The most articles. After them the client requests no further page, and `articles` ends. */
  maxItems?: number | undefined
}

/** The counters of the plan, from the last answer. */
export interface Limits {
  /** How many requests a minute has, and how many are left. */
  rate: { limit: number; remaining: number }
  /** How many requests a month has, and how many are left; null for a plan without a quota. */
  quota: { limit: number; remaining: number; reset: Date; period: string } | null
}

/** A search to poll. The poll sets the order and the pages itself. */
export type PollQuery = Omit<ArticlesQuery, 'ingested_after' | 'sort' | 'order' | 'per_page'>

export interface PollOptions {
  /** The last place that an earlier poll of the same search yielded. */
  state?: PollState | null | undefined
  /** When a poll without a state begins; by default, at the start of the plan's history. */
  since?: string | Date | undefined
  /** ms between two rounds; without it there is one round. */
  every?: number | undefined
  /** Aborts the requests and waits of this poll, as the client's signal does. */
  signal?: AbortSignal | undefined
}

export interface PollBatch {
  /** Articles that no earlier batch had, oldest first; may be empty. */
  articles: Article[]
  /** Store it once the articles are processed. */
  state: PollState
}

/** The place of a poller in the articles: plain JSON, to be stored and passed to the next poll. */
export interface PollState {
  /** The search of this state. Another search needs another state. */
  query: string
  /** Latest `ingested_at` processed; null before the first article. */
  ingested_after: string | null
  /** Articles of exactly this time. They come again, because the bound is inclusive. */
  ids: string[]
  /**
   * The ETag of an answer with nothing new. Sent with the next request, it makes the answer an
   * empty 304.
   */
  etag: string | null
}

/** The content of an error answer. */
export interface ApiErrorDetails {
  status: number
  /** One of the API's codes. Tell errors apart by it; more may be added. */
  code: ErrorObject['code'] | (string & {})
  /** The mistakes by parameter; empty unless `code` is `invalid_request`. */
  errors: Readonly<Record<string, readonly string[]>>
  /** Seconds to wait, if the answer says so. */
  retryAfter: number | null
  /** Names the request in the server's logs. */
  requestId: string | null
}
