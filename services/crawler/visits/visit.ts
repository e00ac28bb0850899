import { isTransient } from '../../../shared/postgres/transaction.ts'
import type { Crawl } from '../crawl.ts'
import { pollFeed } from '../feeds/poll.ts'
import { saveFailure } from '../feeds/scheduling/schedule.ts'
import type { Lease } from '../hosts/leases.ts'
import { endVisit, takeVisit } from '../hosts/visit-lease.ts'
import { fetchPage } from '../pages/fetch.ts'
import { savePage } from '../pages/save.ts'
import { nextWork, type Work } from './work.ts'

/**
 * ms after which a visit ends in favour of other hosts. If work is left, the next is called at
 * once.
 */
const SLICE = 20_000

/**
 * Visits a host: polls its due feeds and fetches its waiting pages, one request after another. The
 * visit ends when nothing is due, the host must not be asked again for now, or the time slice is
 * over. Does nothing when another crawler visits the host.
 */
export async function visitHost(crawl: Crawl, host: string): Promise<void> {
  const visit = await takeVisit(crawl.pool, crawl.leases, host)
  if (visit === null) return
  try {
    const end = performance.now() + SLICE
    let goOn = true
    // Feeds and pages take turns, so that neither keeps the other waiting for ever. Where the host
    // wants long pauses, a visit makes only one request. Every other visit therefore begins with a
    // page.
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
 * Polls one feed or fetches one page. Any error but a lost database counts as a failure of that
 * feed or page, which is then tried again with growing pauses. It must not be tried again at once
 * for ever, nor delay the others.
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
      'a feed or page made the crawler fail',
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
