import type { Logger } from '../../../shared/log/logger.ts'
import type { Queryable } from '../../../shared/postgres/pool.ts'
import { articlesRefused } from '../metrics.ts'
import { type EmbeddableArticle, namesOf } from './articles.ts'

/** ms before the second and the third attempt. There is no fourth. */
const PAUSES = [2_000, 15_000]

/**
 * Notes that an article was refused. It is tried again later. After the third time it is in
 * quarantine.
 */
export async function refuse(db: Queryable, article: EmbeddableArticle, why: string, log: Logger): Promise<void> {
  const { rows } = await db.query<{ attempts: number; failed: boolean }>(REFUSE, [
    article.seq,
    why.slice(0, 500),
    PAUSES,
    PAUSES.length + 1,
  ])
  const failed = rows[0]?.failed === true
  articlesRefused.inc({ outcome: failed ? 'quarantined' : 'again' })
  log.warn(
    { ...namesOf(article), attempts: rows[0]?.attempts, err: why },
    failed ? 'an article cannot be embedded; see `npm run queues -- list`' : 'an article was refused',
  )
}

// $1 seq, $2 error, $3 pauses in ms, $4 attempts. Index: the primary key.
const REFUSE = `
  update embeddings set
    attempts = attempts + 1,
    error = $2,
    claimed_until = clock_timestamp() + coalesce(($3::int[])[attempts + 1], 0) * interval '1 ms',
    failed_at = case when attempts + 1 >= $4::int then clock_timestamp() end
  where seq = $1 and embedded_at is null
  returning attempts, failed_at is not null as failed`
