import type { KeptArticle, SearchIndex } from '../../../search/index.ts'
import type { SemanticPage, SemanticPosition, SemanticQuery } from './query.ts'
import type { Candidates, FrozenSet } from './sets.ts'

/**
 * A page of a frozen candidate set: its candidates that exist, lie within the plan's coverage and
 * pass the request's own filters (decisions 13, 14, 26), in order (decisions 14, 22, 27), after the
 * page before.
 */
export async function readPage<A extends KeptArticle>(
  index: SearchIndex<A>,
  set: FrozenSet,
  query: SemanticQuery,
  position: SemanticPosition | null,
): Promise<SemanticPage<A>> {
  const compare = comparison(query)
  const found = await filterSet(index, set.candidates, query)
  found.sort(compare)
  const start = position === null ? 0 : found.findIndex(one => compare(one, position.last) > 0)
  const following = start < 0 ? [] : found.slice(start, start + query.perPage + 1)
  const shown = following.slice(0, query.perPage)
  const rows = await index.articles(shown.map(one => one.seq))
  const last = shown.at(-1)
  return {
    rows: withRelevance(rows, shown),
    total: found.length,
    next: following.length > shown.length && last ? { setId: set.id, last: { value: last.value, id: last.id } } : null,
  }
}

interface Placed {
  seq: bigint
  id: string
  /** × 10,000 */
  relevance: number
  /** The sort value; null sorts last in both orders. */
  value: number | null
}

async function filterSet(index: Pick<SearchIndex, 'filter'>, set: Candidates, query: SemanticQuery): Promise<Placed[]> {
  const relevances = new Map(set.seqs.map((seq, at) => [seq, set.relevances[at]!]))
  const passed = await index.filter(set.seqs, query)
  return passed.map(({ seq, id, published, ingested }) => {
    const relevance = relevances.get(seq)!
    const values = { relevance, published_at: published, ingested_at: ingested }
    return { seq, id, relevance, value: values[query.sort] }
  })
}

/**
 * Equal relevances order by id in both orders (decision 27), equal times by id in the order's own
 * direction.
 */
function comparison({ sort, order }: Pick<SemanticQuery, 'sort' | 'order'>) {
  const sign = order === 'asc' ? 1 : -1
  const idSign = sort === 'relevance' ? 1 : sign
  return (a: Pick<Placed, 'value' | 'id'>, b: Pick<Placed, 'value' | 'id'>): number => {
    if (a.value === b.value) return a.id === b.id ? 0 : a.id < b.id ? -idSign : idSign
    if (a.value === null) return 1
    if (b.value === null) return -1
    return sign * (a.value - b.value)
  }
}

function withRelevance<A extends KeptArticle>(rows: A[], shown: Placed[]) {
  const relevances = new Map(shown.map(one => [one.seq, one.relevance]))
  return rows.map(row => ({ ...row, relevance: relevances.get(row.seq)! / 10_000 }))
}
