import { decodeText } from '../../../shared/encoding/decode.ts'
import type { Crawl } from '../crawl.ts'
import { gunzipFile } from '../fetch/compression.ts'
import { asFailure } from '../fetch/failure.ts'
import { type Fetched, politeGet } from '../fetch/polite.ts'
import type { Answer } from '../fetch/request.ts'
import { LONGEST_PAUSE, readRetryAfter } from '../fetch/retry-after.ts'
import type { Hold } from '../hosts/holds.ts'
import type { Feed } from './feed.ts'
import { parseFeed } from './parse.ts'
import type { Validators } from './save.ts'

const ACCEPT =
  'application/rss+xml,application/atom+xml,application/feed+json,application/xml;q=0.9,text/xml;q=0.9,application/json;q=0.8,*/*;q=0.5'

/** A document as it was read, or why it was not. */
export type Document =
  | { kind: 'feed'; feed: Feed; base: string; validators: Validators }
  | { kind: 'unchanged' }
  | { kind: 'failure'; reason: string; detail: string; wait: { atLeast?: number; exactly?: number } }
  | { kind: 'later'; host: string; wait: number }
  | { kind: 'interrupted' }

/**
 * Fetches and reads one document, conditionally when it was read before.
 * @param patience longest wait for the host in ms; by default so long as a visit waits
 */
export async function readDocument(
  crawl: Crawl,
  visit: Hold,
  address: string,
  known: Validators,
  patience?: number,
): Promise<Document> {
  const headers = {
    accept: ACCEPT,
    ...(known.etag === null ? {} : { 'if-none-match': known.etag }),
    ...(known.lastModified === null ? {} : { 'if-modified-since': known.lastModified }),
  }
  const fetched = await politeGet(crawl, visit, address, headers, patience)
  if (fetched.kind !== 'answer') return notRead(fetched)
  const { answer, url } = fetched
  if (answer.status === 304) return { kind: 'unchanged' }
  if (answer.status !== 200 && answer.status !== 203) return refused(answer)
  let bytes: Buffer
  try {
    bytes = await gunzipFile(answer.body, crawl.config.CRAWL_MAX_BYTES)
  } catch (error) {
    const failure = asFailure(error)
    return { kind: 'failure', reason: failure.kind, detail: failure.message, wait: {} }
  }
  const { text } = decodeText(bytes, { contentType: answer.headers['content-type'] ?? null, kind: 'xml' })
  const feed = await parseFeed(text, url.href)
  if (feed === null) {
    const type = answer.headers['content-type'] ?? 'without a type'
    return { kind: 'failure', reason: 'no feed', detail: `no feed: ${type}, ${bytes.length} bytes`, wait: {} }
  }
  return { kind: 'feed', feed, base: url.href, validators: validatorsOf(answer, feed) }
}

/** Of a document that was broken off nothing is sent back: the next answer shall be whole. */
function validatorsOf({ headers }: Answer, feed: Feed): Validators {
  if (!feed.whole) return { etag: null, lastModified: null }
  return { etag: headers.etag?.slice(0, 1_000) ?? null, lastModified: headers['last-modified']?.slice(0, 100) ?? null }
}

function refused({ status, headers }: Answer): Document {
  const wait = { atLeast: status === 410 ? LONGEST_PAUSE : (readRetryAfter(headers) ?? 0) }
  return { kind: 'failure', reason: `status ${status}`, detail: `the feed answers ${status}`, wait }
}

function notRead(fetched: Exclude<Fetched, { kind: 'answer' }>): Document {
  switch (fetched.kind) {
    case 'interrupted':
      return fetched
    case 'busy':
      return { kind: 'later', host: fetched.host, wait: fetched.wait }
    case 'robots unreachable':
      return { kind: 'failure', reason: 'robots unreachable', detail: fetched.detail, wait: { exactly: fetched.wait } }
    case 'disallowed':
      return { kind: 'failure', reason: 'robots', detail: fetched.detail, wait: {} }
    case 'failure':
      return { kind: 'failure', reason: fetched.reason, detail: fetched.detail, wait: {} }
  }
}
