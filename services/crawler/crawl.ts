import type { buildConnector } from 'undici'
import type { Config } from '../../shared/config/config.ts'
import type { Logger } from '../../shared/log/logger.ts'
import type { OutageLog } from '../../shared/log/outage.ts'
import type { Pool } from '../../shared/postgres/pool.ts'
import type { Queues } from '../../shared/queues/queues.ts'
import type { Held } from './budgets/held.ts'
import type { FeedParser } from './feeds/parsing/parser.ts'
import type { Trust } from './fetch/tls/trust.ts'
import type { Leases } from './hosts/leases.ts'
import type { LongWaits } from './hosts/long-waits.ts'
import type { RobotsKnown } from './robots/memory.ts'

/** The connections, settings and state that every stage of the crawler works with. */
export interface Crawl {
  config: Config
  pool: Pool
  queues: Pick<Queues, 'add'>
  log: Logger
  /** Met when the normaliser cannot be notified of a stored page. */
  unheard: OutageLog
  leases: Leases
  longWaits: LongWaits
  connect: buildConnector.connector
  /** The certificates that `connect` checks hosts against. */
  trust: Trust
  parser: FeedParser
  /** By host; see `robots/robots.ts`. */
  recentRobots: Map<string, RobotsKnown>
  /** Aborted when nothing new is to begin. */
  stopping: AbortSignal
  /** Aborted when requests under way are to end. */
  ending: AbortSignal
  /** True while too many stored pages wait for the normaliser: no more pages are fetched. */
  backlogged: boolean
  /** Outlets that have to wait, as the dispatcher last found them. */
  held: Held
  /** Outlets with more waiting pages than can be fetched in days. */
  brimming: Set<number>
  /** Domains of the catalogue's outlets. */
  domains: Set<string>
}
