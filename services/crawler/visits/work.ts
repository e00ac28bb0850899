import type { Pool } from '../../../shared/postgres/pool.ts'
import type { DueFeed } from '../feeds/due-feed.ts'
import type { WaitingPage } from '../pages/save.ts'

/** The next thing to ask a host for. */
export type Work = { kind: 'feed'; feed: DueFeed } | { kind: 'page'; page: WaitingPage }

/**
 * What is due at a host, what has waited longest first. Null: nothing is.
 *
 * @param options.pages whether pages are fetched at all
 * @param options.feedFirst whether a feed comes before a page when both are due
 */
export async function nextWork(
  pool: Pool,
  host: string,
  options: { pages: boolean; feedFirst: boolean },
): Promise<Work | null> {
  const page = () => (options.pages ? nextPage(pool, host) : null)
  const feed = () => nextFeed(pool, host)
  return options.feedFirst ? ((await feed()) ?? (await page())) : ((await page()) ?? (await feed()))
}

async function nextFeed(pool: Pool, host: string): Promise<Work | null> {
  // Index feeds_due.
  const { rows } = await pool.query<DueFeed>(
    `select f.feed_no as "feedNo", f.outlet_no as "outletNo", f.url, f.etag, f.last_modified as "lastModified",
            f.failures, f.parsing
       from feeds f join outlets o using (outlet_no)
      where f.host = $1 and f.active and o.active and f.next_poll_at <= clock_timestamp()
      order by f.next_poll_at limit 1`,
    [host],
  )
  const [feed] = rows
  return feed === undefined ? null : { kind: 'feed', feed }
}

async function nextPage(pool: Pool, host: string): Promise<Work | null> {
  // Index pages_waiting.
  const { rows } = await pool.query<WaitingPage>(
    `select page_no as "pageNo", outlet_no as "outletNo", url, attempts,
            coalesce(extract(epoch from clock_timestamp() - first_tried_at) * 1000, 0)::float8 as tried
       from pages
      where host = $1 and state = 'waiting' and next_try_at <= clock_timestamp()
      order by next_try_at limit 1`,
    [host],
  )
  const [page] = rows
  return page === undefined ? null : { kind: 'page', page }
}
