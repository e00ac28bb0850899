import type { Pool } from '../../../shared/postgres/pool.ts'
import { OWN_PAUSE } from '../fetch/permitted-request.ts'
import { NO_VALIDATORS } from '../fetch/request.ts'
import { type Poll, readDocument } from './document.ts'
import type { Named } from './parsing/parse.ts'
import type { DueFeed } from './schedule.ts'

/** ms between two readings of a news sitemap that is only counted. It lists the last two days. */
const EVERY = 6 * 3_600_000
const DAY = 86_400_000

/**
 * Counts what an outlet published a second time, beside its feeds: by the news sitemap that its
 * robots.txt names, where the catalogue names no sitemap. Its addresses are never fetched, because
 * the operator has not chosen it. A reading that fails waits for its next turn.
 *
 * @returns whether the visit may go on
 */
export async function countSecond(poll: Poll): Promise<boolean> {
  const { crawl, visit, feed } = poll
  const url = feed.kind === 'feed' ? await claimSecond(crawl.pool, feed) : null
  if (url === null) return true
  const document = await readDocument({ ...poll, beforeParsing: async () => {} }, url, NO_VALIDATORS, OWN_PAUSE)
  if (document.kind === 'interrupted') return false
  if (document.kind === 'later') return document.host !== visit.host
  if (document.kind !== 'feed' || document.feed.format !== 'news sitemap') {
    const detail = document.kind === 'failure' ? document.detail : 'it is no news sitemap'
    crawl.log.info({ sitemap: url, detail }, 'could not count an outlet a second time')
    return true
  }
  await saveSecond(crawl.pool, feed, document.feed.named)
  crawl.asked.add(feed.outletNo, { sitemaps: 1 })
  return true
}

/**
 * The news sitemap whose turn it is; null: none. A host that serves several outlets says nothing of
 * one of them. Indexes: the primary keys, and feeds_due.
 */
async function claimSecond(pool: Pool, feed: DueFeed): Promise<string | null> {
  const { rows } = await pool.query<{ url: string }>(
    `update outlets o
        set second_at = clock_timestamp() + $3 * interval '1 ms', second_from = coalesce(second_from, clock_timestamp())
       from hosts h
      where o.outlet_no = $1 and o.second_at <= clock_timestamp()
        and h.host in ($2, o.domain, 'www.' || o.domain) and h.news_sitemap is not null
        and not exists (select from feeds f where f.outlet_no = $1 and f.kind = 'sitemap' and f.active)
        and not exists (select from feeds f where f.host = h.host and f.outlet_no <> $1 and f.active)
     returning h.news_sitemap as url`,
    [feed.outletNo, new URL(feed.url).host, EVERY],
  )
  return rows[0]?.url ?? null
}

/**
 * Marks the pages that the sitemap names, and keeps the addresses that no feed has named. Those on
 * hosts of others, without a date, and from before the first reading do not count.
 */
async function saveSecond(pool: Pool, feed: DueFeed, named: Named[]): Promise<void> {
  const latest = Date.now() + DAY
  const dated = named.flatMap(({ key, entry }) => {
    const time = Date.parse(entry.published ?? '')
    // Some systems write the year 1 for none. East of UTC that is year 0, which Postgres lacks.
    if (!(time > 0 && time < latest)) return []
    return [{ key, host: new URL(entry.url).hostname, at: new Date(time).toISOString() }]
  })
  await pool.query(
    `with named as (
       select n.key, n.at
         from jsonb_to_recordset($2) as n (key text, host text, at timestamptz), outlets o
        where o.outlet_no = $1 and (n.host = o.domain or n.host like '%.' || o.domain or n.host = any(o.hosts))
     ), known as (
       select page_no, crawl_key, named_by from pages
        where outlet_no = $1 and crawl_key in (select key from named) order by crawl_key for no key update
     ), marked as (
       update pages p set named_by = p.named_by | 2 from known k where p.page_no = k.page_no and k.named_by & 2 = 0
     )
     insert into unfetched_addresses (outlet_no, crawl_key, day)
     select $1, key, (n.at at time zone 'UTC')::date
       from named n, outlets o
      where o.outlet_no = $1 and n.at between o.second_from and clock_timestamp() + interval '1 day'
        and not exists (select from known where crawl_key = n.key)
      order by key
     on conflict do nothing`,
    [feed.outletNo, JSON.stringify(dated)],
  )
}
