import { createPool, postgresOutageLog } from '../../shared/postgres/pool.ts'
import { missingAmong } from '../../shared/process/health.ts'
import type { Running, ServiceContext } from '../../shared/process/service.ts'
import { openQueues } from '../../shared/queues/queues.ts'
import { usesRedis } from '../../shared/queues/redis.ts'
import { observeFleet, observeMachines } from '../../shared/status/fleet-metrics.ts'
import { observeDisk } from '../../shared/status/surroundings.ts'
import { logCauses } from '../../shared/status/watch.ts'
import { createCrawl } from './crawl.ts'
import { observeOutlets } from './crawl-metrics.ts'
import { HELD, introducesItself } from './fetch/connector.ts'
import { startMaintenance } from './pages/maintenance.ts'
import { startDispatcher } from './visits.ts'

/**
 * ms that a request may still take after the crawler was told to stop. Then it is aborted, and its
 * page is fetched again later.
 */
const GRACE = 8_000

export async function startCrawler({ config, log }: ServiceContext): Promise<Running> {
  const postgres = postgresOutageLog(log, () => pool)
  const pool = createPool(config.DATABASE_URL, 'crawler', postgres.met, { max: config.DATABASE_POOL })
  const queues = openQueues(config, log)
  const stopping = new AbortController()
  const ending = new AbortController()
  const crawl = createCrawl({ config, pool, queues, log, stopping: stopping.signal, ending: ending.signal })
  if (!introducesItself(config)) log.warn(`feeds and pages on the web are ${HELD}`)
  const dispatcher = startDispatcher(crawl)
  const maintenance = startMaintenance(crawl)
  observeOutlets(pool, config)
  observeFleet(pool, queues)
  observeMachines(pool, config)
  observeDisk(config.DATA_DIR)

  const missing = () =>
    missingAmong({
      postgres: () => pool.query('select 1'),
      ...(usesRedis(config) ? { redis: () => queues.counts() } : {}),
    })
  const causes = logCauses({ pool, queues, config, missing: async () => Object.keys(await missing()) }, log)
  return {
    async stop() {
      await causes.close()
      stopping.abort()
      const grace = setTimeout(() => {
        ending.abort()
        void crawl.parser.close()
      }, GRACE)
      const maintained = maintenance.close()
      await dispatcher.close()
      clearTimeout(grace)
      await crawl.parser.close()
      await maintained
      crawl.leases.close()
      await queues.close()
      await pool.end()
    },
    missing,
  }
}
