import { auditCollection } from '../../services/embedder/collections/audit.ts'
import type { Config } from '../../shared/config/config.ts'
import { counted } from '../../shared/log/counted.ts'
import { createLogger } from '../../shared/log/logger.ts'
import type { Pool } from '../../shared/postgres/pool.ts'
import { sentenceOf } from '../../shared/process/command.ts'
import { readCollections } from '../../shared/vectors/registry.ts'
import { openVectorStore } from '../../shared/vectors/store.ts'

const VECTOR_TIMEOUT = 15_000

/**
 * Removes vectors of articles that the database does not have, whose numbers new articles will get,
 * after it went back to an earlier moment.
 *
 * @param moment what the database now holds, as "this backup"
 * @returns a sentence about the vectors
 */
export async function compareVectors(
  pool: Pool,
  config: Pick<Config, 'QDRANT_URL' | 'QDRANT_API_KEY'>,
  moment: string,
  signal: AbortSignal,
): Promise<string> {
  const [serving] = await readCollections(pool)
  if (!serving) return 'No article was embedded; embedders begin by themselves.'
  if (config.QDRANT_URL === '') return 'QDRANT_URL is not set, so vectors were not compared; embedders do so at start.'
  const vectors = openVectorStore(config, VECTOR_TIMEOUT)
  try {
    if ((await vectors.count(serving.name)) === null) {
      return `The vector store has no vectors of ${moment}; embedders embed all articles again.`
    }
    await auditCollection(pool, vectors, serving, createLogger('restore', 'silent'), signal)
  } catch (error) {
    return `The vector store was not compared (${sentenceOf(error)}); embedders do so at start.`
  }
  const { rows } = await pool.query<{ lost: number }>(
    'select count(*)::int as lost from embeddings where embedded_at is null and failed_at is null',
  )
  return `The vectors are those of ${moment}; embedders embed ${counted(rows[0]?.lost ?? 0, 'article')} without one.`
}
