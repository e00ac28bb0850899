import { createOutageLog } from '#shared/log/outage'
import { removeOldCounts } from '#shared/outlets/origins'
import type { Pool } from '#shared/postgres/pool'
import { type Repeated, repeatEvery } from '#shared/process/repeat'
import type { RunningService, ServiceContext } from '#shared/process/service'
import { openWorker } from '#status/cause-watch'
import { startBackFill } from './back-fill.ts'
import { type Crawl, createCrawl } from './crawl.ts'
import { observeOutlets } from './crawl-metrics.ts'
import { countDays, removeCounted, startDays } from './days.ts'
import { MOST_REMEMBERED } from './feeds/sitemap-parts.ts'
import { HELD, introducesItself } from './fetch/connector.ts'
import { startSecondLooks } from './second-looks.ts'
import { startDispatcher } from './visits.ts'

/**
 * ms that a request may still take after the crawler was told to stop. Then it is aborted, and its
 * page is fetched again later.
 */
const GRACE = 8_000

export async function startCrawler({ config, log }: ServiceContext): Promise<RunningService> {
  const { pool, queues, watch } = openWorker('crawler', { config, log })
  const stopping = new AbortController()
  const ending = new AbortController()
  const crawl = createCrawl({
    config,
    pool,
    queues,
    log,
    stopping: stopping.signal,
    ending: ending.signal,
  })
  if (!introducesItself(config)) log.warn(`feeds and pages on the web are ${HELD}`)
  const dispatcher = startDispatcher(crawl)
  const maintenance = startMaintenance(crawl)
  const days = startDays(crawl)
  const looks = startSecondLooks(crawl)
  const past = startBackFill(crawl)
  observeOutlets(pool, config)
  const { missing, causes } = watch()
  return {
    async stop() {
      await causes.close()
      stopping.abort()
      const grace = setTimeout(() => {
        ending.abort()
        void crawl.parser.close()
      }, GRACE)
      const maintained = Promise.all([
        maintenance.close(),
        days.close(),
        looks.close(),
        past.close(),
      ])
      await dispatcher.close()
      await maintained
      clearTimeout(grace)
      await crawl.parser.close()
      // Saves the counts of the last visits. Without a database they are lost.
      await crawl.asked.save(pool).catch(() => {})
      crawl.leases.close()
      await queues.close()
      await pool.end()
    },
    missing,
  }
}

const EVERY = 600_000

/**
 * Runs maintenance every ten minutes. The first run comes soon after the start, so that a crawler
 * that restarts often also runs it.
 */
function startMaintenance(crawl: Crawl): Repeated {
  const { log } = crawl
  const outage = createOutageLog(log, 'maintenance failed', 'maintenance works again')
  return repeatEvery(EVERY, () => maintain(crawl), { first: EVERY / 20, outage })
}

/** Removes old rows first, and counts last, so that a failed count prevents no removal. */
export async function maintain({ pool, config, log, stopping }: Crawl): Promise<void> {
  const removed = await removeOldSources(pool, config.PAGES_KEEP, stopping)
  if (removed > 0) log.info({ removed }, 'removed sources of finished pages')
  await removeCounted(pool)
  await countDays(pool)
}

const BATCH = 500
/**
 * ms after which a page is given up that was never tried, because its robots.txt never answered or
 * its host was never free.
 */
const NEVER_TRIED = 8 * 86_400_000

/**
 * Removes the sources and feed entries of pages that were done longer than PAGES_KEEP ago. Their
 * addresses stay in crawl memory. Also removes old data of sitemaps, robots.txt and tdmrep.json,
 * and gives up pages that could not be tried in `NEVER_TRIED`.
 *
 * @returns the number of removed sources
 */
export async function removeOldSources(
  pool: Pool,
  keep: number,
  stopping: AbortSignal,
): Promise<number> {
  // A page is not given up while it waits for the outlet's budget, for the end of the outlet's
  // rest, for the normaliser, or for the operator. Nor is it given up because the crawler was away:
  // its next try, or the time from which its host is free, must be less than a day ago.
  await pool.query(
    `update pages p set state = 'failed', reason = coalesce(reason, 'never tried'), finished_at = clock_timestamp()
      where state = 'waiting' and first_tried_at is null and discovered_at < now() - $1 * interval '1 ms'
        and coalesce(reason, '') not in ('put off', 'held')
        and (reason is not null and next_try_at > now() - interval '1 day'
             or exists (select from hosts h
                         where h.host = p.host and h.robots_blocked and h.free_at > now() - interval '1 day')
                and not exists (select from outlet_loads l
                                 where l.outlet_no = p.outlet_no
                                   and (l.day >= (now() at time zone 'UTC')::date - 1 or l.rest_until > now())))`,
    [NEVER_TRIED],
  )
  await removeOldMemories(pool)
  for (let removed = 0; ; ) {
    // Index: page_sources_fetched.
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
 * Removes data that outlets could make us store without end: all but the latest parts of an index,
 * and outdated rules of robots.txt and tdmrep.json. Also removes old counts of origins. Rules of a
 * tdmrep.json hold while the file cannot be read, so they outlast the pauses of an outlet that
 * publishes once a month.
 */
async function removeOldMemories(pool: Pool): Promise<void> {
  await pool.query(
    `delete from sitemap_parts p
      using (select feed_no, url, row_number() over (partition by feed_no order by read_at desc) as place
               from sitemap_parts) placed
      where p.feed_no = placed.feed_no and p.url = placed.url and place > $1`,
    [MOST_REMEMBERED],
  )
  await removeOldCounts(pool)
  await pool.query(
    "update hosts set robots = null where robots <> '' and robots_until < now() - interval '1 day'",
  )
  await pool.query(
    "update hosts set tdm = null where tdm is not null and tdm_until < now() - interval '40 days'",
  )
}
