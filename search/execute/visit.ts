import type { ArticleQuery, Position } from '../query/article-query.ts'
import { canMatch, type DocFilter, type Extent } from './filter.ts'

/** The order in which stored articles are matched, and when a search may stop. */
export interface Visit {
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
  { sort, order, position }: Visit,
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
