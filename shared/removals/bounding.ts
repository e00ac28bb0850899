import { snippetOf } from '#search/analysis/text'
import { AMONG_WRITERS } from '#search/removals'
import { type Bound, boundArticles } from '#shared/articles/bounds'
import type { Config } from '#shared/config/config'
import type { Rights } from '#shared/outlets/rights'
import { type Pool, transaction } from '#shared/postgres/pool'
import { openVectors } from './stores.ts'

/** Bounds articles. */
export type Write = (bounds: Bound[]) => Promise<void>

/**
 * Bounds articles in Postgres. An embedder removes their vectors within an hour
 * (services/embedder/audit.ts).
 *
 * @returns those that have no vector by now, also by an earlier run that was interrupted
 */
export async function boundAlone(pool: Pool, wanted: Bound[]): Promise<bigint[]> {
  const bounds = await transaction(pool, async client => {
    // An article that is taken out meanwhile gets no bounds.
    await client.query(`select ${AMONG_WRITERS}`)
    return boundArticles(client, wanted)
  })
  const silent = bounds.flatMap(({ seq, hasVector }) => (hasVector ? [] : [seq]))
  // Candidate sets with these articles are deleted. Their cursors end, and clients repeat their
  // questions.
  if (silent.length > 0)
    await pool.query('delete from semantic_sets where seqs && $1::bigint[]', [silent])
  return silent
}

/**
 * Bounds articles, and removes their vectors at once.
 *
 * @throws UsageError when vectors may have to be removed, but the address of the vector store is
 * not set
 */
export async function createWriter(pool: Pool, config: Config): Promise<Write> {
  const vectors = await openVectors(pool, config)
  return async wanted => {
    const silent = await boundAlone(pool, wanted)
    await vectors?.clear(silent)
  }
}

/** The bounds that rights set to an article. */
export function boundOf(
  { seq, id, pageNo, snippet }: Pick<Bound, 'seq' | 'id' | 'pageNo' | 'snippet'>,
  { refusedBy, snippet: limit, wordsAloneBy }: Rights,
): Bound {
  const most = refusedBy === null ? limit : 0
  return {
    seq,
    id,
    pageNo,
    snippet: most === null ? snippet : snippetOf(snippet, most),
    isBounded: most !== null,
    hasVector: refusedBy === null && wordsAloneBy === null,
  }
}
