import type { buildConnector } from 'undici'
import type { Config } from '../../shared/config/config.ts'
import type { Logger } from '../../shared/log/logger.ts'
import type { OutageLog } from '../../shared/log/outage.ts'
import type { Pool } from '../../shared/postgres/pool.ts'
import type { Queues } from '../../shared/queues/queues.ts'
import type { Held } from './budgets/held.ts'
import type { FeedParser } from './feeds/parsing/parser.ts'
import type { Leases } from './hosts/leases.ts'
import type { LongWaits } from './hosts/long-waits.ts'
import type { RobotsKnown } from './robots/memory.ts'

/** What every stage of the crawler works with. */
export interface Crawl {
  config: Config
  pool: Pool
  queues: Pick<Queues, 'add'>
  log: Logger
  /** That the normaliser cannot be told of what is stored. */
  unheard: OutageLog
  leases: Leases
  longWaits: LongWaits
  connect: buildConnector.connector
  parser: FeedParser
  /** By host; see `robots/robots.ts`. */
  recentRobots: Map<string, RobotsKnown>
  /** Begin nothing new. */
  stopping: AbortSignal
  /** Give up what is under way. */
  ending: AbortSignal
  /** True while the normaliser is too far behind to be given more pages. */
  backlogged: boolean
  /** Outlets that have to wait, as the last look found them. */
  held: Held
  /** Outlets of which more pages wait than can be fetched in days. */
  brimming: Set<number>
  /** Domains of the catalogue's outlets. */
  domains: Set<string>
}
