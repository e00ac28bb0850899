import type { ArticleQuery, Position } from '../../query/article-query.ts'
import type { Axis } from '../../query/time-bounds.ts'
import type { NameField } from '../../terms.ts'
import type { Hit } from '../hit.ts'
import type { NameUse } from './name-uses.ts'

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
