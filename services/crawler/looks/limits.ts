import type { Config } from '../../../shared/config/config.ts'
import type { Budget } from '../../../shared/outlets/budget.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'

/** Visits for looks alone, of all crawlers together: new pages have the other places. */
export const mostLooking = ({ CRAWL_CONCURRENCY }: Pick<Config, 'CRAWL_CONCURRENCY'>) =>
  Math.max(1, Math.floor(CRAWL_CONCURRENCY / 4))

/** No look is made once the outlet has had half of a day's budget: the rest is for new pages. */
export const lookBudget = ({ CRAWL_OUTLET_PAGES, CRAWL_OUTLET_BYTES }: Budget) => ({
  pages: Math.floor(CRAWL_OUTLET_PAGES / 2),
  bytes: Math.floor(CRAWL_OUTLET_BYTES / 2),
})

/** Versions that wait to be compared. More would only fill the database. */
const MOST_WAITING = 500

/** Whether looks are made at all now. Index: look_sources_fetched. */
export async function mayLook(pool: Pool, { CRAWL_RECHECK }: Pick<Config, 'CRAWL_RECHECK'>): Promise<boolean> {
  if (CRAWL_RECHECK === 0) return false
  const { rows } = await pool.query<{ full: boolean }>(
    'select exists (select from look_sources order by fetched_at offset $1 limit 1) as full',
    [MOST_WAITING],
  )
  return rows[0]?.full === false
}
