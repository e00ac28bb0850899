import type { Pool } from '../../../shared/postgres/pool.ts'
import type { DueFeed } from '../feeds/save.ts'
import type { WaitingPage } from '../pages/save.ts'

/** The next thing to ask a host for. */
export type Work = { kind: 'feed'; feed: DueFeed } | { kind: 'page'; page: WaitingPage }

/** What is due at a host: a feed before any page, what has waited longest first. Null: nothing is. */
export async function nextWork(pool: Pool, host: string, pages: boolean): Promise<Work | null> {
  // Index feeds_due.
  const feeds = await pool.query<DueFeed>(
    `select f.feed_no as "feedNo", f.outlet_no as "outletNo", f.url, f.etag, f.last_modified as "lastModified"
       from feeds f join outlets o using (outlet_no)
      where f.host = $1 and f.active and o.active and f.next_poll_at <= clock_timestamp()
      order by f.next_poll_at limit 1`,
    [host],
  )
  const [feed] = feeds.rows
  if (feed !== undefined) return { kind: 'feed', feed }
  if (!pages) return null
  // Index pages_waiting.
  const waiting = await pool.query<WaitingPage>(
    `select page_no as "pageNo", outlet_no as "outletNo", url, attempts,
            coalesce(extract(epoch from clock_timestamp() - first_tried_at) * 1000, 0)::float8 as tried
       from pages
      where host = $1 and state = 'waiting' and next_try_at <= clock_timestamp()
      order by next_try_at limit 1`,
    [host],
  )
  const [page] = waiting.rows
  return page === undefined ? null : { kind: 'page', page }
}
