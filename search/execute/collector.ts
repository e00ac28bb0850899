import { COUNTRIES } from '../../shared/articles/article.ts'
import type { ArticleQuery, Position } from '../query/article-query.ts'
import type { Axis, DocValues } from '../query/filters.ts'
import { grown } from '../segment/arrays.ts'
import { type DocIdSet, docsOf, intersection } from '../segment/doc-id-set.ts'
import { type NameField, TERMS } from '../terms.ts'
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
  /** The same, for a part of the index that counts by itself. */
  readonly aggregation: Aggregation
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
 * The question of a collector, for a part of the index that matches and counts by itself (the
 * archive). `take` is called as often as there are answers, each of other articles.
 */
export type Aggregation =
  /** The first matches in order after the page before, with their ids and scores. */
  | { kind: 'first'; page: PageOrder; take(hits: Hit[]): void }
  /** The number of matches; counted up to `limit`. */
  | { kind: 'count'; limit: number; take(count: number): void }
  /** Matches by bucket of time: bucket n lasts from `starts[n]` to before `starts[n + 1]`. */
  | { kind: 'times'; axis: Axis; starts: Float64Array; take(counts: readonly number[], undated: number): void }
  /** Matches that have each of some terms of filters. */
  | { kind: 'terms'; terms: readonly string[]; take(counts: readonly number[]): void }
  /** Matches by the number of their outlet. */
  | { kind: 'outlets'; take(publisherNo: number, count: number): void }
  /** Matches by the numbers of outlets and authors, and their countries. */
  | { kind: 'names'; take(field: NameField, no: number, use: NameUse): void }

interface CountCollector extends Collector {
  readonly limit: number
  /** Number of matches so far. */
  count(): number
}

/**
 * Counts matches; the search may stop when the limit is reached.
 * @param limit 0: no count is needed
 */
export function createCountCollector(limit: number): CountCollector {
  let count = 0
  return {
    limit,
    count: () => count,
    collect(matches) {
      count += matches.count
    },
    aggregation: {
      kind: 'count',
      limit,
      take(found) {
        count += found
      },
    },
    isComplete: () => count >= limit,
  }
}

/** The uses of outlets or authors by number. */
export interface NameUses {
  of(no: number): NameUse
  /** No number from here on has articles. */
  end(): number
}

export type NameCounter = Collector & Record<NameField, NameUses>

const COUNTRY_TERMS = COUNTRIES.map(country => TERMS.country(country))

/** Counts the matches of every outlet and author. */
export function createNameCounter(): NameCounter {
  const outlets = createUses()
  const authors = createUses()
  return {
    terms: COUNTRY_TERMS,
    outlet: outlets,
    author: authors,
    aggregation: {
      kind: 'names',
      take: (field, no, use) => (field === 'outlet' ? outlets : authors).addUse(no, use),
    },
    isComplete: () => false,
    collect(matches, segment) {
      const isWhole = matches.count === matches.size
      COUNTRY_TERMS.forEach((term, index) => {
        let minute = 0
        const addAuthor = (no: number) => authors.add(no, index, minute)
        const list = segment.list(term)
        const docs = docsOf(isWhole ? list : intersection(matches, list))
        for (let at = 0; at < docs.length; at++) {
          const doc = docs[at]!
          const published = segment.published[doc]!
          minute = minuteOf(Number.isNaN(published) ? segment.ingested[doc]! : published)
          outlets.add(segment.values.publisherNo(doc), index, minute)
          segment.values.eachAuthor(doc, addAuthor)
        }
      })
    },
  }
}

/** Numbers from here on are not counted, which bounds the memory. */
const MOST_NUMBERS = 1 << 24

function createUses() {
  let articles = new Uint32Array(1 << 10)
  let countries = new Uint8Array(1 << 10)
  /** By number and country; without articles of the country the value means nothing. */
  let newest = new Int32Array(COUNTRIES.length << 10)
  const hasRoom = (no: number): boolean => {
    if (no < articles.length) return true
    if (no >= MOST_NUMBERS) return false
    const size = 2 ** Math.ceil(Math.log2(no + 1))
    articles = grown(articles, new Uint32Array(size))
    countries = grown(countries, new Uint8Array(size))
    newest = grown(newest, new Int32Array(size * COUNTRIES.length))
    return true
  }
  const addNewest = (no: number, country: number, minute: number) => {
    const at = no * COUNTRIES.length + country
    const isFirst = (countries[no]! & (1 << country)) === 0
    if (isFirst || minute > newest[at]!) newest[at] = minute
    countries[no]! |= 1 << country
  }
  return {
    add(no: number, country: number, minute: number) {
      if (!hasRoom(no)) return
      articles[no]! += 1
      addNewest(no, country, minute)
    },
    addUse(no: number, use: NameUse) {
      if (!hasRoom(no)) return
      articles[no]! += use.articles
      use.newest.forEach((minute, country) => {
        if ((use.countries & (1 << country)) !== 0) addNewest(no, country, minute)
      })
    },
    of: (no: number): NameUse => ({
      articles: articles[no] ?? 0,
      countries: countries[no] ?? 0,
      newest: Array.from(newest.subarray(no * COUNTRIES.length, (no + 1) * COUNTRIES.length)),
    }),
    end: () => articles.length,
  }
}

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

const MINUTE = 60_000

/** @param ms NaN: not known; before all others then */
export const minuteOf = (ms: number): number => (Number.isNaN(ms) ? -(2 ** 31) : Math.floor(ms / MINUTE))

/** The first whole minute that begins at this time or later. */
export const minuteFrom = (ms: number): number => Math.ceil(ms / MINUTE)
