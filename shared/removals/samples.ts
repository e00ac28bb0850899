import { addressHash, firstDomain } from '#search/removals'
import { type Client, type Pool, readValue, transaction } from '#shared/postgres/pool'
import { repeatLocked } from './locks.ts'

/*
 * The planner of Postgres keeps samples of columns (pg_stats), also of rows that are gone, until
 * the next ANALYZE. Of what articles say it takes none (`0089_samples.sql`). Columns by which rows
 * are found need samples, so they are taken again once the rows are gone.
 */

/** The tables whose rows a removal deletes or changes, with such columns of foreign text. */
const SAMPLED = {
  article_addresses: 'address',
  articles: 'section',
  authors: 'id',
  back_addresses: 'crawl_key, entry',
  pages: 'crawl_key',
  unfetched_addresses: 'crawl_key',
}

/** SQL: addresses that sitemaps named, and the outlets. The crawler need not have fetched them. */
export const NAMED_ADDRESSES = `(
  select outlet_no, crawl_key from back_addresses union all select outlet_no, crawl_key from unfetched_addresses)`

/**
 * Takes the samples again, after the commit of what deleted the rows. ANALYZE locks a table against
 * another one. So it waits for an autovacuum that sampled before, or ends it. Each table has its
 * own transaction: where an operator's VACUUM or a new index holds one, the others go on.
 */
export async function renewSamples(pool: Pool): Promise<void> {
  const canClear = await readValue<boolean>(pool, CAN_CLEAR)
  for (const [table, columns] of Object.entries(SAMPLED)) {
    const renew = async (client: Client) => {
      await client.query("set local lock_timeout = '3s'; set local statement_timeout = '5min'")
      await client.query(`analyze ${table} (${columns})`)
      const isEmpty = await readValue<boolean>(client, `select not exists (select from ${table})`)
      if (canClear) await client.query(CLEAR, [isEmpty ? table : null])
    }
    await repeatLocked(
      () => transaction(pool, renew),
      `The table ${table} is being vacuumed or indexed (pg_stat_activity), so its samples stay; repeat the command when that has ended.`,
    )
  }
}

/** SQL: the samples of columns `a` of our tables. */
const OURS = `
  from pg_stats s join pg_attribute a on a.attrelid = format('%I.%I', s.schemaname, s.tablename)::regclass and a.attname = s.attname
 where s.schemaname = current_schema()`

// ANALYZE leaves the samples of a table that is empty now. Before Postgres 18 they stay until it
// has rows.
const CAN_CLEAR = "select to_regproc('pg_clear_attribute_stats') is not null"

// $1 a table that is empty, or null
const CLEAR = `
  select pg_clear_attribute_stats(s.schemaname::text, s.tablename::text, s.attname::text, s.inherited)
  ${OURS} and (a.attstattarget = 0 or s.tablename = $1)`

/**
 * SQL: samples of addresses that were those of articles that were taken out (`seq`), and samples of
 * columns that have none by rule (`seq` null). `place` names their column.
 */
export const SAMPLES = `
  select s.tablename || '.' || s.attname as place, t.seq
    from (select distinct ${firstDomain('p.outlet')} as outlet
            from tombstones join articles using (seq) join publishers p using (publisher_no)) o
    cross join pg_stats s
    cross join unnest(s.most_common_vals::text::text[] || s.histogram_bounds::text::text[]) as v (address)
    cross join tombstone_key k
    join tombstone_addresses t on t.hash = ${addressHash('o.outlet', 'v.address')}
   where s.schemaname = current_schema() and s.attname in ('address', 'crawl_key')
  union all
  select s.tablename || '.' || s.attname, null ${OURS} and a.attstattarget = 0`
