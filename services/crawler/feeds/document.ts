import type { Crawl } from '#services/crawler/crawl'
import { type Fetched, politeGet } from '#services/crawler/fetch/polite-get'
import {
  conditions,
  type FetchedResponse,
  NO_VALIDATORS,
  type Validators,
  validatorsOf,
} from '#services/crawler/fetch/request'
import type { Lease } from '#services/crawler/hosts/leases'
import { LONGEST_RETRY_AFTER, readRetryAfter } from '#shared/resilience/retry-after'
import type { ParsedFeed } from './parsing/parse.ts'
import { ParseFailure } from './parsing/parser.ts'
import { freshFor } from './rhythm.ts'
import type { DueFeed } from './schedule.ts'

const ACCEPT =
  'application/rss+xml,application/atom+xml,application/feed+json,application/xml;q=0.9,text/xml;q=0.9,application/json;q=0.8,*/*;q=0.5'

/** What reading documents needs. */
export interface Reading {
  crawl: Crawl
  visit: Lease
  feed: Pick<DueFeed, 'outletNo'>
  /** Must be called before each document is parsed (`schedule.ts`). */
  beforeParsing(): Promise<void>
}

/** One poll of a feed or sitemap. */
export interface Poll extends Reading {
  feed: DueFeed
}

/**
 * A document that was read, or the reason why it was not. `fresh`: ms for which the server promises
 * that the document does not change. `moved`: the address to which it has moved for good.
 */
export type Document =
  | {
      kind: 'feed'
      feed: ParsedFeed
      base: string
      validators: Validators
      fresh: number
      moved: string | null
    }
  | { kind: 'unchanged'; fresh: number; moved: string | null }
  | {
      kind: 'failure'
      reason: string
      detail: string
      wait: { atLeast?: number; exactly?: number }
    }
  | { kind: 'later'; host: string; wait: number }
  | { kind: 'interrupted' }

/** The `reason` of a document that arrived whole, but could not be parsed. */
export const UNPARSED = 'parsing'

/**
 * Fetches and parses one document. The request is conditional when the document was read before.
 *
 * @param patience longest wait for the host in ms; by default the wait of a visit
 * @param old takes old entries and parts, too
 */
export async function readDocument(
  poll: Reading,
  address: string,
  known: Validators,
  patience?: number,
  old = false,
): Promise<Document> {
  const { crawl, visit } = poll
  const asked = conditions(known)
  const headers = { accept: ACCEPT, ...asked }
  const options = patience === undefined ? {} : { ownPatience: patience }
  const fetched = await politeGet(crawl, visit, poll.feed.outletNo, address, headers, options)
  if (fetched.kind !== 'answer') return notRead(fetched)
  const { answer, url } = fetched
  const moved = fetched.moved?.href ?? null
  // Some caches answer 304 to a request without validators. We then have no copy.
  const isUnchanged = answer.status === 304 && Object.keys(asked).length > 0
  if (isUnchanged) return { kind: 'unchanged', fresh: freshFor(answer.headers), moved }
  if (answer.status !== 200 && answer.status !== 203) return refused(answer)
  const contentType = answer.headers['content-type'] ?? null
  const bytes = answer.body
  try {
    await poll.beforeParsing()
    const feed = await crawl.parser.parse(
      { bytes, contentType, url: url.href, old },
      // The past of all outlets has one turn, so that it delays no feed of theirs.
      old ? 'past' : poll.feed.outletNo,
      crawl.ending,
    )
    if (feed === null) {
      const detail = `no feed: ${contentType ?? 'without a type'}, ${bytes.length} bytes`
      return { kind: 'failure', reason: 'no feed', detail, wait: {} }
    }
    return {
      kind: 'feed',
      feed,
      base: url.href,
      validators: validatorsToKeep(answer, feed),
      fresh: freshFor(answer.headers),
      moved,
    }
  } catch (error) {
    if (crawl.ending.aborted) return { kind: 'interrupted' }
    if (!(error instanceof ParseFailure)) throw error
    return { kind: 'failure', reason: UNPARSED, detail: error.message, wait: {} }
  }
}

/** The validators of a document that breaks off are dropped, so that the server sends it again. */
const validatorsToKeep = (answer: FetchedResponse, feed: ParsedFeed) =>
  feed.whole ? validatorsOf(answer) : NO_VALIDATORS

/** What a status other than 200 says of a document. */
export function refused({ status, headers }: FetchedResponse): Document {
  const wait = {
    atLeast:
      status === 410
        ? LONGEST_RETRY_AFTER
        : (readRetryAfter(headers['retry-after'], headers.date) ?? 0),
  }
  return { kind: 'failure', reason: `status ${status}`, detail: `the feed answers ${status}`, wait }
}

/** Why a document was not read. */
export function notRead(fetched: Exclude<Fetched, { kind: 'answer' }>): Document {
  const { kind } = fetched
  if (kind === 'interrupted') return fetched
  if (kind === 'busy') return { kind: 'later', host: fetched.host, wait: fetched.wait }
  const wait = kind === 'robots unreachable' ? { exactly: fetched.wait } : {}
  return {
    kind: 'failure',
    reason: kind === 'failure' ? fetched.reason : kind,
    detail: fetched.detail,
    wait,
  }
}
