import type { Pool } from '../postgres/pool.ts'

/**
 * A page or an embedding that failed for good: `page:N` (crawler, normaliser) or `embedding:N`
 * (embedder).
 */
export interface Quarantined {
  id: string
  what: string
  reason: string
  detail: string | null
  attempts: number
  since: string
}

/** The quarantine, newest first. */
export async function listQuarantine(pool: Pool, limit: number): Promise<Quarantined[]> {
  const { rows } = await pool.query<Omit<Quarantined, 'since'> & { since: Date }>(
    `(select 'page:' || page_no as id, url as what, coalesce(reason, 'unknown') as reason, detail, attempts,
             coalesce(finished_at, discovered_at) as since
        from pages where state = 'failed' order by finished_at desc nulls last limit $1)
     union all
     (select 'embedding:' || e.seq, coalesce(t.url, 'article ' || e.seq), 'embedding', e.error, e.attempts, e.failed_at
        from embeddings e left join article_texts t using (seq)
       where e.failed_at is not null order by e.failed_at desc limit $1)
     order by since desc, id limit $1`,
    [limit],
  )
  return rows.map(row => ({ ...row, since: row.since.toISOString() }))
}

export interface QuarantineCount {
  kind: 'page' | 'embedding'
  reason: string
  n: number
  /** Whether our side failed and not the outlet, so that an operator should look at it. */
  ours: boolean
}

/**
 * Reasons that the normaliser, the crawler itself and the embedder write; all others are an
 * outlet's or a network's.
 */
const OURS = ['timeout', 'memory', 'error', 'indexing', 'crawler error', 'embedding']

/** The size of the quarantine, by kind and reason. Indexes: pages_failed, embeddings_failed. */
export async function countQuarantine(pool: Pool): Promise<QuarantineCount[]> {
  const { rows } = await pool.query<QuarantineCount>(
    `select 'page' as kind, coalesce(reason, 'unknown') as reason, count(*)::int as n,
            coalesce(reason = any($1), false) as ours
       from pages where state = 'failed' group by reason
     union all
     select 'embedding', 'embedding', count(*)::int, true from embeddings where failed_at is not null having count(*) > 0
     order by n desc, kind, reason`,
    [OURS],
  )
  return rows
}
