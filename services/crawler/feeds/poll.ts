import type { Crawl } from '../crawl.ts'
import type { Lease } from '../hosts/leases.ts'
import { feedPolls, pagesDiscovered } from '../metrics.ts'
import { readDocument } from './document.ts'
import type { DueFeed } from './due-feed.ts'
import { readParts } from './parts.ts'
import type { Poll } from './poll-context.ts'
import { savePoll } from './saving/save.ts'
import { beforeParsing, postpone, saveFailure } from './scheduling/schedule.ts'

/**
 * Polls one feed or sitemap. True: the visit may go on; false: its host is not to be asked any more
 * for now.
 */
export async function pollFeed(crawl: Crawl, visit: Lease, feed: DueFeed): Promise<boolean> {
  let parsing = false
  const poll: Poll = {
    ...{ crawl, visit, feed },
    async beforeParsing() {
      await beforeParsing(crawl.pool, feed, crawl.config)
      parsing = true
    },
  }
  const document = await readDocument(poll, feed.url, feed)
  const giveBack = async () => {
    if (parsing) await postpone(crawl.pool, feed, 0)
    return false
  }
  switch (document.kind) {
    case 'interrupted':
      return giveBack()
    case 'later':
      await postpone(crawl.pool, feed, document.wait)
      return document.host !== visit.host
    case 'failure':
      await saveFailure(crawl.pool, feed, document.detail, document.wait, crawl.config)
      feedPolls.inc({ outcome: document.reason })
      crawl.log.info({ feed: feed.url, reason: document.reason, detail: document.detail }, 'a feed could not be read')
      return true
    case 'unchanged':
    case 'feed': {
      const index = document.kind === 'unchanged' || document.feed.format === 'sitemap index'
      const parts = index ? await readParts(poll, document) : { fresh: 0, interrupted: false, error: null, whole: true }
      if (parts.interrupted) return giveBack()
      if (parts.error !== null) {
        await saveFailure(crawl.pool, feed, parts.error, {}, crawl.config)
        feedPolls.inc({ outcome: 'no part could be read' })
        crawl.log.info({ feed: feed.url, detail: parts.error }, 'no part of a sitemap index could be read')
        return true
      }
      const named = document.kind === 'feed' ? document.feed.named : []
      const validators =
        document.kind === 'unchanged' ? null : parts.whole ? document.validators : { etag: null, lastModified: null }
      const fresh = (await savePoll(crawl.pool, feed, named, validators, crawl.config, parts.fresh)) ?? 0
      pagesDiscovered.inc(fresh - parts.fresh)
      feedPolls.inc({ outcome: fresh > 0 ? 'new' : document.kind === 'unchanged' ? 'unchanged' : 'nothing new' })
      crawl.log.debug({ feed: feed.url, fresh, unchanged: document.kind === 'unchanged' }, 'polled')
      return true
    }
  }
}
