import type { Crawl } from '../crawl.ts'
import { feedGaps } from '../metrics.ts'
import type { DueFeed } from './due-feed.ts'
import type { Gap } from './saving/gaps.ts'

/** Tells operators of a gap that was saved. */
export function reportGap(crawl: Crawl, feed: DueFeed, gap: Gap | null): void {
  if (gap === null) return
  feedGaps.inc()
  crawl.log.info(
    { feed: feed.url, from: gap.from, to: gap.to },
    'a feed rolled on between two polls: articles may have come and gone unseen',
  )
}
