import type { Pool } from '../../../shared/postgres/pool.ts'
import { MOST_REMEMBERED } from '../feeds/parts.ts'

const BATCH = 500
/**
 * A page that nobody could try for so long (robots.txt never answered, a host that is never free)
 * is given up.
 */
const NEVER_TRIED = 8 * 86_400_000

/**
 * Removes what outlets served of pages that have been done for longer than PAGES_KEEP, with what
 * their feeds said of them; crawl memory itself stays. Removes what is remembered of sitemaps and
 * robots.txt and serves nobody. Gives up pages that could not be tried for a week.
 *
 * @returns how many sources were removed
 */
export async function removeOldSources(pool: Pool, keep: number, stopping: AbortSignal): Promise<number> {
  // What waits for the budget or the rest of an outlet that is crawled is not given up: its day
  // comes.
  await pool.query(
    `update pages p set state = 'failed', reason = coalesce(reason, 'never tried'), finished_at = clock_timestamp()
      where state = 'waiting' and first_tried_at is null and discovered_at < now() - $1 * interval '1 ms'
        and reason is distinct from 'put off'
        and (reason is not null
             or not exists (select from outlet_loads l
                             where l.outlet_no = p.outlet_no
                               and (l.day >= (now() at time zone 'UTC')::date - 1 or l.rest_until > now())))`,
    [NEVER_TRIED],
  )
  await removeOldMemories(pool)
  for (let removed = 0; ; ) {
    // Index page_sources_fetched.
    const { rowCount } = await pool.query(
      `with old as (
         select s.page_no from page_sources s join pages p using (page_no)
          where s.fetched_at < now() - $1 * interval '1 ms' and p.state in ('done', 'refused')
            and p.finished_at < now() - $1 * interval '1 ms'
          order by s.fetched_at limit $2 for update of s skip locked
       ), forgotten as (
         update pages set entry = null from old where pages.page_no = old.page_no
       )
       delete from page_sources s using old where s.page_no = old.page_no`,
      [keep, BATCH],
    )
    removed += rowCount ?? 0
    if ((rowCount ?? 0) < BATCH || stopping.aborted) return removed
  }
}

/**
 * What outlets can have us remember without end: parts of an index, the latest apart, and rules
 * that count no more.
 */
async function removeOldMemories(pool: Pool): Promise<void> {
  await pool.query(
    `delete from sitemap_parts p
      using (select feed_no, url, row_number() over (partition by feed_no order by read_at desc) as place
               from sitemap_parts) placed
      where p.feed_no = placed.feed_no and p.url = placed.url and place > $1`,
    [MOST_REMEMBERED],
  )
  await pool.query("update hosts set robots = null where robots <> '' and robots_until < now() - interval '1 day'")
}
