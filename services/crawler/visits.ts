import { setTimeout as sleep } from 'node:timers/promises'
import { withLogContext } from '#shared/log/context'
import { createOutageLog } from '#shared/log/outage'
import { describe } from '#shared/log/printable'
import { isTransient, readColumn } from '#shared/postgres/pool'
import { withInHand } from '#shared/process/ends'
import { type Repeated, repeatEvery } from '#shared/process/repeat'
import { unlessAborted } from '#shared/resilience/time-limit'
import type { Crawl } from './crawl.ts'
import { pollFeed } from './feeds/poll.ts'
import { saveFailure } from './feeds/schedule.ts'
import { readBrimming, readHeld, releasePutOff } from './hosts/budgets.ts'
import { claimHosts, isBacklogged, nextWork, type Work } from './hosts/due.ts'
import { endVisit, type Visit } from './hosts/leases.ts'
import { fetchPage } from './page.ts'
import { savePage } from './save-page.ts'

/** ms between two claims. */
const TICK = 700
/** ms between the end of a visit and the claim of another one while all permits are taken. */
const SOON = 50
/**
 * When this many stored pages wait for the normaliser, no more pages are fetched. A page has about
 * 30 kB compressed. The limit for one outlet is far lower (`STORED_SHARE`), so that no single
 * outlet stops the others.
 */
const BACKLOG = 20_000
/**
 * ms between two reads of data that changes slowly: the catalogue, waiting pages, pages put off.
 */
const SLOWLY = 30_000

/**
 * Claims hosts with due work and visits them, at most CRAWL_CONCURRENCY at a time, until it is
 * closed. Postgres says what is due; the lease of a host keeps other crawlers away.
 */
export function startDispatcher(crawl: Crawl): Repeated {
  const permits = openPermits(crawl)
  let lastSlow = Number.NEGATIVE_INFINITY
  const claim = async () => {
    if (performance.now() - lastSlow >= SLOWLY) {
      await lookAround(crawl)
      lastSlow = performance.now()
    }
    await noteBacklog(crawl)
    for (const visit of await claimVisits(crawl, permits.free())) permits.take(visit)
  }
  const tick = async (closing: AbortSignal) => {
    await claim()
    // All permits are taken, so more work may be due. The next claim comes as soon as a permit is
    // free.
    while (permits.free() === 0 && (await permits.untilFree(closing))) await claim()
  }
  const outage = createOutageLog(
    crawl.log,
    'could not read due work from the database',
    'due work is read again',
  )
  const repeated = repeatEvery(TICK, tick, { outage })
  return {
    async close() {
      await repeated.close()
      await permits.empty()
    },
  }
}

/** The visits of this process; each holds one of CRAWL_CONCURRENCY permits. */
function openPermits(crawl: Crawl) {
  const running = new Set<Promise<void>>()
  const outage = createOutageLog(
    crawl.log,
    'visits fail: the database is away or full',
    'visits succeed again',
  )
  const make = async (visit: Visit) => {
    try {
      // Every log line of a visit carries the visit's name, as the lines of a job carry the job's
      // name.
      await withLogContext({ job: `visit-${visit.host}-${visit.number}` }, () =>
        visitHost(crawl, visit),
      )
      outage.over()
    } catch (error) {
      // The work is still due, and is claimed again when Postgres answers.
      if (isTransient(error)) outage.met(error)
      else
        crawl.log.error(
          { host: visit.host, err: error instanceof Error ? error.message : error },
          'a visit failed',
        )
    }
  }
  return {
    free: () => crawl.config.CRAWL_CONCURRENCY - running.size,
    take(visit: Visit) {
      const made: Promise<void> = make(visit).finally(() => running.delete(made))
      running.add(made)
    },
    /**
     * Waits until a visit ends, and a little longer, because others may end, too. False: `closing`
     * was aborted.
     */
    async untilFree(closing: AbortSignal): Promise<boolean> {
      await unlessAborted(Promise.race(running), closing).catch(() => {})
      await sleep(SOON)
      return !closing.aborted
    },
    empty: () => Promise.all(running),
  }
}

async function noteBacklog(crawl: Crawl): Promise<void> {
  const backlogged = await isBacklogged(crawl.pool, BACKLOG)
  if (backlogged !== crawl.backlogged) {
    crawl.log.info(
      backlogged
        ? 'too many pages wait for the normaliser: none are fetched'
        : 'pages are fetched again',
    )
  }
  crawl.backlogged = backlogged
}

/** Reads which outlets have to wait, and claims at most `most` hosts for the others. */
export async function claimVisits(crawl: Crawl, most: number): Promise<Visit[]> {
  const { pool, config, brimming, domains, leases } = crawl
  crawl.held = await readHeld(pool, config, brimming)
  if (most <= 0) return []
  const pages = !crawl.backlogged
  return claimHosts(pool, leases, {
    pages,
    held: crawl.held,
    domains,
    delay: config.CRAWL_HOST_DELAY,
    most,
  })
}

/**
 * Reads the catalogue's domains and the outlets with too many waiting pages, and releases pages
 * that were put off.
 */
export async function lookAround(crawl: Crawl): Promise<void> {
  const { pool, config, log } = crawl
  crawl.domains = new Set(await readColumn<string>(pool, 'select domain from outlets where active'))
  crawl.brimming = await readBrimming(pool, config)
  const released = await releasePutOff(pool, config)
  if (released > 0) log.info({ released }, 'released pages that had waited for a new host')
}

/**
 * ms after which a visit ends, so that other hosts get their turn. If work is left, the host is
 * claimed again.
 */
const SLICE = 20_000
/**
 * Makes a visit: polls due feeds of the host and fetches its waiting pages, one request after
 * another. The visit ends when nothing is due, the host must not be asked again for now, or the
 * time slice is over.
 */
export async function visitHost(crawl: Crawl, visit: Visit): Promise<void> {
  try {
    const end = performance.now() + SLICE
    let goOn = true
    // Feeds and pages take turns, so that neither delays the other for ever. Where the host wants
    // long pauses, a visit makes only one request, so every other visit begins with a page.
    let feedFirst = visit.number % 2 === 1
    let served: number | null = null
    while (goOn && performance.now() < end && visit.alive() && !crawl.stopping.aborted) {
      const pages = !crawl.backlogged
      const work = await nextWork(crawl.pool, visit.host, {
        pages,
        held: crawl.held,
        feedFirst,
        served,
      })
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
 * feed or page, which is then tried again with growing pauses. Otherwise it would be tried again at
 * once, for ever, and would delay the others.
 */
async function doWork(crawl: Crawl, visit: Visit, work: Work): Promise<boolean> {
  try {
    return work.kind === 'feed'
      ? await withInHand({ kind: 'feed', numbers: [work.feed.feedNo] }, () =>
          pollFeed(crawl, visit, work.feed),
        )
      : await withInHand({ kind: 'page', numbers: [work.page.pageNo] }, () =>
          fetchPage(crawl, visit, work.page),
        )
  } catch (error) {
    if (isTransient(error)) throw error
    const detail = describe(error)
    const names =
      work.kind === 'feed'
        ? { feed: work.feed.url }
        : { page: String(work.page.pageNo), url: work.page.url }
    crawl.log.error({ ...names, err: detail }, 'a feed or page made the crawler fail')
    const { pool, config } = crawl
    if (work.kind === 'feed') await saveFailure(pool, work.feed, detail, {}, config)
    else
      await savePage(
        pool,
        work.page,
        { kind: 'retry', reason: 'crawler error', detail },
        config.CRAWL_RETRY_MIN,
      )
    return true
  }
}
