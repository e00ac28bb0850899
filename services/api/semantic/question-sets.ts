import { createHash } from 'node:crypto'
import type { Pool } from '../../../shared/postgres/pool.ts'
import type { Candidate } from '../../../shared/vectors/candidate.ts'
import type { Coverage } from '../../../shared/vectors/store.ts'
import { timed } from './metrics.ts'
import type { SemanticQuestion } from './query.ts'
import { relevanceOf } from './relevance.ts'
import { type Candidates, type FrozenSet, findSet, keepSet, newSet, removeOldSets } from './sets.ts'
import type { VectorSearch } from './vector-search.ts'

/** The set of a question, which may still be on its way to Postgres. */
export interface QuestionSet {
  /** The one that is kept, unless another process kept one a moment before. */
  likely: FrozenSet
  kept: Promise<FrozenSet>
}

/** Finds and makes the sets of questions. */
export interface QuestionSets {
  /**
   * The set of the last five minutes, or a new one; null: there are no candidates, and nothing to
   * keep stable. Equal questions asked at the same time are asked once.
   *
   * @throws EmbeddingFailure or VectorFailure
   */
  find(question: SemanticQuestion): Promise<QuestionSet | null>
  close(): Promise<void>
}

export function createQuestionSets(pool: Pool, vectorSearch: Pick<VectorSearch, 'serving' | 'nearest'>): QuestionSets {
  /** Until they are kept. */
  const making = new Map<string, Promise<QuestionSet | null>>()
  let removing: Promise<void> | null = null

  async function findOrMake(query: SemanticQuestion): Promise<QuestionSet | null> {
    const serving = await vectorSearch.serving()
    const coverage = coverageOf(query)
    const question = createHash('sha256')
      .update(JSON.stringify([serving?.collection.name, query.text, coverage]))
      .digest()
    const known = await timed('set', () => findSet(pool, question))
    if (known) return { likely: known, kept: Promise.resolve(known) }
    const nearest = await vectorSearch.nearest(query.text, coverage)
    if (nearest.length === 0) return null
    const likely = newSet(question, candidatesOf(nearest))
    const kept = timed('set', () => keepSet(pool, question, likely))
    // No search waits for it.
    removing ??= removeOldSets(pool).finally(() => {
      removing = null
    })
    return { likely, kept }
  }

  return {
    find(query) {
      const asked = JSON.stringify([query.text, coverageOf(query)])
      let set = making.get(asked)
      if (!set) {
        set = findOrMake(query)
        making.set(asked, set)
        // A failure is for those who asked.
        set
          .then(made => made?.kept)
          .catch(() => {})
          .finally(() => making.delete(asked))
      }
      return set
    },
    async close() {
      const kept = [...making.values()].map(async set => (await set)?.kept)
      await Promise.allSettled([...kept, removing])
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
