import { AMONG_WRITERS } from '#search/removals'
import type { Crawl } from '#services/crawler/crawl'
import { pagesDiscovered } from '#services/crawler/crawl-metrics'
import { OWN_PAUSE } from '#services/crawler/fetch/permitted-request'
import { NO_VALIDATORS, type Validators } from '#services/crawler/fetch/request'
import type { Lease } from '#services/crawler/hosts/leases'
import { ownersOf } from '#services/crawler/page'
import { HELD_FOR } from '#services/crawler/verdict'
import { noteSignals, valued, warnOfSignals } from '#shared/outlets/rights'
import { type Client, type Pool, readValue, transaction } from '#shared/postgres/pool'
import { type Document, type Poll, readDocument } from './document.ts'
import { showsLatestAlone } from './parsing/feed.ts'
import type { Named } from './parsing/parse.ts'
import {
  domainsOf,
  type Gap,
  type GoodPoll,
  readBarred,
  saveOlderPage,
  savePoll,
  saveUnclosedGap,
} from './save.ts'
import { beforeParsing, type DueFeed, postpone, saveFailure } from './schedule.ts'
import { NO_PARTS, type PartsRead, readParts } from './sitemap-parts.ts'

/*
 * A poll is one request, but may lead to more: parts of an index, older pages that close a gap, a
 * sitemap that is only counted. The result of each request is saved at once, so an interrupted
 * visit loses nothing.
 */

/**
 * Polls one feed or sitemap.
 * @returns false when the visit must end: it was interrupted, or its host must rest for now
 */
export async function pollFeed(crawl: Crawl, visit: Lease, feed: DueFeed): Promise<boolean> {
  let parsing = false
  const poll: Poll = {
    crawl,
    visit,
    feed,
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
      crawl.log.info(
        { feed: feed.url, reason: document.reason, detail: document.detail },
        'a feed could not be read',
      )
      return true
    case 'unchanged':
    case 'feed': {
      const parts = hasParts(document) ? await readParts(poll, document) : NO_PARTS
      if (parts.interrupted) return giveBack()
      if (parts.error !== null) {
        await saveFailure(crawl.pool, feed, parts.error, {}, crawl.config)
        crawl.log.info(
          { feed: feed.url, detail: parts.error },
          'no part of a sitemap index could be read',
        )
        return true
      }
      const older = await saveSuccess(crawl, feed, document, parts)
      return (await readOlderPages(poll, older)) && countSecond(poll)
    }
  }
}

type ReadDocument = Extract<Document, { kind: 'feed' | 'unchanged' }>

/** An unchanged document may be an index whose parts have changed. */
const hasParts = (document: ReadDocument) =>
  document.kind === 'unchanged' || document.feed.format === 'sitemap index'

/** Returns the older page that must be read; null: no page. */
async function saveSuccess(crawl: Crawl, feed: DueFeed, document: ReadDocument, parts: PartsRead) {
  const unchanged = document.kind === 'unchanged'
  const result: GoodPoll = {
    named: unchanged ? [] : document.feed.named,
    next: unchanged ? null : document.feed.next,
    rolls: !unchanged && showsLatestAlone(document.feed.format),
    validators: validatorsToKeep(document, parts),
    fresh: parts.any ? 0 : document.fresh,
    before: parts.discovered,
    moved: document.moved,
  }
  const saved = await savePoll(crawl.pool, feed, result, crawl.config)
  const { added, gap, older } = saved ?? { added: 0, gap: null, older: null }
  pagesDiscovered.inc({}, added)
  crawl.asked.add(feed.outletNo, feed.kind === 'feed' ? { polls: 1 } : { sitemaps: 1 })
  crawl.log.debug({ feed: feed.url, discovered: parts.discovered + added, unchanged }, 'polled')
  const licence = unchanged ? null : document.feed.licence
  if (licence !== null) {
    const seen = [valued('licence', licence, 'feed')]
    warnOfSignals(crawl.log, await noteSignals(crawl.pool, [{ outletNo: feed.outletNo, seen }]))
  }
  reportGap(crawl, feed, gap)
  return older
}

/**
 * The validators to save. Null: the stored ones stay. If parts of an index are missing, the stored
 * validators are removed, so that the next poll reads the index again.
 */
function validatorsToKeep(document: ReadDocument, parts: PartsRead): Validators | null {
  if (document.kind === 'unchanged') return null
  return parts.whole ? document.validators : NO_VALIDATORS
}

/** How many older pages of a feed the crawler reads to close one gap, at most. */
const MOST_OLDER_PAGES = 20

/**
 * Reads older pages of a paged feed (RFC 5005 §3) until one closes its open gap. Each page is read
 * once, with a request of its own. If a page fails, the next polls try it again, and the feed
 * itself does not fail.
 *
 * @returns whether the visit may go on
 */
async function readOlderPages(poll: Poll, first: string | null): Promise<boolean> {
  const { crawl, feed } = poll
  if (first === null) return true
  const seen = new Set([feed.url])
  for (
    let url: string | null = first;
    url !== null && !seen.has(url) && seen.size <= MOST_OLDER_PAGES;
  ) {
    seen.add(url)
    const document = await readBeside(poll, url)
    if (typeof document === 'boolean') return document
    if (document.kind !== 'feed') {
      const detail = document.kind === 'failure' ? document.detail : 'it answers 304'
      crawl.log.info(
        { feed: feed.url, page: url, detail },
        'could not read an older page of a feed',
      )
      reportGap(crawl, feed, await saveUnclosedGap(crawl.pool, feed, true))
      return true
    }
    const saved = await saveOlderPage(crawl.pool, feed, document.feed.named, crawl.config)
    pagesDiscovered.inc({}, saved?.discovered ?? 0)
    if (saved === null || saved.closed) return true
    url = document.feed.next
  }
  reportGap(crawl, feed, await saveUnclosedGap(crawl.pool, feed, false))
  return true
}

/**
 * Reads a further document after the feed of a visit.
 *
 * @returns whether the visit may go on, where the document was not read now
 */
async function readBeside(poll: Poll, url: string) {
  // `beforeParsing` would plan the next poll, which is planned already.
  const own = { ...poll, beforeParsing: async () => {} }
  const document = await readDocument(own, url, NO_VALIDATORS, OWN_PAUSE)
  if (document.kind === 'interrupted') return false
  return document.kind === 'later' ? document.host !== poll.visit.host : document
}

/** Logs a gap for operators. */
function reportGap(crawl: Crawl, feed: DueFeed, gap: Gap | null): void {
  if (gap === null) return
  crawl.log.info(
    { feed: feed.url, from: gap.from, to: gap.to },
    'a feed rolled on between two polls: articles may have come and gone unseen',
  )
}

/** ms between two readings of a news sitemap that is only counted. It lists the last two days. */
const EVERY = 6 * 3_600_000
const DAY = 86_400_000

/**
 * Counts the articles of an outlet a second time, independently of its feeds. If the catalogue
 * names no sitemap of the outlet, this reads the news sitemap that robots.txt names. The addresses
 * in it are never fetched, because the operator has not chosen that sitemap. After a failure, the
 * next reading comes at its usual time.
 *
 * @returns whether the visit may go on
 */
async function countSecond(poll: Poll): Promise<boolean> {
  const { crawl, feed } = poll
  const url = feed.kind === 'feed' ? await claimSecond(crawl.pool, feed) : null
  if (url === null) return true
  const document = await readBeside(poll, url)
  if (typeof document === 'boolean') return document
  if (document.kind !== 'feed' || document.feed.format !== 'news sitemap') {
    const detail = document.kind === 'failure' ? document.detail : 'it is no news sitemap'
    crawl.log.info({ sitemap: url, detail }, 'could not count an outlet a second time')
    return true
  }
  const whose = ownersOf(crawl.pool, feed.outletNo)
  const own: Named[] = []
  for (const one of document.feed.named) if ((await whose(one.entry.url)) === null) own.push(one)
  await transaction(crawl.pool, client => saveSecond(client, feed, own))
  crawl.asked.add(feed.outletNo, { sitemaps: 1 })
  return true
}

/**
 * The news sitemap to count now; null: none. A sitemap is left out if several outlets have feeds on
 * its host, because it does not tell their articles apart. Indexes: the primary keys, and
 * feeds_due.
 */
const claimSecond = (pool: Pool, feed: DueFeed): Promise<string | null> =>
  readValue<string>(
    pool,
    `update outlets o
        set second_at = clock_timestamp() + $3 * interval '1 ms', second_from = coalesce(second_from, clock_timestamp())
       from hosts h
      where o.outlet_no = $1 and o.second_at <= clock_timestamp()
        and h.host in ($2, o.domain, 'www.' || o.domain) and h.news_sitemap is not null
        and not exists (select from feeds f where f.outlet_no = $1 and f.kind = 'sitemap' and f.active)
        and not exists (select from feeds f where f.host = h.host and f.outlet_no <> $1 and f.active)
     returning h.news_sitemap`,
    [feed.outletNo, new URL(feed.url).host, EVERY],
  )

/**
 * Marks the pages that the sitemap names, and stores the addresses that no feed has named. It
 * leaves out addresses without a date, or from before the first reading, and those of articles that
 * were taken out.
 */
async function saveSecond(client: Client, feed: DueFeed, named: Named[]): Promise<void> {
  await client.query(`select ${AMONG_WRITERS}`)
  const barred = await readBarred(client, await domainsOf(client, feed), named)
  const latest = Date.now() + DAY
  const dated = named.flatMap(one => {
    const { key, entry } = one
    const time = Date.parse(entry.published ?? '')
    // Some systems write the year 1 when they have no date. East of UTC that becomes year 0, which
    // Postgres does not have.
    if (!(time > 0 && time < latest) || barred.has(one)) return []
    return [{ key, at: new Date(time).toISOString() }]
  })
  await client.query(
    `with named as (
       select key, at from jsonb_to_recordset($2) as n (key text, at timestamptz)
     ), known as (
       select page_no, crawl_key, named_by from pages
        where outlet_no = $1 and crawl_key in (select key from named) order by crawl_key for no key update
     ), marked as (
       update pages p set named_by = p.named_by | 2 from known k where p.page_no = k.page_no and k.named_by & 2 = 0
     )
     insert into unfetched_addresses (outlet_no, crawl_key, day)
     select $1, key, (n.at at time zone 'UTC')::date
       from named n, outlets o
      where o.outlet_no = $1 and n.at between o.second_from and clock_timestamp() + interval '1 day'
        and not exists (select from known where crawl_key = n.key)
      order by key
     on conflict do nothing`,
    [feed.outletNo, JSON.stringify(dated)],
  )
}
