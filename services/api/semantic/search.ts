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
import {
  NO_TURNS,
  type SemanticPosition,
  type SemanticQuestion,
  type SemanticSearch,
  SemanticUnavailable,
  SetExpired,
  type Turns,
} from './query.ts'
import { relevanceOf } from './relevance.ts'
import { type Candidates, type FrozenSet, findSet, keepSet, readSet, removeOldSets } from './sets.ts'
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
  const nearest = createNearest(vectorSearch)
  let removing: Promise<void> | null = null
  let lastComplaint = ''

  function explain(error: unknown): unknown {
    if (!(error instanceof EmbeddingFailure || error instanceof VectorFailure)) return error
    if (error.message !== lastComplaint) log.warn({ err: error.message }, 'semantic search is unavailable')
    lastComplaint = error.message
    return new SemanticUnavailable(error.message, { cause: error })
  }

  /** The question's set; null: there are no candidates, and nothing to keep stable. */
  async function findOrMakeSet(query: SemanticQuestion, turns: Turns): Promise<FrozenSet | null> {
    const coverage = coverageOf(query)
    const { question, known } = await turns.statements(async () => {
      const serving = await vectorSearch.serving()
      const question = createHash('sha256')
        .update(JSON.stringify([serving?.collection.name, query.text, coverage]))
        .digest()
      return { question, known: await timed('set', () => findSet(pool, question)) }
    })
    if (known) return known
    const found = await turns.question(() => nearest.ask(query.text, coverage))
    if (found.length === 0) return null
    // Of equal questions that were asked at the same time, all get the set of the first.
    const set = await turns.statements(() => timed('set', () => keepSet(pool, question, candidatesOf(found))))
    // No search waits for it.
    removing ??= removeOldSets(pool).finally(() => {
      removing = null
    })
    return set
  }

  const setAt = (position: SemanticPosition, turns: Turns) =>
    turns.statements(() => timed('set', () => readSet(pool, position.setId)))

  return {
    async search(query, position, turns = NO_TURNS) {
      try {
        const set = position === null ? await findOrMakeSet(query, turns) : await setAt(position, turns)
        lastComplaint = ''
        if (set !== null)
          return await turns.statements(() => timed('page', () => readPage(index, set, query, position)))
        if (position !== null) throw new SetExpired('The candidates of this sequence are gone.')
        return { rows: [], total: 0, next: null }
      } catch (error) {
        throw explain(error)
      }
    },
    async candidates(question, turns = NO_TURNS) {
      try {
        const set = await findOrMakeSet(question, turns)
        lastComplaint = ''
        return set?.candidates.seqs ?? []
      } catch (error) {
        throw explain(error)
      }
    },
    missing: () => vectorSearch.missing(),
    async close() {
      await Promise.allSettled([...nearest.underWay(), removing])
    },
  }
}

/** Equal questions asked at the same time are asked once, whatever their keys. */
function createNearest(vectorSearch: VectorSearch) {
  const asking = new Map<string, Promise<Candidate[]>>()
  return {
    /** As `VectorSearch.nearest`. */
    ask(text: string, coverage: Coverage): Promise<Candidate[]> {
      const asked = JSON.stringify([text, coverage])
      const known = asking.get(asked)
      if (known) return known
      const found = vectorSearch.nearest(text, coverage).finally(() => asking.delete(asked))
      asking.set(asked, found)
      return found
    },
    underWay: () => asking.values(),
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
