import type { buildConnector } from 'undici'
import type { Config } from '../../shared/config/config.ts'
import type { Logger } from '../../shared/log/logger.ts'
import { createOutageLog, type OutageLog } from '../../shared/log/outage.ts'
import type { Pool } from '../../shared/postgres/pool.ts'
import type { Queues } from '../../shared/queues/queues.ts'
import { createUnsavedDays, type UnsavedDays } from './days.ts'
import { type FeedParser, openFeedParser } from './feeds/parsing/parser.ts'
import { createTrust, type Trust } from './fetch/certificates.ts'
import { addressRule, guardedConnector, introducesItself } from './fetch/connector.ts'
import type { Held } from './hosts/budgets.ts'
import { createLeases, type Leases } from './hosts/leases.ts'
import { createLongWaits, type LongWaits } from './hosts/permits.ts'

/** Longest time for a connection in ms, TLS included. */
const CONNECT_TIMEOUT = 10_000

/** What a crawler is made of. `trust` and `parser` are replaced by tests. */
export interface CrawlParts extends Pick<Crawl, 'config' | 'pool' | 'queues' | 'log' | 'stopping' | 'ending'> {
  trust?: Trust
  parser?: FeedParser
}

export function createCrawl({ trust = createTrust(), parser, ...parts }: CrawlParts): Crawl {
  const { config, pool, log } = parts
  const rule = addressRule(config.CRAWL_ALLOW_PRIVATE, config.CRAWL_PORTS, introducesItself(config))
  return {
    ...{ ...parts, trust, backlogged: false },
    ...{ held: { pages: new Set(), feeds: new Set() }, brimming: new Set(), domains: new Set() },
    asked: createUnsavedDays(),
    leases: createLeases(pool, log, config.CRAWL_HOST_DELAY),
    longWaits: createLongWaits(config.CRAWL_CONCURRENCY),
    connect: guardedConnector(rule, Math.min(CONNECT_TIMEOUT, config.CRAWL_TIMEOUT), trust),
    parser: parser ?? openFeedParser(),
    unheard: createOutageLog(log, {
      begins: 'could not notify the normaliser of stored pages',
      ends: 'the normaliser is notified again',
    }),
  }
}

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
  /** What was asked of outlets, for their days. */
  asked: UnsavedDays
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
