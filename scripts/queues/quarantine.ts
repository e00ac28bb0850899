import type { Pool } from '../../shared/postgres/pool.ts'

/** A thing that failed for good: `page:N` (crawler, normaliser) or `embedding:N` (embedder). */
export interface Quarantined {
  id: string
  what: string
  reason: string
  detail: string | null
  attempts: number
  since: string
}

/** What lies in quarantine, newest first. */
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

/**
 * Gives quarantined things back to their services, with all their attempts before them.
 * A page whose source is kept goes to the normaliser, any other to the crawler.
 *
 * @param ids as `listQuarantine` names them; null: everything
 * @returns how many went back
 */
export async function retryQuarantine(pool: Pool, ids: string[] | null): Promise<number> {
  const numbers = (kind: string) =>
    ids?.filter(id => id.startsWith(`${kind}:`)).map(id => id.slice(kind.length + 1)) ?? null
  const pages = await pool.query(
    `update pages p
        set state = case when exists (select from page_sources s where s.page_no = p.page_no) then 'stored' else 'waiting' end,
            attempts = 0, next_try_at = now(), first_tried_at = null, finished_at = null, reason = null, detail = null
      where state = 'failed' and ($1::bigint[] is null or page_no = any($1))`,
    [numbers('page')],
  )
  const embeddings = await pool.query(
    `update embeddings set failed_at = null, attempts = 0, error = null, due_at = least(due_at, now())
      where failed_at is not null and ($1::bigint[] is null or seq = any($1))`,
    [numbers('embedding')],
  )
  return (pages.rowCount ?? 0) + (embeddings.rowCount ?? 0)
}
