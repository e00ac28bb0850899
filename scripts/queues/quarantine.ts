import type { Pool } from '../../shared/postgres/pool.ts'

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
