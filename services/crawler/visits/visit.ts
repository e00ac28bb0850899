import { isTransient } from '../../../shared/postgres/pool.ts'
import type { Crawl } from '../crawl.ts'
import { pollFeed } from '../feeds/poll.ts'
import { saveFailure } from '../feeds/scheduling/schedule.ts'
import type { Lease } from '../hosts/leases.ts'
import { endVisit, takeVisit } from '../hosts/visit-lease.ts'
import { lookBudget } from '../looks/limits.ts'
import { lookAtPage } from '../looks/look.ts'
import { saveLook } from '../looks/save.ts'
import { fetchPage } from '../pages/fetch.ts'
import { savePage } from '../pages/save.ts'
import { nextWork, type Work } from './work.ts'

/**
 * ms after which a visit ends in favour of other hosts. If work is left, the next is called at
 * once.
 */
const SLICE = 20_000
/** A visit for looks is shorter: new pages of other hosts may wait for its place. */
const LOOK_SLICE = 5_000

/**
 * Visits a host: polls its due feeds, fetches its waiting pages and, where nothing new is due,
 * looks at old ones, one request after another. The visit ends when nothing is due, the host must
 * not be asked again for now, or the time slice is over. Does nothing when another crawler visits
 * the host.
 */
export async function visitHost(crawl: Crawl, host: string): Promise<void> {
  const visit = await takeVisit(crawl.pool, crawl.leases, host)
  if (visit === null) return
  try {
    const end = performance.now() + (visit.looking ? LOOK_SLICE : SLICE)
    let goOn = true
    // Feeds and pages take turns, so that neither keeps the other waiting for ever. Where the host
    // wants long pauses, a visit makes only one request. Every other visit therefore begins with a
    // page.
    let feedFirst = visit.number % 2 === 1
    let served: number | null = null
    while (goOn && performance.now() < end && visit.alive() && !crawl.stopping.aborted) {
      const pages = !crawl.backlogged
      const looks = visit.looking ? lookBudget(crawl.config) : null
      const work = await nextWork(crawl.pool, host, { pages, held: crawl.held, feedFirst, served, looks })
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
    return await begin(crawl, visit, work)
  } catch (error) {
    if (isTransient(error)) throw error
    const detail = error instanceof Error ? error.message : String(error)
    crawl.log.error({ ...namesOf(work), err: detail }, 'a feed or page made the crawler fail')
    await noteFailure(crawl, work, detail)
    return true
  }
}

function begin(crawl: Crawl, visit: Lease, work: Work): Promise<boolean> {
  switch (work.kind) {
    case 'feed':
      return pollFeed(crawl, visit, work.feed)
    case 'page':
      return fetchPage(crawl, visit, work.page)
    case 'look':
      return lookAtPage(crawl, visit, work.look)
  }
}

function namesOf(work: Work): Record<string, string> {
  if (work.kind === 'feed') return { feed: work.feed.url }
  const { pageNo, url } = work.kind === 'page' ? work.page : work.look
  return { page: String(pageNo), url }
}

async function noteFailure({ pool, config }: Crawl, work: Work, detail: string): Promise<void> {
  const reason = 'crawler error'
  switch (work.kind) {
    case 'feed':
      return saveFailure(pool, work.feed, detail, {}, config)
    case 'page':
      return void (await savePage(pool, work.page, { kind: 'retry', reason, detail }, config.CRAWL_RETRY_MIN))
    case 'look':
      return void (await saveLook(pool, work.look, { kind: 'retry', reason }, { took: 0, config }))
  }
}
