import type { Crawl } from '../crawl.ts'
import { NO_VALIDATORS, type Validators } from '../fetch/validators.ts'
import type { Lease } from '../hosts/leases.ts'
import { feedPolls, pagesDiscovered } from '../metrics.ts'
import { subscribeWhenDue } from '../websub/subscribe.ts'
import { noteHub } from '../websub/subscription.ts'
import { readArchives } from './archives.ts'
import { type Document, readDocument } from './document.ts'
import type { DueFeed } from './due-feed.ts'
import { showsLatestAlone } from './parsing/feed.ts'
import { NO_LINKS } from './parsing/links.ts'
import { type PartsRead, readParts } from './parts.ts'
import type { Poll } from './poll-context.ts'
import { reportGap } from './report-gap.ts'
import { type GoodPoll, savePoll } from './saving/save.ts'
import { beforeParsing, postpone, saveFailure } from './scheduling/schedule.ts'

/**
 * Polls one feed or sitemap.
 * @returns whether the visit may go on; false: its host must not be asked again for now
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
  const giveBack = async () => {
    if (parsing) await postpone(crawl.pool, feed, 0)
    return false
  }
  const document = await readDocument(poll, feed.url, feed)
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
      const parts = hasParts(document) ? await readParts(poll, document) : NO_PARTS
      if (parts.interrupted || !(await readArchives(poll))) return giveBack()
      await (parts.error === null
        ? saveSuccess(crawl, feed, document, parts)
        : savePartsFailure(crawl, feed, parts.error))
      if (parts.error === null) await subscribe(poll, document)
      return true
    }
  }
}

type ReadDocument = Extract<Document, { kind: 'feed' | 'unchanged' }>

/** An unchanged document may be an index whose parts have changed. */
const hasParts = (document: ReadDocument) => document.kind === 'unchanged' || document.feed.format === 'sitemap index'

const NO_PARTS: PartsRead = { discovered: 0, interrupted: false, error: null, whole: true, any: false }

async function savePartsFailure(crawl: Crawl, feed: DueFeed, error: string): Promise<void> {
  await saveFailure(crawl.pool, feed, error, {}, crawl.config)
  feedPolls.inc({ outcome: 'no part could be read' })
  crawl.log.info({ feed: feed.url, detail: error }, 'no part of a sitemap index could be read')
}

async function saveSuccess(crawl: Crawl, feed: DueFeed, document: ReadDocument, parts: PartsRead): Promise<void> {
  const unchanged = document.kind === 'unchanged'
  const result: GoodPoll = {
    named: unchanged ? [] : document.feed.named,
    links: unchanged ? NO_LINKS : document.feed.links,
    rolls: !unchanged && showsLatestAlone(document.feed.format),
    validators: validatorsToKeep(document, parts),
    fresh: parts.any ? 0 : document.fresh,
    before: parts.discovered,
  }
  const { discovered, gap } = (await savePoll(crawl.pool, feed, result, crawl.config)) ?? { discovered: 0, gap: null }
  pagesDiscovered.inc(discovered - parts.discovered)
  feedPolls.inc({ outcome: discovered > 0 ? 'new' : unchanged ? 'unchanged' : 'nothing new' })
  crawl.log.debug({ feed: feed.url, discovered, unchanged }, 'polled')
  reportGap(crawl, feed, gap)
}

/** Remembers the feed's hub, and asks it for a subscription when that is due. */
async function subscribe(poll: Poll, document: ReadDocument): Promise<void> {
  if (poll.crawl.config.WEBSUB_PUBLIC_URL === '') return
  if (document.kind === 'feed') {
    const { hubs, self } = document.feed.links
    await noteHub(poll.crawl.pool, poll.feed, hubs[0] ?? null, self ?? document.base)
  }
  await subscribeWhenDue(poll)
}

/** Null: the old ones hold. The next poll must read an index again when parts of it are missing. */
function validatorsToKeep(document: ReadDocument, parts: PartsRead): Validators | null {
  if (document.kind === 'unchanged') return null
  return parts.whole ? document.validators : NO_VALIDATORS
}
