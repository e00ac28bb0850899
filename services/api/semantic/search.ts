import { createHash } from 'node:crypto'
import type { KeptArticle, SearchIndex } from '../../../search/index.ts'
import type { Config } from '../../../shared/config/config.ts'
import { EmbeddingFailure } from '../../../shared/embeddings/embedding-failure.ts'
import type { Logger } from '../../../shared/log/logger.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import type { Coverage } from '../../../shared/vectors/store.ts'
import { VectorFailure } from '../../../shared/vectors/vector-failure.ts'
import { readPage } from './page.ts'
import { type SemanticQuestion, type SemanticSearch, SemanticUnavailable, SetExpired } from './query.ts'
import { relevanceOf } from './relevance.ts'
import { findSet, keepSet, readSet } from './sets.ts'
import { openVectorSearch, type VectorSearch } from './vector-search.ts'

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
  const making = new Map<string, Promise<string | null>>()
  let lastComplaint = ''

  /** Equal questions asked at the same time are asked once. */
  function setFor(query: SemanticQuestion): Promise<string | null> {
    const asked = JSON.stringify([query.text, coverageOf(query)])
    let set = making.get(asked)
    if (!set) {
      set = findOrMakeSet(pool, vectorSearch, query).finally(() => making.delete(asked))
      making.set(asked, set)
    }
    return set
  }

  function explain(error: unknown): unknown {
    if (!(error instanceof EmbeddingFailure || error instanceof VectorFailure)) return error
    if (error.message !== lastComplaint) log.warn({ err: error.message }, 'semantic search is unavailable')
    lastComplaint = error.message
    return new SemanticUnavailable(error.message, { cause: error })
  }

  return {
    async search(query, position) {
      try {
        const setId = position === null ? await setFor(query) : position.setId
        lastComplaint = ''
        if (setId === null) return { rows: [], total: 0, next: null }
        const page = await readPage(pool, index, setId, query, position)
        if (page === null && position !== null) throw new SetExpired('The candidates of this sequence are gone.')
        if (page === null) throw new Error('The candidates are gone that were kept a moment ago.')
        return page
      } catch (error) {
        throw explain(error)
      }
    },
    async candidates(question) {
      try {
        const setId = await setFor(question)
        lastComplaint = ''
        if (setId === null) return []
        const set = await readSet(pool, setId)
        if (set === null) throw new Error('The candidates are gone that were kept a moment ago.')
        return set.seqs
      } catch (error) {
        throw explain(error)
      }
    },
    missing: () => vectorSearch.missing(),
    async close() {
      await Promise.allSettled(making.values())
    },
  }
}

/**
 * The bounds of a query's candidates (decision 26). All of them are part of the question.
 */
function coverageOf({ planCountries, coverage }: SemanticQuestion): Coverage {
  return { countries: [...planCountries].sort(), since: coverage.historyStart.getTime() }
}

/** Id of the question's set; null: there are no candidates, and nothing to keep stable. */
async function findOrMakeSet(pool: Pool, vectorSearch: VectorSearch, query: SemanticQuestion): Promise<string | null> {
  const serving = await vectorSearch.serving()
  const coverage = coverageOf(query)
  const question = createHash('sha256')
    .update(JSON.stringify([serving?.collection.name, query.text, coverage]))
    .digest()
  const known = await findSet(pool, question)
  if (known) return known
  const nearest = await vectorSearch.nearest(query.text, coverage)
  if (nearest.length === 0) return null
  // The store's order among equals may change with its segments; equal candidates shall be an equal
  // set.
  const ordered = nearest
    .map(({ seq, score }) => ({ seq, relevance: relevanceOf(score) }))
    .sort((a, b) => b.relevance - a.relevance || Number(a.seq - b.seq))
  return keepSet(pool, question, {
    seqs: ordered.map(({ seq }) => seq),
    relevances: ordered.map(({ relevance }) => relevance),
  })
}
