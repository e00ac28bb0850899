import { isTransient } from '../../../shared/postgres/transaction.ts'
import type { Crawl } from '../crawl.ts'
import { pollFeed } from '../feeds/poll.ts'
import { saveFailure } from '../feeds/scheduling/schedule.ts'
import type { Lease } from '../hosts/leases.ts'
import { endVisit, takeVisit } from '../hosts/visit-lease.ts'
import { fetchPage } from '../pages/fetch.ts'
import { savePage } from '../pages/save.ts'
import { nextWork, type Work } from './work.ts'

/** ms after which a visit makes way for other hosts; what is left is called again at once. */
const SLICE = 20_000

/**
 * Visits a host: its due feeds are polled and its waiting pages fetched, one polite request after
 * another, until nothing is due, the host wants to be left alone, or the slice is over. Nothing
 * happens when another has the visit.
 */
export async function visitHost(crawl: Crawl, host: string): Promise<void> {
  const visit = await takeVisit(crawl.pool, crawl.leases, host)
  if (visit === null) return
  try {
    const end = performance.now() + SLICE
    let goOn = true
    // Feeds that are due again as soon as they were read must not keep pages waiting for ever, nor
    // pages feeds; where the host wants long pauses a visit makes one request, so every other visit
    // begins with a page.
    let feedFirst = visit.number % 2 === 1
    let served: number | null = null
    while (goOn && performance.now() < end && visit.alive() && !crawl.stopping.aborted) {
      const work = await nextWork(crawl.pool, host, { pages: !crawl.backlogged, held: crawl.held, feedFirst, served })
      if (work === null) break
      feedFirst = work.kind === 'page'
      if (work.kind === 'page') served = work.page.outletNo
      goOn = await doWork(crawl, visit, work)
    }
  } finally {
    await endVisit(crawl.pool, crawl.leases, visit)
  }
}

/**
 * Whatever goes wrong with one feed or page, short of a lost database, is that one's failure and is
 * tried again with longer and longer pauses: it must not come back at once for ever, nor hold up
 * its neighbours.
 */
async function doWork(crawl: Crawl, visit: Lease, work: Work): Promise<boolean> {
  try {
    return await (work.kind === 'feed' ? pollFeed(crawl, visit, work.feed) : fetchPage(crawl, visit, work.page))
  } catch (error) {
    if (isTransient(error)) throw error
    const detail = error instanceof Error ? error.message : String(error)
    crawl.log.error(
      {
        ...(work.kind === 'feed' ? { feed: work.feed.url } : { page: String(work.page.pageNo), url: work.page.url }),
        err: detail,
      },
      'poison',
    )
    if (work.kind === 'feed') await saveFailure(crawl.pool, work.feed, detail, {}, crawl.config)
    else
      await savePage(
        crawl.pool,
        work.page,
        { kind: 'retry', reason: 'crawler error', detail },
        crawl.config.CRAWL_RETRY_MIN,
      )
    return true
  }
}
