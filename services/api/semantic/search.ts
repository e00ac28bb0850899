import type { KeptArticle, SearchIndex } from '../../../search/index.ts'
import type { Config } from '../../../shared/config/config.ts'
import { EmbeddingFailure } from '../../../shared/embeddings/embedding-failure.ts'
import type { Logger } from '../../../shared/log/logger.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import { VectorFailure } from '../../../shared/vectors/vector-failure.ts'
import { timed } from './metrics.ts'
import { readPage } from './page.ts'
import {
  NO_TURNS,
  type SemanticPage,
  type SemanticPosition,
  type SemanticQuery,
  type SemanticSearch,
  SemanticUnavailable,
  SetExpired,
  type Turns,
} from './query.ts'
import { createQuestionSets } from './question-sets.ts'
import { type FrozenSet, readSet } from './sets.ts'
import { openVectorSearch } from './vector-search.ts'

/**
 * Search by meaning: the nearest 500 articles of the plan's coverage, frozen for some minutes in
 * Postgres; then the request's filters, its order, its page.
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

  function explain(error: unknown): unknown {
    if (!(error instanceof EmbeddingFailure || error instanceof VectorFailure)) return error
    if (error.message !== lastComplaint) log.warn({ err: error.message }, 'semantic search is unavailable')
    lastComplaint = error.message
    return new SemanticUnavailable(error.message, { cause: error })
  }

  /** The first page. It is read while its set is being kept. */
  async function firstPage(query: SemanticQuery, turns: Turns): Promise<SemanticPage<A>> {
    const set = await sets.find(query, turns)
    lastComplaint = ''
    if (set === null) return { rows: [], total: 0, next: null }
    const page = (of: FrozenSet) => timed('page', () => readPage(index, of, query, null))
    return turns.statements(async () => {
      const [kept, likelyPage] = await Promise.all([set.keep(), page(set.likely)])
      return kept.id === set.likely.id ? likelyPage : page(kept)
    })
  }

  function nextPage(query: SemanticQuery, position: SemanticPosition, turns: Turns): Promise<SemanticPage<A>> {
    return turns.statements(async () => {
      const set = await timed('set', () => readSet(pool, position.setId))
      lastComplaint = ''
      if (set === null) throw new SetExpired('The candidates of this sequence are gone.')
      return timed('page', () => readPage(index, set, query, position))
    })
  }

  return {
    async search(query, position, turns = NO_TURNS) {
      try {
        return position === null ? await firstPage(query, turns) : await nextPage(query, position, turns)
      } catch (error) {
        throw explain(error)
      }
    },
    async candidates(question, turns = NO_TURNS) {
      try {
        const set = await sets.find(question, turns)
        lastComplaint = ''
        return set === null ? [] : (await turns.statements(set.keep)).candidates.seqs
      } catch (error) {
        throw explain(error)
      }
    },
    missing: () => vectorSearch.missing(),
    close: () => sets.close(),
  }
}
