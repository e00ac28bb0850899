import { noteSignals, valued, warnOfSignals } from '../../../shared/outlets/rights.ts'
import type { Crawl } from '../crawl.ts'
import { pagesDiscovered } from '../crawl-metrics.ts'
import { OWN_PAUSE } from '../fetch/permitted-request.ts'
import { NO_VALIDATORS, type Validators } from '../fetch/request.ts'
import type { Lease } from '../hosts/leases.ts'
import { HELD_FOR } from '../verdict.ts'
import { type Document, type Poll, readDocument } from './document.ts'
import { showsLatestAlone } from './parsing/feed.ts'
import { type PartsRead, readParts } from './parts.ts'
import { type Gap, type GoodPoll, saveOlderPage, savePoll, saveUnclosedGap } from './save.ts'
import { beforeParsing, type DueFeed, postpone, saveFailure } from './schedule.ts'
import { countSecond } from './second.ts'

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
      if (document.reason === 'held') {
        await postpone(crawl.pool, feed, HELD_FOR, document.detail)
        return false
      }
      await saveFailure(crawl.pool, feed, document.detail, document.wait, crawl.config)
      crawl.log.info({ feed: feed.url, reason: document.reason, detail: document.detail }, 'a feed could not be read')
      return true
    case 'unchanged':
    case 'feed': {
      const parts = hasParts(document) ? await readParts(poll, document) : NO_PARTS
      if (parts.interrupted) return giveBack()
      if (parts.error !== null) {
        await saveFailure(crawl.pool, feed, parts.error, {}, crawl.config)
        crawl.log.info({ feed: feed.url, detail: parts.error }, 'no part of a sitemap index could be read')
        return true
      }
      const older = await saveSuccess(crawl, feed, document, parts)
      return (await readOlderPages(poll, older)) && countSecond(poll)
    }
  }
}

type ReadDocument = Extract<Document, { kind: 'feed' | 'unchanged' }>

/** An unchanged document may be an index whose parts have changed. */
const hasParts = (document: ReadDocument) => document.kind === 'unchanged' || document.feed.format === 'sitemap index'

const NO_PARTS: PartsRead = { discovered: 0, interrupted: false, error: null, whole: true, any: false }

/** Returns the older page that is to be read; null: none. */
async function saveSuccess(
  crawl: Crawl,
  feed: DueFeed,
  document: ReadDocument,
  parts: PartsRead,
): Promise<string | null> {
  const unchanged = document.kind === 'unchanged'
  const result: GoodPoll = {
    named: unchanged ? [] : document.feed.named,
    next: unchanged ? null : document.feed.next,
    rolls: !unchanged && showsLatestAlone(document.feed.format),
    validators: validatorsToKeep(document, parts),
    fresh: parts.any ? 0 : document.fresh,
    before: parts.discovered,
  }
  const saved = await savePoll(crawl.pool, feed, result, crawl.config)
  const { discovered, gap, older } = saved ?? { discovered: 0, gap: null, older: null }
  pagesDiscovered.inc(discovered - parts.discovered)
  crawl.asked.add(feed.outletNo, feed.kind === 'feed' ? { polls: 1 } : { sitemaps: 1 })
  crawl.log.debug({ feed: feed.url, discovered, unchanged }, 'polled')
  const licence = unchanged ? null : document.feed.licence
  if (licence !== null) {
    const seen = [valued('licence', licence, 'feed')]
    warnOfSignals(crawl.log, await noteSignals(crawl.pool, [{ outletNo: feed.outletNo, seen }]))
  }
  reportGap(crawl, feed, gap)
  return older
}

/** Null: the old ones hold. The next poll must read an index again when parts of it are missing. */
function validatorsToKeep(document: ReadDocument, parts: PartsRead): Validators | null {
  if (document.kind === 'unchanged') return null
  return parts.whole ? document.validators : NO_VALIDATORS
}

/** Older pages of a feed that are read for one gap, at most. */
const MOST_OLDER_PAGES = 20

/**
 * Reads older pages of a feed in pages (RFC 5005 §3) until one closes its open gap, each once and
 * with a request of its own. A page that fails is tried again by the next polls, and never fails
 * the feed.
 *
 * @returns whether the visit may go on
 */
async function readOlderPages(poll: Poll, first: string | null): Promise<boolean> {
  const { crawl, visit, feed } = poll
  if (first === null) return true
  const seen = new Set([feed.url])
  for (let url: string | null = first; url !== null && !seen.has(url) && seen.size <= MOST_OLDER_PAGES; ) {
    seen.add(url)
    // The next poll is planned already.
    const document = await readDocument({ ...poll, beforeParsing: async () => {} }, url, NO_VALIDATORS, OWN_PAUSE)
    if (document.kind === 'interrupted') return false
    if (document.kind === 'later') return document.host !== visit.host
    if (document.kind !== 'feed') {
      const detail = document.kind === 'failure' ? document.detail : 'it answers 304'
      crawl.log.info({ feed: feed.url, page: url, detail }, 'could not read an older page of a feed')
      reportGap(crawl, feed, await saveUnclosedGap(crawl.pool, feed, true))
      return true
    }
    const saved = await saveOlderPage(crawl.pool, feed, document.feed.named, crawl.config)
    pagesDiscovered.inc(saved?.discovered ?? 0)
    if (saved === null || saved.closed) return true
    url = document.feed.next
  }
  reportGap(crawl, feed, await saveUnclosedGap(crawl.pool, feed, false))
  return true
}

/** Tells operators of a gap that was saved. */
function reportGap(crawl: Crawl, feed: DueFeed, gap: Gap | null): void {
  if (gap === null) return
  crawl.log.info(
    { feed: feed.url, from: gap.from, to: gap.to },
    'a feed rolled on between two polls: articles may have come and gone unseen',
  )
}
