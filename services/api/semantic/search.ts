import { createHash } from 'node:crypto'
import type { Config } from '../../../shared/config/config.ts'
import { EmbeddingFailure } from '../../../shared/embeddings/failure.ts'
import type { Logger } from '../../../shared/log/logger.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import { VectorFailure } from '../../../shared/vectors/failure.ts'
import { readArticles } from '../search/rows.ts'
import { type Candidates, openCandidates } from './candidates.ts'
import { filterCandidates } from './filter.ts'
import { after, inOrder } from './order.ts'
import {
  type SemanticPage,
  type SemanticPosition,
  type SemanticQuery,
  type SemanticSearch,
  SemanticUnavailable,
  SetExpired,
} from './query.ts'
import { type CandidateSet, findSet, keepSet, readSet } from './sets.ts'

/**
 * Search by meaning: the nearest 500 articles of the plan's coverage, frozen for some minutes in Postgres; then the request's
 * filters, its order, its page.
 */
export async function openSemanticSearch(config: Config, pool: Pool, log: Logger): Promise<SemanticSearch> {
  const candidates = openCandidates(config, pool)
  const making = new Map<string, Promise<CandidateSet | null>>()
  let lastComplaint = ''

  /** Equal questions asked at the same time are asked once. */
  function setFor(query: SemanticQuery): Promise<CandidateSet | null> {
    const asked = JSON.stringify([query.text, query.planCountries, query.coverage.historyStart])
    let set = making.get(asked)
    if (!set) {
      set = findOrMakeSet(pool, candidates, query).finally(() => making.delete(asked))
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
        const set = position === null ? await setFor(query) : await readSet(pool, position.setId)
        if (position !== null && set === null) throw new SetExpired('The candidates of this sequence are gone.')
        lastComplaint = ''
        return set === null ? { rows: [], total: 0, next: null } : await pageOf(pool, set, query, position)
      } catch (error) {
        throw explain(error)
      }
    },
    missing: () => candidates.missing(),
    async close() {
      await Promise.allSettled(making.values())
    },
  }
}

/** null: there are no candidates, and nothing to keep stable. */
async function findOrMakeSet(pool: Pool, candidates: Candidates, query: SemanticQuery): Promise<CandidateSet | null> {
  const space = await candidates.space()
  const coverage = { countries: [...query.planCountries].sort(), since: query.coverage.historyStart.getTime() }
  const question = createHash('sha256')
    .update(JSON.stringify([space?.collection.name, query.text, coverage]))
    .digest()
  const known = await findSet(pool, question)
  if (known) return known
  const nearest = await candidates.nearest(query.text, coverage)
  if (nearest.length === 0) return null
  // The store's order among equals may change with its segments; equal candidates shall be an equal set.
  const ordered = nearest
    .map(({ seq, score }) => ({ seq, relevance: relevanceOf(score) }))
    .sort((a, b) => b.relevance - a.relevance || Number(a.seq - b.seq))
  return keepSet(pool, question, {
    seqs: ordered.map(({ seq }) => seq),
    relevances: ordered.map(({ relevance }) => relevance),
  })
}

/** Cosine similarity clamped to 0–1, × 10,000, rounded half up (decision 27). */
export function relevanceOf(score: number): number {
  return Math.floor(Math.min(Math.max(score, 0), 1) * 10_000 + 0.5)
}

async function pageOf(
  pool: Pool,
  set: CandidateSet,
  query: SemanticQuery,
  position: SemanticPosition | null,
): Promise<SemanticPage> {
  const relevances = new Map(set.seqs.map((seq, index) => [seq, set.relevances[index] ?? 0]))
  const found = inOrder(await filterCandidates(pool, set.seqs, query), relevances, query)
  const ahead = after(found, position, query)
  const shown = ahead.slice(0, query.perPage)
  const last = shown.at(-1)
  const rows = await readArticles(
    pool,
    shown.map(({ seq }) => seq),
  )
  return {
    rows: rows.map(row => ({ ...row, relevance: (relevances.get(row.seq) ?? 0) / 10_000 })),
    total: found.length,
    next: ahead.length > shown.length && last ? { setId: set.setId, last: { value: last.value, id: last.id } } : null,
  }
}
