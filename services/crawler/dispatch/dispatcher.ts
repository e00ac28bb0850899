import { createOutageLog } from '../../../shared/log/outage.ts'
import { type Repeated, repeatEvery } from '../../../shared/process/repeat.ts'
import { readBrimming, readHeld } from '../budgets/held.ts'
import { releasePutOff } from '../budgets/new-hosts.ts'
import type { Crawl } from '../crawl.ts'
import { lookBudget, mayLook, mostLooking } from '../looks/limits.ts'
import { type CalledHost, callDueHosts, isBacklogged, takeBackCalls } from './due.ts'

const TICK = 700
/**
 * When so many stored pages wait for the normaliser, no more pages are fetched. A page is about 30
 * kB compressed. One outlet may have far fewer (`STORED_SHARE`), so that no outlet stops the others
 * alone.
 */
const BACKLOG = 20_000
/** ms between two reads of what changes slowly: the catalogue, waiting pages, pages put off. */
const SLOWLY = 30_000
/** ms between two searches for looks that are due. Nobody waits for one. */
const LOOKS = 5_000

/** Polls Postgres for due work and calls visits for it, until it is closed. */
export function startDispatcher(crawl: Crawl): Repeated {
  const outage = createOutageLog(crawl.log, {
    begins: 'could not read due work from the database',
    ends: 'due work is read again',
  })

  let lastSlow = Number.NEGATIVE_INFINITY
  let lastLooks = Number.NEGATIVE_INFINITY
  const lookSlowly = async () => {
    if (performance.now() - lastSlow < SLOWLY) return
    await lookAround(crawl)
    lastSlow = performance.now()
  }

  const tick = async () => {
    await lookSlowly()
    const backlogged = await isBacklogged(crawl.pool, BACKLOG)
    if (backlogged !== crawl.backlogged) {
      crawl.log.info(
        backlogged ? 'too many pages wait for the normaliser: none are fetched' : 'pages are fetched again',
      )
    }
    crawl.backlogged = backlogged
    const looks = performance.now() - lastLooks >= LOOKS
    if (looks) lastLooks = performance.now()
    const hosts = await callHosts(crawl, looks)
    try {
      await crawl.queues.add(
        'visit',
        hosts.map(({ host, visits }) => ({ key: visitKey(host, visits), data: { host } })),
      )
    } catch (error) {
      await takeBackCalls(crawl.pool, hosts)
      throw error
    }
  }
  return repeatEvery(TICK, tick, { outage })
}

/**
 * Reads which outlets have to wait, and calls visits for the others.
 *
 * @param looks whether hosts at which only looks are due are called, too
 */
export async function callHosts(crawl: Crawl, looks = true): Promise<CalledHost[]> {
  const { pool, config, brimming, domains } = crawl
  crawl.held = await readHeld(pool, config, brimming)
  return callDueHosts(pool, {
    ...{ pages: !crawl.backlogged, held: crawl.held, domains, delay: config.CRAWL_HOST_DELAY },
    looks: looks && (await mayLook(pool, config)) ? { most: mostLooking(config), budget: lookBudget(config) } : null,
  })
}

/**
 * Reads the catalogue's domains and the outlets with too many waiting pages, and releases pages
 * that were put off.
 */
export async function lookAround(crawl: Crawl): Promise<void> {
  const { pool, config, log } = crawl
  const { rows } = await pool.query<{ domain: string }>('select domain from outlets where active')
  crawl.domains = new Set(rows.map(({ domain }) => domain))
  crawl.brimming = await readBrimming(pool, config)
  const released = await releasePutOff(pool, config)
  if (released > 0) log.info({ released }, 'released pages that had waited for a new host')
}

/**
 * The key of a message. The number tells the next visit from the present one. Queues do not accept
 * colons in keys.
 */
const visitKey = (host: string, visits: number) => `${host.replaceAll(':', '_')}-${visits}`
