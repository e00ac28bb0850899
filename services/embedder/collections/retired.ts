import type { Logger } from '../../../shared/log/logger.ts'
import type { Queryable } from '../../../shared/postgres/pool.ts'
import type { VectorStore } from '../../../shared/vectors/store.ts'

/**
 * Removes collections that were retired 30 s ago. By then no API process searches in them any
 * more.
 */
export async function dropRetired(db: Queryable, vectors: VectorStore, log: Logger): Promise<void> {
  const { rows } = await db.query<{ name: string }>(
    `select name from vector_collections
     where state = 'retired' and changed_at < clock_timestamp() - interval '30 seconds'`,
  )
  for (const { name } of rows) {
    await vectors.drop(name)
    await db.query('delete from vector_collections where name = $1', [name])
    log.info({ collection: name }, 'removed a collection that was replaced')
  }
}
