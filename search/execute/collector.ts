import type { ArticleQuery, Position } from '../query/article-query.ts'
import type { Axis, DocValues } from '../query/filters.ts'
import type { DocIdSet } from '../segment/doc-id-set.ts'
import type { NameField } from '../terms.ts'
import type { DocAddress, Hit } from './plan.ts'

/** Values of some documents. */
export interface DocReader {
  /** By document, ms since 1970; NaN: none. */
  published: Float64Array
  ingested: Float64Array
  values: DocValues
  /**
   * Documents before this one stand in order of publication, and the rest has no date; null: the
   * documents stand in order of ingestion.
   */
  dated: number | null
  /** The documents with a term; only of the terms that a collector names. */
  list(term: string): DocIdSet
}

/** A segment, in memory or stored, as collectors see it. */
export interface SegmentReader extends DocReader {
  /**
   * The sort value with which its matches begin, in the order of the search; segments come in this
   * order. ±Infinity: it only has matches without a value. null: its matches may stand anywhere.
   */
  startsAt: number | null
  seqOf(doc: number): bigint
  /** By document: `seq` − the lowest of the segment; null: documents stand in order of `seq`. */
  offsets: Uint16Array | null
  /** null: not known without a read. */
  idOf(doc: number): string | null
  addressOf(doc: number): DocAddress
}

/**
 * Takes in the matches of each segment (Lucene, tantivy: Collector). Only collectors decide
 * what happens to matches, so a new count or a new order is a new collector.
 */
export interface Collector {
  /** Terms whose posting lists it reads in each segment; absent: none. */
  readonly terms?: readonly string[]
  /** The same question, for a part of the index that counts by itself. */
  readonly question: Question
  /** @param matches at least one */
  collect(matches: DocIdSet, segment: SegmentReader): void
  /**
   * Whether the remaining segments cannot change the result, so that the search may stop early.
   *
   * @param next `startsAt` of the next segment
   */
  isComplete(next: number): boolean
}

/** Order and position of a page: they decide which matches stand on it. */
export interface PageOrder {
  sort: ArticleQuery['sort']
  order: ArticleQuery['order']
  /** null: the first page. */
  position: Position | null
  /** Matches wanted after the page before. */
  wanted: number
  /** Whether scores decide among matches with equal sort values. */
  scored: boolean
}

/**
 * The question of a collector, for a part of the index that matches and counts by itself. `take` is
 * called as often as there are answers, each of other articles.
 */
export type Question =
  /** The first matches in order after the page before, with their ids and scores. */
  | { kind: 'first'; page: PageOrder; take(hits: Hit[]): void }
  /** The number of matches; counted up to `limit`. */
  | { kind: 'count'; limit: number; take(count: number): void }
  /** Matches by bucket of time: bucket n lasts from `starts[n]` to before `starts[n + 1]`. */
  | { kind: 'times'; axis: Axis; starts: Float64Array; take(counts: readonly number[], undated: number): void }
  /** Matches that have each of some terms of filters. */
  | { kind: 'terms'; terms: readonly string[]; take(counts: readonly number[]): void }
  /** Matches, each text once (`breakdown.ts`). */
  | { kind: 'texts' }
  /** Matches by the number of their outlet. */
  | { kind: 'outlets'; take(publisherNo: number, count: number): void }
  /** Matches by the numbers of outlets and authors, and their countries. */
  | { kind: 'names'; take(field: NameField, no: number, use: NameUse): void }

/** Articles of an outlet or author, and the countries that have some. */
export interface NameUse {
  articles: number
  /** Bit n: the country `COUNTRIES[n]`. */
  countries: number
  /**
   * By country: the time of the newest article in minutes since 1970, rounded down. It is the date
   * of publication, of an article without one that of ingestion, as in the history of a plan.
   */
  newest: readonly number[]
}

export const MINUTE = 60_000

/** @param ms NaN: not known; the result then sorts before all others */
export const minuteOf = (ms: number): number => (Number.isNaN(ms) ? -(2 ** 31) : Math.floor(ms / MINUTE))
