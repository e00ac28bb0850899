// The shapes that the API takes and returns. The OpenAPI document also states them. Fields may be
// added within /v1. Operations beside the contract are under /explore, and are no part of /v1.
//
// This file has only types, because the package ships it unchanged. The build makes the types of
// the Python client from it (clients/python-types.ts).

export type Language = 'nl' | 'fr' | 'de' | 'lb' | 'en'
export type Country = 'NL' | 'BE' | 'LU'
export type Kind = 'news' | 'opinion' | 'live' | 'analysis' | 'review'
export type Access = 'free' | 'paid'
export type By =
  | 'hour'
  | 'day'
  | 'week'
  | 'month'
  | 'outlet'
  | 'language'
  | 'country'
  | 'section'
  | 'kind'
  | 'access'
export type Then = 'outlet' | 'language' | 'country'

/** In Python a `float`; each other `number` is an `int` there. */
type Fraction = number

/** A page of `/explore/articles` has these fields, and one of `/v1/articles` does not. */
export interface Hinted {
  /** The expression with AND and OR in place of words that people write for them. */
  did_you_mean?: string
}

export interface Page extends Hinted {
  status: 'ok'
  /** Articles in the whole result set. Counted to 10,000; exact in semantic search. */
  total_results: number
  /** Present when counting stopped at 10,000. */
  total_results_is_estimate?: true
  /** Send it as `cursor` for the next page; null on the last page. */
  next_cursor: string | null
  articles: Article[]
}

/** What an outlet says of an article. Absent: it does not say. Only `/explore/articles` has it. */
export interface Stated {
  /** The outlet's own word. */
  section?: string
  kind?: Kind
  access?: Access
}

export interface Article extends Stated {
  /** Stable; use it to tell articles apart across requests. Opaque. */
  id: string
  /** Headline. */
  title: string
  /** Address of the article at the outlet. */
  url: string
  /** First 200 characters of the text, without markup; null when no text was captured. */
  snippet: string | null
  /** Time of publication, UTC. */
  published_at: string | null
  /**
   * Time the article entered the index, UTC. It grows in the order in which articles become
   * visible.
   */
  ingested_at: string | null
  /** Empty when the outlet published no by-line. */
  authors: Author[]
  outlet: Outlet
  language: Language
  /** Country of the outlet, not of the subject. */
  country: Country
  /** How close the article is to `q`, to four decimals. Only in semantic search. */
  relevance?: Fraction
}

export interface Author {
  /** Stable for the same name at the same outlet. Opaque. */
  id: string
  /** The name as the outlet writes it. */
  name: string
}

export interface Outlet {
  name: string | null
  domain: string | null
}

export interface ErrorObject {
  status: 'error'
  /** Tell errors apart by this code. Further codes may be added. */
  code:
    | 'missing_token'
    | 'invalid_token'
    | 'too_many_failed_attempts'
    | 'rate_limit_exceeded'
    | 'quota_exceeded'
    | 'invalid_request'
    | 'country_not_included'
    | 'history_not_included'
    | 'semantic_search_unavailable'
    | 'service_unavailable'
    | 'not_found'
    | 'method_not_allowed'
    | 'internal_error'
  /** For people; the text may change. */
  message: string
  /** Only with `invalid_request`: the mistakes in each parameter. */
  errors?: Record<string, string[]>
}

/** Where and when the articles were published. */
export interface PlaceAndTime {
  /**
   * Country of the outlet. Repeat it, or separate values by commas. Must be covered by your plan.
   */
  country?: Country | readonly Country[] | null | undefined
  /** Part of the outlet's name or domain; case and accents don't matter. */
  outlet?: string | null | undefined
  /**
   * Published at this time or later, as `2026-11-01` or `2026-11-01T08:00:00Z`; a day means from
   * 00:00 UTC. Not before your plan's history start.
   */
  published_after?: string | Date | null | undefined
  /**
   * Published at this time or earlier, as `2026-11-30` or `2026-11-30T08:00:00Z`; a day is covered
   * to its end (UTC).
   */
  published_before?: string | Date | null | undefined
}

/** A search of the contract. Its pages have cursors. */
export interface ContractQuery extends PlaceAndTime {
  /**
   * The query. `search=semantic` requires it, with at least 2 characters; keyword and boolean
   * search list everything without it.
   */
  q?: string | null | undefined
  /**
   * `keyword`: any of the words, by their stem. `boolean`: every word as written, `"a phrase"`,
   * `-excluded`. `semantic`: by meaning, in any of the languages.
   */
  search?: 'keyword' | 'boolean' | 'semantic' | 'expression' | null | undefined
  /**
   * Where words are searched: in `title` (headlines, the default) or in `title_body` (headlines and
   * texts). Not with `search=semantic`.
   */
  search_in?: 'title' | 'title_body' | null | undefined
  /** Language of the article. Repeat it, or separate by commas. */
  language?: Language | readonly Language[] | null | undefined
  /** Only articles with (true) or without (false) a named author. */
  has_author?: boolean | null | undefined
  /** Part of an author's name as published; case and accents don't matter. */
  author?: string | null | undefined
  /**
   * Entered the index at this time or later, as `2026-11-20T08:00:00Z`; applied exactly; made for
   * polling.
   */
  ingested_after?: string | Date | null | undefined
  /**
   * The value by which articles are sorted. The default is `relevance` in semantic search, and only
   * there; otherwise it is `published_at`. `ingested_at` leaves out articles without an ingestion
   * time.
   */
  sort?: 'published_at' | 'ingested_at' | 'relevance' | null | undefined
  /**
   * `desc`: the newest or the best match comes first. Articles without a publication time come last
   * in both orders.
   */
  order?: 'asc' | 'desc' | null | undefined
  /** Articles per page. */
  per_page?: number | null | undefined
}

export interface ArticlesParameters extends ContractQuery {
  /**
   * `next_cursor` of the page before; every other parameter must stay as it was. Not for the feed.
   */
  cursor?: string | null | undefined
}

export interface CoverageFilters extends PlaceAndTime {
  /** Exact domains of outlets, at most 50. */
  outlets?: string | readonly string[] | null | undefined
}

/**
 * With what the contract does not have, or `search=expression`, the package requests
 * `/explore/articles`, which is no part of /v1.
 */
export interface ArticlesQuery extends ContractQuery, CoverageFilters {
  /** The outlet's own word, whole; case and accents don't matter. */
  section?: string | null | undefined
  /** What the outlet says that the article is. */
  kind?: Kind | readonly Kind[] | null | undefined
  /** Whether the outlet says that all may read it. */
  access?: Access | null | undefined
}

export interface ExploreParameters extends ArticlesParameters, ArticlesQuery {}

/**
 * The first and the last moment of a time. To find its articles, send them as `published_after` and
 * `published_before`.
 */
export interface Bounds {
  from?: string
  to?: string
}

/** A bucket. It has bounds when `by` is a unit of time. */
export interface Count extends Bounds {
  key: string
  count: number
  /** The outlet of this bucket, when `by` is `outlet`. */
  outlet?: Outlet
  /** With `then`: the articles of this bucket, counted again by the second property. */
  parts?: Parts
}

export interface Parts {
  data: Count[]
  /** How many articles of the bucket are in parts that `data` does not list. */
  other: number
}

/** The answer of `/explore/counts`, which is beside the contract. Fields may be added. */
export interface Counts {
  status: 'ok'
  by: By
  then?: Then
  /** The zone of the buckets; only with counts by time. */
  time_zone?: string
  /** Only with `texts`: all numbers here count texts, not articles. */
  texts?: true
  /** Exact number of articles that the search finds. */
  total: number
  data: Count[]
  /** How many articles are in buckets that `data` does not list. */
  other: number
  /** Articles without a time of publication. */
  undated: number
  /** Only by section, kind and access: articles of which the outlet does not say it. */
  unsaid?: number
  /** Only with `search=semantic`: what can be found by meaning so far, and what is close. */
  meaning?: Meaning
}

/** What a search by meaning can find, and has found. */
export interface Meaning {
  /** Articles of the plan's reach that have a vector, and all of them. */
  found: number
  of: number
  /** The time of the earliest article that waits for its vector; null: none waits. */
  waiting_from: string | null
  /** Articles of less relevance may be about something else; null: not measured. */
  near: Fraction | null
  /** Only with `close`: how many are close; null: `near` was not measured. */
  close?: number | null
  /** Only with `close`: the same in a sentence. */
  note?: string
}

/**
 * The copies of one article, from `/explore/copies`, which is beside the contract. Fields may be
 * added.
 */
export interface Copies {
  id: string
  /**
   * The article of the group that was ingested first. null (also in `copies` and `own_words`):
   * unknown.
   */
  first: string | null
  agencies: string[]
  copies: Copy[] | null
  /** How many words stand in no run of five words that one of `copies` also has. */
  own_words: number | null
}

export interface Copy {
  article: Article
  /**
   * The share of the shorter text that it has in common with the first article, to four decimals;
   * null: the texts were not compared.
   */
  shared: Fraction | null
}

/**
 * An article on the same event, from `/explore/related`, which is beside the contract. Fields may
 * be added.
 */
export interface Related {
  article: Article
  /**
   * Whole days from the publication of the requested article to the publication of `article`.
   * Negative: `article` is earlier.
   */
  days: number
}

/** Words that have a part, from `/explore/words`, which is beside the contract. */
export interface Words {
  part: string
  /** The number of all such words; `data` has the 100 with the most articles. */
  total: number
  data: WordCount[]
}

export interface WordCount {
  word: string
  count: number
}

/** How much of a day, or of an outlet, Perscope has. We may add fields. */
export interface CoverageRow {
  day?: string
  outlet?: Outlet
  /** Addresses that the outlets named. */
  named: number
  indexed: number
  lost: number
  waiting: number
  /** Null: nothing says how many there are. */
  share: Fraction | null
  gap: boolean
}

/** How much is here of what outlets named, from `/explore/coverage`. Fields may be added. */
export interface Coverage {
  by: 'day' | 'outlet'
  data: CoverageRow[]
}

/** Articles that were taken out, from `/explore/removals`, which is beside the contract. */
export interface Removals {
  data: Removal[]
  /** Send it as `after` next time. */
  last: number
  /** There are further removals after `last`. */
  more: boolean
}

export interface Removal {
  number: number
  id: string
  removed_at: string
}

/** Outlets with a name, from `/explore/outlet-sets`. Fields may be added. */
export interface OutletSet {
  name: string
  domains: string[]
  /** The same outlets with their names; null: `unknown`, or without a name. */
  outlets: Outlet[]
  /** Domains that no outlet with articles of the plan has. */
  unknown: string[]
}

/** A search that the key keeps. It is beside the contract; fields may be added. */
export interface KeptSearch {
  id: string
  name: string
  /** The search as a query string. */
  search: string
  /** The place of the search in the list. Some places may be unused. */
  position: number
  created_at: string
  feed: KeptFeed | null
  alert: Alert | null
}

export interface KeptFeed {
  id: string
  created_at: string
  last_used_at: string | null
  requests: number
}

/** Where a kept search reports new articles, and when. */
export interface AlertTerms {
  /** `https://…` or `mailto:…` */
  to: string
  /** `at once`, a local time as `08:00`, or a day and a time as `monday 08:00`. */
  when: string
  /** IANA name; UTC by default. */
  time_zone?: string | undefined
  /** Of mails; `en` by default. */
  language?: Language | undefined
  /**
   * Only articles that were published so many days before they came, or without a date. All by
   * default.
   */
  published_within_days?: number | null | undefined
}

export interface Alert extends AlertTerms {
  time_zone: string
  /** `asked`: the owner of the mail address has not agreed yet. */
  state: 'on' | 'asked' | 'rests'
  /** Why the alert rests, or the last failure. */
  reason: string | null
  created_at: string
  delivered_at: string | null
  /** The secret that signs a webhook. Only the answer has it in which the alert is set. */
  secret?: string
}

/** The body of a webhook. It is beside the contract; fields may be added. */
export interface AlertMessage {
  /** Stays the same when the message is sent again. */
  id: string
  /** `removed`: articles that the alert told in the last seven days were taken out. */
  type: 'articles' | 'test' | 'removed'
  search: ToldSearch
  articles: Article[]
  /** How many articles more there are. */
  more: number
  /** Of the type `removed` alone. Delete what you keep of them. */
  removals?: Removal[]
}

export interface ToldSearch {
  id: string
  name: string
}

/** The addresses of a feed. */
export interface GivenFeed {
  url: string
  urls: FeedUrls
}

export interface FeedUrls {
  rss: string
  atom: string
  json: string
}

/** A search with its result, at a permanent address. */
export interface Citation {
  /** `/cite/`, followed by `digest`. */
  address: string
  url: string
  digest: string
  search: string
  count: number
  cited_at: string
  as_of: string
  reach: Reach
  ids_only: boolean
}

export interface Reach {
  countries: Country[]
  since: string
}

/** The number of new articles of a kept search. */
export interface WhatIsNew {
  id: string
  /** Exact up to 999. */
  new: number
  more: boolean
  /** How many texts they are: several articles may share most of theirs. */
  texts: number
  /** The time of the mark that was sent; null: none was. */
  since: string | null
  /** Store it once the articles have been seen. */
  mark: string
}
