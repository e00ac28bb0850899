import type { ArticleQuery } from '../query/article-query.ts'
import { indexFilters } from '../query/filters.ts'
import { planMatch, type ScoringTerm, type Verification } from '../query/match.ts'
import { and, type QueryNode } from '../query/node.ts'
import { cutToDays, timeBoundsOf } from '../query/time-bounds.ts'
import type { KnownDays } from '../store/article-source.ts'
import { parseNameTerm } from '../terms.ts'
import type { DocFilter } from './filter.ts'

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
