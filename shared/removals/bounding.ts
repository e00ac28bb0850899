import { snippetOf } from '../../search/analysis/text.ts'
import { AMONG_WRITERS } from '../../search/removals.ts'
import { type Bound, boundArticles } from '../articles/bounds.ts'
import type { Config } from '../config/config.ts'
import type { Rights } from '../outlets/rights.ts'
import { type Pool, transaction } from '../postgres/pool.ts'
import { UsageError } from '../process/command.ts'
import { openVectorStore } from '../vectors/qdrant-store.ts'
import { readCollections } from '../vectors/registry.ts'

/** Bounds articles, and removes their vectors. */
export type Write = (bounds: Bound[]) => Promise<void>

/**
 * @throws UsageError when vectors may have to be removed, but the address of the vector store is
 * not set
 */
export async function createWriter(pool: Pool, config: Config): Promise<Write> {
  const collections = await readCollections(pool)
  if (collections.length > 0 && config.QDRANT_URL === '')
    throw new UsageError('Set QDRANT_URL: vectors are to go.')
  const vectors = openVectorStore(config)
  return async wanted => {
    const bounds = await transaction(pool, async client => {
      // An article that is taken out meanwhile gets no bounds.
      await client.query(`select ${AMONG_WRITERS}`)
      return boundArticles(client, wanted)
    })
    // The list includes articles that already have no promised vector, because an earlier run may
    // have been interrupted here.
    const silent = bounds.flatMap(({ seq, hasVector }) => (hasVector ? [] : [seq]))
    for (const { name } of collections) await vectors.remove(name, silent)
    // Candidate sets with these articles are deleted. Their cursors end, and clients repeat their
    // questions.
    if (silent.length > 0)
      await pool.query('delete from semantic_sets where seqs && $1::bigint[]', [silent])
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
