import type { Crawl } from '../crawl.ts'
import type { Lease } from '../hosts/leases.ts'
import type { DueFeed } from './due-feed.ts'

/** One poll of a feed or sitemap. */
export interface Poll {
  crawl: Crawl
  visit: Lease
  feed: DueFeed
  /** Must be called before each document is parsed (`scheduling/schedule.ts`). */
  beforeParsing(): Promise<void>
}
