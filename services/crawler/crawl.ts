import { addressRule } from '#shared/addresses'
import { createOutageLog, type OutageLog } from '#shared/log/outage'
import type { Queues } from '#shared/queues/queues'
import { createUnsavedDays } from './days.ts'
import { type FeedParser, openFeedParser } from './feeds/parsing/parser.ts'
import { createTrust, type Trust } from './fetch/certificates.ts'
import { guardedConnector, introducesItself } from './fetch/connector.ts'
import { createLeniency } from './fetch/lenient.ts'
import type { Asking } from './fetch/permitted-request.ts'
import type { Held } from './hosts/budgets.ts'
import { createLeases } from './hosts/leases.ts'
import { boundLongWaits } from './hosts/permits.ts'

/** Longest time for a connection in ms, TLS included. */
const CONNECT_TIMEOUT = 10_000

/** The parts that a crawler is made of. Tests replace `trust` and `parser`. */
export interface CrawlParts
  extends Pick<Crawl, 'config' | 'pool' | 'queues' | 'log' | 'stopping' | 'ending'> {
  trust?: Trust
  parser?: FeedParser
}

export function createCrawl({ trust = createTrust(), parser, ...parts }: CrawlParts): Crawl {
  const { config, pool, log } = parts
  const rule = addressRule(config.CRAWL_ALLOW_PRIVATE, config.CRAWL_PORTS, introducesItself(config))
  return {
    ...parts,
    trust,
    backlogged: false,
    held: { pages: new Set(), feeds: new Set() },
    goingBack: new Set(),
    brimming: new Set(),
    domains: new Set(),
    asked: createUnsavedDays(),
    leases: createLeases(pool, log, config.CRAWL_HOST_DELAY),
    beginLongWait: boundLongWaits(config.CRAWL_CONCURRENCY),
    connect: guardedConnector(rule, Math.min(CONNECT_TIMEOUT, config.CRAWL_TIMEOUT), trust),
    leniency: createLeniency(),
    parser: parser ?? openFeedParser(),
    unheard: createOutageLog(
      log,
      'could not notify the normaliser of stored pages',
      'the normaliser is notified again',
    ),
  }
}

/** The connections, settings and state of a crawler. */
export interface Crawl extends Asking {
  queues: Pick<Queues, 'add'>
  /**
   * Logs when the normaliser cannot be notified of a stored page, and when notifying works again.
   */
  unheard: OutageLog
  parser: FeedParser
  /** True while too many stored pages wait for the normaliser: no more pages are fetched. */
  backlogged: boolean
  /** Outlets that have to wait, as the dispatcher last found them. */
  held: Held
  /** Outlets of whose past this process fetches an address. */
  goingBack: Set<number>
  /** Outlets with more waiting pages than the crawler can fetch in some days. */
  brimming: Set<number>
  /** Domains of the catalogue's outlets. */
  domains: Set<string>
}
