import { createHash } from 'node:crypto'
import { waitFor } from '../../../shared/log/waits.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import type { Candidate } from '../../../shared/vectors/candidate.ts'
import type { Coverage } from '../../../shared/vectors/store.ts'
import { timed } from './metrics.ts'
import type { SemanticQuestion, Turns } from './query.ts'
import { relevanceOf } from './relevance.ts'
import { type Candidates, type FrozenSet, findSet, keepSet, newSet, removeOldSets } from './sets.ts'
import type { VectorSearch } from './vector-search.ts'

/** The set of a question, which may not be in Postgres yet. */
export interface QuestionSet {
  /**
   * The one that is kept, unless another process, or an equal question, kept one a moment before.
   */
  likely: FrozenSet
  /**
   * Keeps it. Of equal questions that were asked at the same time, all get the set of the first.
   */
  keep(): Promise<FrozenSet>
}

/** Finds and makes the sets of questions. */
export interface QuestionSets {
  /**
   * The set of the last five minutes, or a new one; null: there are no candidates, and nothing to
   * keep stable. Takes its turns by itself.
   *
   * @throws EmbeddingFailure or VectorFailure
   */
  find(question: SemanticQuestion, turns: Turns): Promise<QuestionSet | null>
  close(): Promise<void>
}

export function createQuestionSets(pool: Pool, vectorSearch: Pick<VectorSearch, 'serving' | 'nearest'>): QuestionSets {
  const nearest = createNearest(vectorSearch)
  let removing: Promise<void> | null = null

  async function keep(question: Buffer, set: FrozenSet): Promise<FrozenSet> {
    const kept = await timed('set', () => keepSet(pool, question, set))
    // No search waits for it.
    removing ??= removeOldSets(pool).finally(() => {
      removing = null
    })
    return kept
  }

  return {
    async find(query, turns) {
      const coverage = coverageOf(query)
      const { question, known } = await turns.statements(async () => {
        const serving = await vectorSearch.serving()
        const question = createHash('sha256')
          .update(JSON.stringify([serving?.collection.name, query.text, coverage]))
          .digest()
        return { question, known: await timed('set', () => findSet(pool, question)) }
      })
      if (known) return { likely: known, keep: async () => known }
      const found = await nearest.ask(query.text, coverage, turns)
      if (found.length === 0) return null
      const likely = newSet(question, candidatesOf(found))
      return { likely, keep: () => keep(question, likely) }
    },
    async close() {
      await Promise.allSettled([...nearest.underWay(), removing])
    },
  }
}

/** Equal questions asked at the same time are asked once, whatever their keys. */
function createNearest(vectorSearch: Pick<VectorSearch, 'nearest'>) {
  const asking = new Map<string, Promise<Candidate[]>>()
  return {
    /**
     * As `VectorSearch.nearest`. Who joins a question that is under way needs no turn. With one,
     * equal questions would find out four at a time that the model hangs.
     */
    ask(text: string, coverage: Coverage, turns: Turns): Promise<Candidate[]> {
      const asked = JSON.stringify([text, coverage])
      const begin = () => {
        const found = vectorSearch.nearest(text, coverage).finally(() => asking.delete(asked))
        asking.set(asked, found)
        return found
      }
      const joined = () => {
        const known = asking.get(asked)
        return known && waitFor('equal question', known)
      }
      return joined() ?? turns.question(() => joined() ?? begin())
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
