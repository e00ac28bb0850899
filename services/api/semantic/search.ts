import type { KeptArticle, SearchIndex } from '#search/index'
import type { Config } from '#shared/config/config'
import { EmbeddingFailure } from '#shared/embeddings/source'
import type { Logger } from '#shared/log/logger'
import type { Pool } from '#shared/postgres/pool'
import { VectorFailure } from '#shared/vectors/store'
import { type Candidates, createQuestionSets, type FrozenSet, readSet } from './candidate-sets.ts'
import {
  NO_PERMITS,
  type SearchPermits,
  type SemanticPage,
  type SemanticPosition,
  type SemanticQuery,
  type SemanticSearch,
  SemanticUnavailable,
  SetExpired,
} from './query.ts'
import { openVectorSearch, timed } from './vector-search.ts'

/**
 * Search by meaning. It finds the nearest 500 articles of the plan's reach and keeps them in
 * Postgres for some minutes. Then it applies the request's filters and order, and takes a page.
 */
export async function openSemanticSearch<A extends KeptArticle>(
  config: Config,
  pool: Pool,
  index: SearchIndex<A>,
  log: Logger,
): Promise<SemanticSearch<A>> {
  const vectorSearch = openVectorSearch(config, pool)
  const sets = createQuestionSets(pool, vectorSearch)
  let lastComplaint = ''

  /**
   * Converts a failure of the model or the vector store into `SemanticUnavailable`. The same
   * failure is logged once.
   */
  async function explained<T>(work: () => Promise<T>): Promise<T> {
    try {
      const found = await work()
      lastComplaint = ''
      return found
    } catch (error) {
      if (!(error instanceof EmbeddingFailure || error instanceof VectorFailure)) throw error
      if (error.message !== lastComplaint)
        log.warn({ err: error.message }, 'semantic search is unavailable')
      lastComplaint = error.message
      throw new SemanticUnavailable(error.message, { cause: error })
    }
  }

  /** The first page. It is read while Postgres stores its set. */
  async function firstPage(query: SemanticQuery, permits: SearchPermits): Promise<SemanticPage<A>> {
    const set = await sets.find(query, permits)
    if (set === null) return { rows: [], total: 0, next: null }
    const page = (of: FrozenSet) => timed('page', () => readPage(index, of, query, null))
    return permits.statements(async () => {
      const [kept, likelyPage] = await Promise.all([set.keep(), page(set.likely)])
      return kept.id === set.likely.id ? likelyPage : page(kept)
    })
  }

  function nextPage(
    query: SemanticQuery,
    position: SemanticPosition,
    permits: SearchPermits,
  ): Promise<SemanticPage<A>> {
    return permits.statements(async () => {
      const set = await timed('set', () => readSet(pool, position.setId))
      if (set === null) throw new SetExpired('The candidates of this sequence are gone.')
      return timed('page', () => readPage(index, set, query, position))
    })
  }

  return {
    search: (query, position, permits = NO_PERMITS) =>
      explained(() =>
        position === null ? firstPage(query, permits) : nextPage(query, position, permits),
      ),
    candidates: (question, least, permits = NO_PERMITS) =>
      explained(async () => {
        const set = await sets.find(question, permits)
        if (set === null) return []
        const { seqs, relevances } = (await permits.statements(set.keep)).candidates
        return seqs.filter((_seq, at) => relevances[at]! >= 10_000 * least)
      }),
    around: query => explained(() => vectorSearch.around(query)),
    missing: () => vectorSearch.missing(),
    close: () => sets.close(),
  }
}

/**
 * A page of a stored candidate set, after the page before, in order (decisions 14, 22, 27). It has
 * the candidates that still exist, lie within the plan's reach and pass the request's own filters
 * (decisions 13, 14, 26).
 */
async function readPage<A extends KeptArticle>(
  index: SearchIndex<A>,
  set: FrozenSet,
  query: SemanticQuery,
  position: SemanticPosition | null,
): Promise<SemanticPage<A>> {
  const compare = comparison(query)
  const passed = await filterSet(index, set.candidates, query)
  const found = passed.filter(({ relevance }) => relevance >= 10_000 * (query.least ?? 0))
  found.sort(compare)
  const start = position === null ? 0 : found.findIndex(one => compare(one, position.last) > 0)
  const following = start < 0 ? [] : found.slice(start, start + query.perPage + 1)
  const shown = following.slice(0, query.perPage)
  const seqs = shown.map(one => one.seq)
  const rows = await index.articles(seqs, query.state)
  const last = shown.at(-1)
  return {
    rows: withRelevance(rows, shown),
    total: found.length,
    next:
      following.length > shown.length && last
        ? { setId: set.id, last: { value: last.value, id: last.id } }
        : null,
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

async function filterSet(
  index: Pick<SearchIndex, 'filter'>,
  set: Candidates,
  query: SemanticQuery,
): Promise<Placed[]> {
  const relevances = new Map(set.seqs.map((seq, at) => [seq, set.relevances[at]!]))
  const passed = await index.filter(set.seqs, query, query.state)
  return passed.map(({ seq, id, published, ingested }) => {
    const relevance = relevances.get(seq)!
    const values = { relevance, published_at: published, ingested_at: ingested }
    return { seq, id, relevance, value: values[query.sort] }
  })
}

/**
 * Articles of equal relevance are ordered by id, the same way in both orders (decision 27).
 * Articles of equal time are ordered by id in the direction of the order.
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
