import { placeOf } from '../analysis/hashes.ts'
import type { MemorySegment } from '../memory/memory-segment.ts'
import type { ArticleQuery, Position } from '../query/article-query.ts'
import {
  cutToDays,
  type DocValues,
  indexFilters,
  type TimeBounds,
  timeBoundsOf,
} from '../query/filters.ts'
import { type NearWords, planMatch, type ScoringTerm } from '../query/match.ts'
import { and, type Expression, type QueryNode } from '../query/parse.ts'
import type { Columns } from '../segment/columns.ts'
import { type DocIdSet, passing, ranges, union } from '../segment/doc-id-set.ts'
import type { KnownDays } from '../store/article-source.ts'
import type { SegmentMeta } from '../store/segment-store.ts'
import { parseNameTerm } from '../terms.ts'

/*
 * Decides, before the first segment is read, everything that is the same for all segments. These
 * are the query's tree, the bounds of time and visibility, and which segments are matched in which
 * order.
 */

/** The plan of a search: the same for every segment. */
export interface SearchPlan {
  /** Words and filters; null: every article matches. */
  node: QueryNode | null
  /** The terms of `node` that stand for parts of names. */
  nameTerms: string[]
  filter: DocFilter
  verification: Expression | null
  /** What decides the price of the search; empty: it costs nothing. */
  nears: NearWords[]
  /** The words for which the wildcards of the query stand; null: it has none. */
  words: readonly string[] | null
  /** Whether it filters by what outlets state: section, kind, access. */
  isStated: boolean
  scoring: ScoringTerm[]
}

/**
 * The parts of a query that decide which articles match. The order of the matches is not among
 * them.
 */
export type Matched = Omit<ArticleQuery, 'order' | 'perPage'>

/**
 * Makes the plan of a search.
 *
 * @param publishers the numbers of the outlets that `outlets` names
 * @param watermark articles with a higher `seq` are not part of the result set
 * @param above articles up to this `seq` are not part of the result set; 0: no article is left out
 * @param wildcards the words for which each wildcard of the query stands
 * @returns null: no article can match
 */
export function planSearch(
  query: Matched,
  days: KnownDays,
  publishers: readonly number[],
  watermark: bigint,
  above = 0n,
  wildcards: ReadonlyMap<string, readonly string[]> = new Map(),
): SearchPlan | null {
  const bounds = cutToDays(timeBoundsOf(query), days)
  if (bounds === null || (query.outlets !== null && publishers.length === 0)) return null
  const { node, verification, scoring, nears } = planMatch(
    query.match,
    query.searchIn,
    query.languages,
    wildcards,
  )
  const filters = indexFilters(query, publishers)
  const clauses = [...(node === null ? [] : [node]), ...filters]
  return {
    node: clauses.length === 0 ? null : and(clauses),
    nameTerms: filters.flatMap(one =>
      one.kind === 'term' && parseNameTerm(one.term) !== null ? [one.term] : [],
    ),
    filter: { bounds, watermark, above },
    verification,
    nears: nears.map(near => ({ ...near, node: and([near.node, ...filters]) })),
    words: wildcards.size === 0 ? null : [...wildcards.values()].flat(),
    isStated: query.section !== null || query.kinds !== null || query.access !== null,
    scoring,
  }
}

/**
 * The most that a search may cost (decision 50). The price of a search is the sum over its NEAR:
 * the articles that have both sides, times the words and phrases beside it. So it depends on the
 * question and on the articles that it sees, and not on what a process keeps. NEAR of two words may
 * read 50,000 articles, which takes some seconds.
 */
export const MOST_PRICE = 100_000

/** A search would cost more than `MOST_PRICE`, or its words cannot be known. */
export class TooFrequent extends Error {
  constructor(
    message = `The words beside NEAR are too frequent, or those of a phrase with *: ${MOST_PRICE / 2} articles with both sides are the most for two words, and fewer for more words. Add a word that must appear, name fewer words beside NEAR, or choose a shorter time.`,
  ) {
    super(message)
  }
}

/** The most words for which all wildcards of a search may stand together. */
export const MOST_WORDS = 5_000

/** The wildcards of a search stand for more words than `MOST_WORDS`. */
export class TooManyWords extends TooFrequent {
  constructor(words: number) {
    super(
      `The parts of words with * stand for ${words} words, and ${MOST_WORDS} are the most. Write more letters of the words, or fewer parts.`,
    )
  }
}

/** The archive would have to match wildcards, and does not know its words. */
export class WildcardsElsewhere extends TooFrequent {
  constructor() {
    super(
      'The archive index holds the oldest of these articles and finds no parts of words; write a later published_after, or whole words.',
    )
  }
}

/** The archive would have to filter by what outlets state, which its documents do not hold. */
export class StatedElsewhere extends TooFrequent {
  constructor() {
    super(
      'The archive index holds the oldest of these articles and knows no section, kind or access; write a later published_after, or leave these filters out.',
    )
  }
}

/** A match that may stand on the page, with the values that decide its place in the order. */
export interface Hit {
  seq: bigint
  /** null: not read yet. The id decides only among hits with equal value and score. */
  id: string | null
  /** The sort value, ms since 1970; null sorts last. */
  value: number | null
  /** null: not known yet. The score decides only among hits with equal values. */
  score: number | null
  /** null: the id and the score are known. */
  address: DocAddress | null
}

/** The place of a document (tantivy: DocAddress). */
export type DocAddress =
  | { kind: 'memory'; segment: MemorySegment; doc: number }
  | { kind: 'stored'; segment: SegmentMeta; doc: number }

/** The order in which stored articles are matched, and when a search may stop. */
export interface MatchOrder {
  sort: ArticleQuery['sort']
  order: ArticleQuery['order']
  /** null: the page is the first one. */
  position: Position | null
  /**
   * How many matches are likely to complete the collectors; Infinity: all articles are matched.
   * With fewer candidates, a search needs the next segment.
   */
  limit: number
  /**
   * How many articles are matched first, in whole segments. A fixed number of segments would not
   * do, because the segments of the newest articles are small.
   */
  first: number
}

/** A segment that has not been matched yet, with the first sort value of its matches. */
export interface Ahead<S extends Extent> {
  segment: S
  startsAt: number
}

/**
 * The segments that can have matches after `position`, in the order of the first sort values of
 * their matches.
 */
export function inOrder<S extends Extent>(
  segments: readonly S[],
  { sort, order, position }: MatchOrder,
  filter: DocFilter,
): Ahead<S>[] {
  const ascending = order === 'asc'
  const end = ascending ? Infinity : -Infinity
  const after = position === null ? -end : (position.last.value ?? end)
  return segments
    .filter(segment => canMatch(segment, filter))
    .flatMap(segment => {
      const span = sort === 'published_at' ? segment.published : segment.ingested
      const follows = span !== null && (ascending ? span.last >= after : span.first <= after)
      if (follows) return [{ segment, startsAt: ascending ? span.first : span.last }]
      const undated =
        sort === 'published_at' && filter.bounds.undatedSince !== null && segment.undated > 0
      return undated ? [{ segment, startsAt: end }] : []
    })
    .sort((a, b) =>
      a.startsAt === b.startsAt ? 0 : ascending === a.startsAt < b.startsAt ? -1 : 1,
    )
}

/** Conditions on matches besides terms: times and visibility. */
export interface DocFilter {
  bounds: TimeBounds
  /** Articles with a higher `seq` are not part of the result set (decision 22). */
  watermark: bigint
  /** Articles up to this `seq` do not match; 0: no article is left out. */
  above: bigint
}

/** The range of times and of `seq` of a stored segment. */
export type Extent = Pick<SegmentMeta, 'first' | 'last' | 'published' | 'ingested' | 'undated'>

/** Whether a segment can have a document that passes the filter. */
function canMatch(segment: Extent, { bounds, watermark, above }: DocFilter): boolean {
  if (segment.first > watermark || segment.last <= above) return false
  const { published, undatedSince, ingested } = bounds
  if (ingested !== null && !overlaps(segment.ingested, ingested.from, ingested.to)) return false
  return undatedSince !== null || overlaps(segment.published, published.from, published.to)
}

function overlaps(span: SegmentMeta['published'], from: number, to: number): boolean {
  return span !== null && span.first < to && span.last >= from
}

/**
 * Which documents of a segment pass the filter: all, or those with a date of publication. null:
 * each document has to be tested.
 */
export function passingPart(
  segment: Extent,
  { allIngested }: Pick<Columns, 'allIngested'>,
  { bounds, watermark, above }: DocFilter,
): 'all' | 'dated' | null {
  const { published, undated } = segment
  const ingested = allIngested ? segment.ingested : null
  if (segment.last > watermark || segment.first <= above) return null
  if (published !== null && (bounds.within !== null || !isWithin(published, bounds.published)))
    return null
  if (bounds.ingested !== null && (ingested === null || !isWithin(ingested, bounds.ingested)))
    return null
  if (undated === 0) return 'all'
  if (bounds.undatedSince === null) return 'dated'
  if (ingested === null) return null
  if (ingested.first >= bounds.undatedSince) return 'all'
  return ingested.last < bounds.undatedSince ? 'dated' : null
}

const isWithin = (
  span: { first: number; last: number },
  { from, to }: { from: number; to: number },
) => span.first >= from && span.last < to

/** The documents of a set that pass the filter. */
export function applyFilter(
  set: DocIdSet,
  segment: SegmentMeta,
  columns: Columns,
  filter: DocFilter,
): DocIdSet {
  if (set.count === 0 || passingPart(segment, columns, filter) === 'all') return set
  const { dated, size } = columns
  const { published, undatedSince } = filter.bounds
  // The times of most segments lie within the bounds, so most segments need no search here.
  const from =
    columns.earliest >= published.from ? 0 : placeOf(columns.published, published.from, dated)
  const to = columns.latest < published.to ? dated : placeOf(columns.published, published.to, dated)
  const undated = undatedMatches(segment, columns, undatedSince)
  const whole = from === 0 && to === dated && undated !== 'none'
  let passed = whole
    ? set
    : ranges(set, from, Math.max(from, to), undated === 'none' ? size : dated)
  if (undated === 'some') {
    const { ingested } = columns
    // A comparison with NaN, the missing time, is false.
    const late = passing(ranges(passed, 0, 0, dated), doc => ingested[doc]! >= undatedSince!)
    passed = union([ranges(passed, 0, dated, size), late], size)
  }
  const tests = testsOf(segment, columns, filter)
  const [test] = tests
  if (test === undefined) return passed
  return passing(passed, tests.length === 1 ? test : doc => tests.every(one => one(doc)))
}

/** Which documents without a date of publication pass the filter: those ingested since a time. */
function undatedMatches(
  segment: SegmentMeta,
  { allIngested }: Columns,
  since: number | null,
): 'all' | 'some' | 'none' {
  if (segment.undated === 0) return 'all'
  const { ingested } = segment
  if (since === null || ingested === null || ingested.last < since) return 'none'
  return allIngested && ingested.first >= since ? 'all' : 'some'
}

/** Tests of single documents. Conditions that hold for the whole segment get no test. */
function testsOf(
  segment: SegmentMeta,
  columns: Columns,
  filter: DocFilter,
): ((doc: number) => boolean)[] {
  const { bounds, watermark, above } = filter
  const { published, ingested, allIngested, offsets } = columns
  const tests: ((doc: number) => boolean)[] = []
  const { ingested: span, within } = bounds
  if (
    span !== null &&
    !(allIngested && segment.ingested!.first >= span.from && segment.ingested!.last < span.to)
  ) {
    // Comparisons with NaN, the missing time, are false.
    tests.push(doc => ingested[doc]! >= span.from && ingested[doc]! < span.to)
  }
  if (within !== null) tests.push(doc => !(published[doc]! < ingested[doc]! - within))
  if (segment.last > watermark) {
    const visible = Number(watermark - segment.first)
    tests.push(doc => offsets[doc]! <= visible)
  }
  if (segment.first <= above) {
    const hidden = Number(above - segment.first)
    tests.push(doc => offsets[doc]! > hidden)
  }
  return tests
}

/** A segment's columns as collectors see them. */
export function valuesOf(columns: Columns): DocValues {
  const { publishers, authors, authorStarts, sections, sectionNames } = columns
  return {
    publisherNo: doc => publishers[doc]!,
    eachAuthor(doc, visit) {
      for (let at = authorStarts[doc]!; at < authorStarts[doc + 1]!; at++) visit(authors[at]!)
    },
    sectionNo: doc => sections[doc]!,
    sections: sectionNames,
  }
}
