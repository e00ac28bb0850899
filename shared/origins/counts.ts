import type { Client, Queryable } from '../postgres/pool.ts'
import { FIELDS, type Origins } from './origins.ts'

/**
 * Counts the origins of new articles by outlet and day. Call it in the transaction that indexes the
 * articles. Rows are written in the order of the key, so that two writers cannot deadlock.
 */
export async function countOrigins(client: Client, articles: { outletNo: number; origins: Origins }[]): Promise<void> {
  if (articles.length === 0) return
  const named = articles.flatMap(({ outletNo, origins }) =>
    FIELDS.map(field => ({ outletNo, field, source: origins[field].source })),
  )
  await client.query(
    `insert into outlet_origins as o (outlet_no, day, field, source, articles)
     select outlet_no, (clock_timestamp() at time zone 'UTC')::date, field, source, count(*)
       from unnest($1::int[], $2::text[], $3::text[]) as n (outlet_no, field, source)
      group by 1, 2, 3, 4 order by 1, 2, 3, 4
     on conflict (outlet_no, day, field, source) do update set articles = o.articles + excluded.articles`,
    [named.map(({ outletNo }) => outletNo), named.map(({ field }) => field), named.map(({ source }) => source)],
  )
}

/** Days of counts that are kept: `shares.ts` compares a week. */
const KEPT = 30

export async function removeOldCounts(db: Queryable): Promise<void> {
  await db.query(`delete from outlet_origins where day < (now() at time zone 'UTC')::date - $1::int`, [KEPT])
}
