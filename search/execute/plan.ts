import type { MemorySegment } from '../memory/memory-segment.ts'
import type { ArticleQuery, Position } from '../query/article-query.ts'
import { indexFilters } from '../query/filters.ts'
import { planMatch, type ScoringTerm, type Verification } from '../query/match.ts'
import { and, type QueryNode } from '../query/parse.ts'
import { cutToDays, timeBoundsOf } from '../query/time-bounds.ts'
import type { KnownDays } from '../store/article-source.ts'
import type { SegmentMeta } from '../store/segment-store.ts'
import { parseNameTerm } from '../terms.ts'
import { canMatch, type DocFilter, type Extent } from './filter.ts'

/** The plan of a search: the same for every segment. */
export interface SearchPlan {
  /** Words and filters; null: every article matches. */
  node: QueryNode | null
  /** The terms of the node that stand for parts of names. */
  nameTerms: string[]
  filter: DocFilter
  verification: Verification | null
  scoring: ScoringTerm[]
}

/** The parts of a query that decide which articles match, whatever their order. */
export type Matched = Omit<ArticleQuery, 'order' | 'perPage'>

/**
 * @param watermark articles with a higher `seq` are not part of the result set
 * @returns null: no article can match
 */
export function planSearch(query: Matched, days: KnownDays, watermark: bigint): SearchPlan | null {
  const bounds = cutToDays(timeBoundsOf(query), days)
  if (bounds === null) return null
  const { node, verification, scoring } = planMatch(query.match, query.searchIn, query.languages)
  const filters = indexFilters(query)
  const clauses = [...(node === null ? [] : [node]), ...filters]
  return {
    node: clauses.length === 0 ? null : and(clauses),
    nameTerms: filters.flatMap(one => (one.kind === 'term' && parseNameTerm(one.term) !== null ? [one.term] : [])),
    filter: { bounds, watermark, above: 0n },
    verification,
    scoring,
  }
}

/** A match that may stand on the page, with what its place in the order depends on. */
export interface Hit {
  seq: bigint
  /** null: not read yet; it decides only among equals. */
  id: string | null
  /** The sort value, ms since 1970; null sorts last. */
  value: number | null
  /** null: not known yet; it decides only among equals. */
  score: number | null
  /** null: its id and its score are known. */
  address: DocAddress | null
}

/** Where a document is (tantivy: DocAddress). */
export type DocAddress =
  | { kind: 'memory'; segment: MemorySegment; doc: number }
  | { kind: 'stored'; segment: SegmentMeta; doc: number }

/** The order in which stored articles are matched, and when a search may stop. */
export interface MatchOrder {
  sort: ArticleQuery['sort']
  order: ArticleQuery['order']
  /** null: from the beginning. */
  position: Position | null
  /** Matches that are likely to complete the collectors; Infinity: all are matched. */
  limit: number
  /**
   * Articles of the segments that are matched first. Counted in articles, because the segments of
   * the newest articles are small.
   */
  first: number
}

/** A segment that is still ahead, with the sort value that its matches begin with. */
export interface Ahead<S extends Extent> {
  segment: S
  startsAt: number
}

/**
 * The segments that can have matches from the position on, in the order in which their matches
 * begin.
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
      const undated = sort === 'published_at' && filter.bounds.undatedSince !== null && segment.undated > 0
      return undated ? [{ segment, startsAt: end }] : []
    })
    .sort((a, b) => (a.startsAt === b.startsAt ? 0 : ascending === a.startsAt < b.startsAt ? -1 : 1))
}
