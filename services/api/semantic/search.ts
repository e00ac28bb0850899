import { createHash } from 'node:crypto'
import type { KeptArticle, SearchIndex } from '../../../search/index.ts'
import type { Config } from '../../../shared/config/config.ts'
import { EmbeddingFailure } from '../../../shared/embeddings/embedding-failure.ts'
import type { Logger } from '../../../shared/log/logger.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import type { Candidate } from '../../../shared/vectors/candidate.ts'
import type { Coverage } from '../../../shared/vectors/store.ts'
import { VectorFailure } from '../../../shared/vectors/vector-failure.ts'
import { timed } from './metrics.ts'
import { readPage } from './page.ts'
import { type SemanticQuestion, type SemanticSearch, SemanticUnavailable, SetExpired } from './query.ts'
import { relevanceOf } from './relevance.ts'
import { type Candidates, type FrozenSet, findSet, keepSet, readSet, removeOldSets } from './sets.ts'
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
  const making = new Map<string, Promise<FrozenSet | null>>()
  let removing: Promise<void> | null = null
  let lastComplaint = ''

  /** Equal questions asked at the same time are asked once. */
  function setFor(query: SemanticQuestion): Promise<FrozenSet | null> {
    const asked = JSON.stringify([query.text, coverageOf(query)])
    let set = making.get(asked)
    if (!set) {
      set = findOrMakeSet(query).finally(() => making.delete(asked))
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

  /** The question's set; null: there are no candidates, and nothing to keep stable. */
  async function findOrMakeSet(query: SemanticQuestion): Promise<FrozenSet | null> {
    const serving = await vectorSearch.serving()
    const coverage = coverageOf(query)
    const question = createHash('sha256')
      .update(JSON.stringify([serving?.collection.name, query.text, coverage]))
      .digest()
    const known = await timed('set', () => findSet(pool, question))
    if (known) return known
    const nearest = await vectorSearch.nearest(query.text, coverage)
    if (nearest.length === 0) return null
    const set = await timed('set', () => keepSet(pool, question, candidatesOf(nearest)))
    // No search waits for it.
    removing ??= removeOldSets(pool).finally(() => {
      removing = null
    })
    return set
  }

  return {
    async search(query, position) {
      try {
        const set = position === null ? await setFor(query) : await timed('set', () => readSet(pool, position.setId))
        lastComplaint = ''
        if (set !== null) return await timed('page', () => readPage(index, set, query, position))
        if (position !== null) throw new SetExpired('The candidates of this sequence are gone.')
        return { rows: [], total: 0, next: null }
      } catch (error) {
        throw explain(error)
      }
    },
    async candidates(question) {
      try {
        const set = await setFor(question)
        lastComplaint = ''
        return set?.candidates.seqs ?? []
      } catch (error) {
        throw explain(error)
      }
    },
    missing: () => vectorSearch.missing(),
    async close() {
      await Promise.allSettled([...making.values(), removing])
    },
  }
}

/**
 * The bounds of a query's candidates (decision 26). All of them are part of the question.
 */
function coverageOf({ planCountries, coverage }: SemanticQuestion): Coverage {
  return { countries: [...planCountries].sort(), since: coverage.historyStart.getTime() }
}

/**
 * The store's order among equals may change with its segments; equal candidates shall be an equal
 * set.
 */
function candidatesOf(nearest: Candidate[]): Candidates {
  const ordered = nearest
    .map(({ seq, score }) => ({ seq, relevance: relevanceOf(score) }))
    .sort((a, b) => b.relevance - a.relevance || Number(a.seq - b.seq))
  return { seqs: ordered.map(({ seq }) => seq), relevances: ordered.map(({ relevance }) => relevance) }
}
