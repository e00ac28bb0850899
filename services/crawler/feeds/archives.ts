import { OWN_PAUSE } from '../fetch/permitted-request.ts'
import { NO_VALIDATORS } from '../fetch/validators.ts'
import { pagesDiscovered } from '../metrics.ts'
import { readDocument } from './document.ts'
import type { Poll } from './poll-context.ts'
import { reportGap } from './report-gap.ts'
import { nextUnread } from './saving/archive-memory.ts'
import { saveArchive, saveUnreadable } from './saving/save.ts'

/** Pages and archive documents that one poll reads. The others wait for the next polls. */
const MOST_IN_A_POLL = 4

/**
 * Reads pages and archive documents of a feed (RFC 5005) that were found and not read yet, each
 * with a request of its own. A document that fails is tried again by the next polls, and never
 * fails the feed itself.
 *
 * @returns false: the poll was interrupted
 */
export async function readArchives(poll: Poll): Promise<boolean> {
  const { crawl, feed } = poll
  for (let read = 0; read < MOST_IN_A_POLL; read += 1) {
    const unread = await nextUnread(crawl.pool, feed, crawl.config.CRAWL_ARCHIVE_DOCUMENTS)
    if (unread === null) return true
    const document = await readDocument(poll, unread.url, NO_VALIDATORS, OWN_PAUSE)
    switch (document.kind) {
      case 'interrupted':
        return false
      case 'later':
        return true
      case 'unchanged':
      case 'failure':
        reportGap(crawl, feed, await saveUnreadable(crawl.pool, feed, unread))
        if (document.kind === 'failure')
          crawl.log.info({ feed: feed.url, archive: unread.url, detail: document.detail }, 'could not read an archive')
        return true
      case 'feed': {
        const saved = await saveArchive(crawl.pool, feed, unread, document.feed, crawl.config)
        pagesDiscovered.inc(saved?.discovered ?? 0)
        reportGap(crawl, feed, saved?.gap ?? null)
      }
    }
  }
  return true
}
