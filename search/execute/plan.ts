import type { ArticleQuery } from '../query/article-query.ts'
import { indexFilters } from '../query/filters.ts'
import { planMatch, type ScoringTerm, type Verification } from '../query/match.ts'
import { and, type QueryNode } from '../query/node.ts'
import { cutToDays, timeBoundsOf } from '../query/time-bounds.ts'
import type { KnownDays } from '../store/article-source.ts'
import type { Snapshot } from '../store/segment-store.ts'
import type { DocFilter } from './filter.ts'

/** The plan of a search: the same for every segment. */
export interface SearchPlan {
  /** Words and filters; null: every article matches. */
  node: QueryNode | null
  filter: DocFilter
  verification: Verification | null
  scoring: ScoringTerm[]
}

/** The parts of a query that decide which articles match, whatever their order. */
export type Matched = Omit<ArticleQuery, 'order' | 'perPage'>

/**
 * @param watermark articles with a higher `seq` are not part of the result set
 * @param fewNames up to so many outlets or authors are looked up as terms
 * @returns null: no article can match
 */
export function planSearch(
  query: Matched,
  snapshot: Snapshot,
  days: KnownDays,
  watermark: bigint,
  fewNames: number,
): SearchPlan | null {
  const bounds = cutToDays(timeBoundsOf(query), days)
  if (bounds === null) return null
  const { node, verification, scoring } = planMatch(query.match, query.searchIn, query.languages)
  const { publisherNos, authorNos } = snapshot
  const filters = indexFilters(query, { publisherNos, authorNos, fewNames })
  const selective: QueryNode[] = []
  const others: QueryNode[] = []
  const values: DocFilter['values'] = []
  for (const filter of filters) {
    if (filter.kind === 'nothing') return null
    if (filter.kind === 'values') values.push(filter.test)
    else if (filter.selective) selective.push(filter.node)
    else others.push(filter.node)
  }
  // The most selective clauses come first; the others then check few documents.
  const clauses = [...selective, ...(node === null ? [] : [node]), ...others]
  return {
    node: clauses.length === 0 ? null : and(clauses),
    filter: { bounds, watermark, values },
    verification,
    scoring,
  }
}
