import type { Crawl } from '../crawl.ts'
import type { Hold } from '../hosts/leases.ts'
import type { DueFeed } from './due-feed.ts'

/** One poll of a feed or sitemap, as each of its steps needs it. */
export interface Poll {
  crawl: Crawl
  visit: Hold
  feed: DueFeed
  /** To be called before each document is parsed (`scheduling/schedule.ts`). */
  beforeParsing(): Promise<void>
}
