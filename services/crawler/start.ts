import type { Config } from '../../shared/config/config.ts'
import { createOutageLog } from '../../shared/log/outage.ts'
import { createPool, isTransient, postgresOutageLog } from '../../shared/postgres/pool.ts'
import { missingAmong } from '../../shared/process/health.ts'
import type { Running, ServiceContext } from '../../shared/process/service.ts'
import { openQueues } from '../../shared/queues/queues.ts'
import { usesRedis } from '../../shared/queues/redis.ts'
import { observeFleet, observeMachines } from '../../shared/status/fleet-metrics.ts'
import type { Crawl } from './crawl.ts'
import { startDispatcher } from './dispatch/dispatcher.ts'
import { openFeedParser } from './feeds/parsing/parser.ts'
import { addressRule } from './fetch/addresses.ts'
import { guardedConnector } from './fetch/connector.ts'
import { createTrust } from './fetch/tls/trust.ts'
import { createLeases } from './hosts/leases.ts'
import { createLongWaits } from './hosts/long-waits.ts'
import { startMaintenance } from './maintenance.ts'
import { observeOutlets } from './outlet-metrics.ts'
import { visitHost } from './visits/visit.ts'
import { observeSubscriptions } from './websub/metrics.ts'

/**
 * ms that a request may still take after the crawler was told to stop. Then it is aborted, and its
 * page is fetched again later.
 */
const GRACE = 8_000
/** Longest time for a connection in ms, TLS included. */
const CONNECT_TIMEOUT = 10_000

export async function startCrawler({ config, log }: ServiceContext): Promise<Running> {
  const postgres = postgresOutageLog(log, () => pool)
  const pool = createPool(config.DATABASE_URL, 'crawler', postgres.met, { max: config.DATABASE_POOL })
  const queues = openQueues(config, log)
  const stopping = new AbortController()
  const ending = new AbortController()
  const crawl: Crawl = {
    ...{ config, pool, queues, log, stopping: stopping.signal, ending: ending.signal },
    leases: createLeases(pool, log, config.CRAWL_HOST_DELAY),
    longWaits: createLongWaits(config.CRAWL_CONCURRENCY),
    ...connectionsOf(config),
    unheard: createOutageLog(log, {
      begins: 'could not notify the normaliser of stored pages',
      ends: 'the normaliser is notified again',
    }),
    parser: openFeedParser({ timeout: config.CRAWL_PARSE_TIMEOUT }),
    recentRobots: new Map(),
    backlogged: false,
    ...{ held: { pages: new Set(), feeds: new Set() }, brimming: new Set(), domains: new Set() },
  }
  const outage = createOutageLog(log, { begins: 'visits fail: the database is away', ends: 'visits succeed again' })
  const visit = async ({ host }: { host: string }) => {
    try {
      await visitHost(crawl, host)
      outage.over()
    } catch (error) {
      // The work is still due, and is called again when Postgres answers.
      if (!isTransient(error)) throw error
      outage.met(error)
    }
  }
  const worker = queues.work('visit', visit, { concurrency: config.CRAWL_CONCURRENCY })
  const dispatcher = startDispatcher(crawl)
  const maintenance = startMaintenance(crawl)
  observeOutlets(pool, config)
  observeSubscriptions(pool, config.WEBSUB_PUBLIC_URL)
  observeFleet(pool, queues)
  observeMachines(pool, config)

  return {
    async stop() {
      stopping.abort()
      const grace = setTimeout(() => {
        ending.abort()
        void crawl.parser.close()
      }, GRACE)
      const maintained = maintenance.close()
      await dispatcher.close()
      await worker.close()
      clearTimeout(grace)
      await crawl.parser.close()
      await maintained
      crawl.leases.close()
      await queues.close()
      await pool.end()
    },
    missing: () =>
      missingAmong({
        postgres: () => pool.query('select 1'),
        ...(usesRedis(config) ? { redis: () => queues.counts() } : {}),
      }),
  }
}

function connectionsOf(config: Config): Pick<Crawl, 'connect' | 'trust'> {
  const trust = createTrust()
  const rule = addressRule(config.CRAWL_ALLOW_PRIVATE, config.CRAWL_PORTS)
  return { trust, connect: guardedConnector(rule, Math.min(CONNECT_TIMEOUT, config.CRAWL_TIMEOUT), trust) }
}
