import { pagesDiscovered } from '#services/crawler/crawl-metrics'
import { OWN_PAUSE } from '#services/crawler/fetch/permitted-request'
import { NO_VALIDATORS, type Validators } from '#services/crawler/fetch/request'
import type { Pool } from '#shared/postgres/pool'
import { type Document, type Poll, readDocument, UNPARSED } from './document.ts'
import type { SitemapPart } from './parsing/feed.ts'
import { MAX_PARTS } from './parsing/sitemaps.ts'
import { savePart } from './save.ts'
import type { DueFeed } from './schedule.ts'

/** The result of reading the parts of an index. */
export interface PartsRead {
  /** The number of new addresses. */
  discovered: number
  interrupted: boolean
  /** Set when no part could be read, or when one could not be parsed. */
  error: string | null
  /**
   * False: parts failed, or remain for the next poll. The next poll must then read the index again,
   * even if it has not changed.
   */
  whole: boolean
  /** Whether the document has parts, which may change when the document itself does not. */
  any: boolean
}

/** The result for a document without parts. */
export const NO_PARTS: PartsRead = {
  discovered: 0,
  interrupted: false,
  error: null,
  whole: true,
  any: false,
}

interface KnownPart extends Validators {
  url: string
  modified: string | null
}

/** The most parts of an index that are remembered: far more than one poll reads (`recentParts`). */
export const MOST_REMEMBERED = 400
/**
 * Depth to which indexes are followed. The protocol forbids an index inside an index, but outlets
 * serve them. We follow one level of them.
 */
const MAX_DEPTH = 2

/** A part to be read. The parts of the polled index are at depth 1. */
interface PendingPart {
  part: SitemapPart
  depth: number
}

/** The state of reading one index. */
interface PartsState {
  known: Map<string, KnownPart>
  /** Parts to read, the next one first. */
  todo: PendingPart[]
  seen: Set<string>
  /** Parts that were requested. */
  tried: number
  /** Parts that were read, or that are known to be unchanged. */
  read: number
  result: PartsRead
}

/**
 * The outcome of one part. After `read` and `unread`, the next part follows.
 */
type PartOutcome = 'read' | 'unread' | 'interrupted' | 'unparsed'

/**
 * Reads those parts of a sitemap index that may hold something new, each with a request of its own.
 * These are the recent parts, except those whose `lastmod` has not changed since they were read.
 *
 * When the index itself is unchanged, its last known parts are requested again, because many
 * indexes name one part for ever, without a date.
 */
export async function readParts(
  poll: Poll,
  index: Extract<Document, { kind: 'feed' | 'unchanged' }>,
): Promise<PartsRead> {
  const known = await knownParts(poll.crawl.pool, poll.feed)
  const base = index.kind === 'feed' ? index.base : poll.feed.url
  const todo =
    index.kind === 'feed' ? index.feed.parts.map(part => ({ part, depth: 1 })) : knownAgain(known)
  const result = { ...NO_PARTS, any: todo.length > 0 }
  const reading: PartsState = { known, todo, result, seen: new Set(), tried: 0, read: 0 }
  for (let next = todo.shift(); next !== undefined; next = todo.shift()) {
    const url = wantedUrl(reading, next.part, base)
    if (url === null) continue
    const outcome = await readPart(poll, reading, next, url)
    if (outcome === 'interrupted') return { ...result, interrupted: true }
    if (outcome === 'unparsed') return result
    if (outcome === 'read') reading.read += 1
  }
  return reading.read > 0 ? { ...result, error: null } : result
}

/** The address of a part; null when it need not be requested, or must wait for the next poll. */
function wantedUrl(reading: PartsState, part: SitemapPart, base: string): string | null {
  const url = URL.parse(part.url, base)?.href
  if (url === undefined || reading.seen.has(url)) return null
  reading.seen.add(url)
  const known = reading.known.get(url)
  if (known !== undefined && known.modified === part.modified && isExact(part.modified)) {
    reading.read += 1
    return null
  }
  if (reading.tried < MAX_PARTS) return url
  // In every poll, a part without a date comes after the more promising parts, and is never read.
  // The index need not be read again because of it.
  if (isExact(part.modified)) reading.result.whole = false
  return null
}

async function readPart(
  poll: Poll,
  reading: PartsState,
  pending: PendingPart,
  url: string,
): Promise<PartOutcome> {
  const { result } = reading
  reading.tried += 1
  // One visit reads all parts, even where the host wants long pauses.
  const document = await readDocument(poll, url, reading.known.get(url) ?? NO_VALIDATORS, OWN_PAUSE)
  switch (document.kind) {
    case 'interrupted':
      return 'interrupted'
    case 'unchanged':
      return 'read'
    case 'later':
      result.whole = false
      result.error ??= `${url}: its host is busy`
      return 'unread'
    case 'failure':
      result.whole = false
      // Eight unparsable parts in each poll would keep a thread busy for ever. So the poll fails,
      // and the pauses between polls grow.
      if (document.reason === UNPARSED) {
        result.error = `${url}: ${document.detail}`
        return 'unparsed'
      }
      result.error ??= `${url}: ${document.detail}`
      return 'unread'
    case 'feed': {
      const discovered = await savePartOf(poll, reading, pending, url, document)
      if (discovered === null) return 'interrupted'
      result.discovered += discovered
      pagesDiscovered.inc({}, discovered)
      return 'read'
    }
  }
}

/**
 * Saves a part that was read. The parts of an inner index are read next. A part that breaks off is
 * read once more, though its `lastmod` stays. Some always break off, and must not keep the parts
 * after them waiting.
 */
function savePartOf(
  { crawl, feed: dueFeed }: Poll,
  { known, todo }: PartsState,
  { part, depth }: PendingPart,
  url: string,
  { feed, validators }: Extract<Document, { kind: 'feed' }>,
): Promise<number | null> {
  if (feed.format !== 'sitemap index')
    return savePart(
      crawl.pool,
      dueFeed,
      { url, modified: feed.whole || known.get(url)?.modified === null ? part.modified : null },
      feed.named,
      validators,
      crawl.config,
    )
  if (depth < MAX_DEPTH)
    todo.unshift(...feed.parts.map(inner => ({ part: inner, depth: depth + 1 })))
  // Each poll reads an inner index again, because its parts may change while its date does not.
  return savePart(crawl.pool, dueFeed, { url, modified: null }, [], NO_VALIDATORS, crawl.config)
}

async function knownParts(pool: Pool, feed: DueFeed): Promise<Map<string, KnownPart>> {
  const { rows } = await pool.query<KnownPart>(
    `select url, modified, etag, last_modified as "lastModified"
       from sitemap_parts where feed_no = $1 order by read_at desc limit $2`,
    [feed.feedNo, MOST_REMEMBERED],
  )
  return new Map(rows.map(row => [row.url, row]))
}

const knownAgain = (known: Map<string, KnownPart>): PendingPart[] =>
  [...known.values()]
    .filter(({ modified }) => !isExact(modified))
    .slice(0, MAX_PARTS)
    .map(({ url, modified }) => ({ part: { url, modified }, depth: 1 }))

/**
 * Whether an equal `lastmod` proves that a part has not changed. A `lastmod` that names only a day
 * does not, until that day is over everywhere. Midnight stands for its day in many sitemaps.
 */
function isExact(modified: string | null): boolean {
  if (modified === null) return false
  const time = Date.parse(modified)
  return /T(?!00:00)/.test(modified) ? !Number.isNaN(time) : Date.now() - time > 2 * 86_400_000
}
