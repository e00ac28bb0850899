import type { Pool } from '../../shared/postgres/pool.ts'

/** Ids as `listQuarantine` names them; null: everything in quarantine. */
type Ids = string[] | null

const numbersOf = (ids: Ids, kind: 'page' | 'embedding') =>
  ids?.filter(id => id.startsWith(`${kind}:`)).map(id => id.slice(kind.length + 1)) ?? null

/** The number of these that are in quarantine. */
export async function countQuarantined(pool: Pool, ids: Ids): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(
    `select (select count(*)::int from pages where state = 'failed' and ($1::bigint[] is null or page_no = any($1)))
          + (select count(*)::int from embeddings where failed_at is not null and ($2::bigint[] is null or seq = any($2))) as n`,
    [numbersOf(ids, 'page'), numbersOf(ids, 'embedding')],
  )
  return rows[0]?.n ?? 0
}

/**
 * Gives pages and embeddings in quarantine back to their services, with no attempt counted.
 * A page whose source is kept goes to the normaliser, any other to the crawler.
 *
 * @returns how many went back
 */
export async function retryQuarantine(pool: Pool, ids: Ids): Promise<number> {
  const pages = await pool.query(
    `update pages p
        set state = case when exists (select from page_sources s where s.page_no = p.page_no) then 'stored' else 'waiting' end,
            attempts = 0, next_try_at = now(), first_tried_at = null, finished_at = null, reason = null, detail = null
      where state = 'failed' and ($1::bigint[] is null or page_no = any($1))`,
    [numbersOf(ids, 'page')],
  )
  const embeddings = await pool.query(
    `update embeddings set failed_at = null, attempts = 0, error = null, claimed_until = null, due_at = least(due_at, now())
      where failed_at is not null and ($1::bigint[] is null or seq = any($1))`,
    [numbersOf(ids, 'embedding')],
  )
  return (pages.rowCount ?? 0) + (embeddings.rowCount ?? 0)
}

/**
 * Gives up pages and embeddings in quarantine for good. A page stays known as refused, so that it
 * is never fetched again. An article stays without a vector.
 *
 * @returns how many were given up
 */
export async function forgetQuarantine(pool: Pool, ids: Ids): Promise<number> {
  const pages = await pool.query(
    `update pages set state = 'refused' where state = 'failed' and ($1::bigint[] is null or page_no = any($1))`,
    [numbersOf(ids, 'page')],
  )
  const embeddings = await pool.query(
    `delete from embeddings where failed_at is not null and ($1::bigint[] is null or seq = any($1))`,
    [numbersOf(ids, 'embedding')],
  )
  return (pages.rowCount ?? 0) + (embeddings.rowCount ?? 0)
}
