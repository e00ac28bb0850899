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
   * Documents below this number stand in order of publication, and the others have no date; null:
   * the documents stand in order of ingestion.
   */
  dated: number | null
  /** The documents with a term, which must be one of the collector's `terms`. */
  list(term: string): DocIdSet
}

/** A segment, in memory or stored, as collectors see it. */
export interface SegmentReader extends DocReader {
  /**
   * The first sort value of its matches, in the order of the search. Segments come in this order.
   * ±Infinity: it only has matches without a value. null: its matches may have any sort value.
   */
  startsAt: number | null
  seqOf(doc: number): bigint
  /**
   * By document: its `seq` minus the lowest `seq` of the segment; null: documents stand in order of
   * `seq`.
   */
  offsets: Uint16Array | null
  /** The id of an article; null: the id is not in memory. */
  idOf(doc: number): string | null
  addressOf(doc: number): DocAddress
}

/**
 * Takes in the matches of each segment (Lucene, tantivy: Collector). Only collectors decide
 * what happens to matches, so a new count or a new order is a new collector.
 */
export interface Collector {
  /** Terms whose posting lists the collector reads in each segment; absent: none. */
  readonly terms?: readonly string[]
  /** The question to a part of the index that matches and counts by itself. */
  readonly question: Question
  /** @param matches a set with at least one document */
  collect(matches: DocIdSet, segment: SegmentReader): void
  /**
   * Whether the remaining segments cannot change the result, so that the search may stop early.
   *
   * @param next `startsAt` of the next segment
   */
  isComplete(next: number): boolean
}

/** Order and position of a page. Both decide which matches stand on the page. */
export interface PageOrder {
  sort: ArticleQuery['sort']
  order: ArticleQuery['order']
  /** null: the first page. */
  position: Position | null
  /** How many matches the page needs after the last article of the page before. */
  wanted: number
  /** Whether scores decide among matches with equal sort values. */
  scored: boolean
}

/**
 * A question to a part of the index that matches and counts by itself. The part may answer several
 * times, each time about different articles. Each answer calls `take`.
 */
export type Question =
  /** The first matches in order after the page before, with their ids and scores. */
  | { kind: 'first'; page: PageOrder; take(hits: Hit[]): void }
  /** The number of matches; counted up to `limit`. */
  | { kind: 'count'; limit: number; take(count: number): void }
  /** Matches by bucket of time: bucket n lasts from `starts[n]` to before `starts[n + 1]`. */
  | {
      kind: 'times'
      axis: Axis
      starts: Float64Array
      take(counts: readonly number[], undated: number): void
    }
  /** How many matches have each of the terms, and how many there are. All are terms of filters. */
  | {
      kind: 'terms'
      terms: readonly string[]
      take(counts: readonly number[], total: number): void
    }
  /** Matches, with each text counted once (`breakdown.ts`). Only segments can answer this. */
  | { kind: 'texts' }
  /** Matches by their section. Only segments can answer this. */
  | { kind: 'sections' }
  /** Matches by the number of their outlet. */
  | { kind: 'outlets'; take(publisherNo: number, count: number): void }
  /** Matches by the numbers of outlets and authors, and their countries. */
  | { kind: 'names'; take(field: NameField, no: number, use: NameUse): void }

/** How many articles an outlet or author has, and the countries of these articles. */
export interface NameUse {
  articles: number
  /** Bit n: the country `COUNTRIES[n]`. */
  countries: number
  /**
   * By country: the time of the newest article in minutes since 1970, rounded down. The time of an
   * article is its date of publication, or else its time of ingestion, as in the history of a plan.
   */
  newest: readonly number[]
}

/** How many matches have a word. */
export interface WordCount {
  word: string
  count: number
}

export const MINUTE = 60_000

/** @param ms NaN: not known; the result is then lower than every other time */
export const minuteOf = (ms: number): number =>
  Number.isNaN(ms) ? -(2 ** 31) : Math.floor(ms / MINUTE)
