import type { Pool } from '../../../shared/postgres/pool.ts'
import { OWN_PAUSE } from '../fetch/permitted-request.ts'
import { pagesDiscovered } from '../metrics.ts'
import { type Document, readDocument, UNPARSED } from './document.ts'
import type { DueFeed } from './due-feed.ts'
import type { SitemapPart } from './parsing/feed.ts'
import { MAX_PARTS } from './parsing/sitemaps.ts'
import type { Poll } from './poll-context.ts'
import { savePart, type Validators } from './saving/save.ts'

/**
 * What reading the parts of an index has brought; `error` when not one could be read, or one could
 * not be parsed.
 */
export interface PartsRead {
  fresh: number
  interrupted: boolean
  error: string | null
  /**
   * False: parts failed, or are left for the next poll. An index that is unchanged then must be
   * read again all the same.
   */
  whole: boolean
}

const NEVER_READ: Validators = { etag: null, lastModified: null }

interface KnownPart extends Validators {
  url: string
  modified: string | null
}

/** Far more parts than an index is read of (`recentParts`). */
export const MOST_REMEMBERED = 400
/**
 * An index inside an index is against the protocol, yet served; an index inside that one is not
 * looked for.
 */
const MAX_DEPTH = 2

/**
 * Reads those parts of a sitemap index that may hold something new, each a request of its own: the
 * recent ones, except those whose `lastmod` is the one they were read with. When the index itself
 * is unchanged, the parts it named last are asked again all the same: many indexes name one part
 * for ever, without a date.
 */
export async function readParts(
  poll: Poll,
  index: Extract<Document, { kind: 'feed' | 'unchanged' }>,
): Promise<PartsRead> {
  const { crawl, feed } = poll
  const known = await knownParts(crawl.pool, feed)
  const todo = index.kind === 'feed' ? index.feed.parts.map(part => ({ part, depth: 1 })) : knownAgain(known)
  const result: PartsRead = { fresh: 0, interrupted: false, error: null, whole: true }
  const seen = new Set<string>()
  let tried = 0
  let read = 0
  for (let next = todo.shift(); next !== undefined; next = todo.shift()) {
    const { part, depth } = next
    const url = URL.parse(part.url, index.kind === 'feed' ? index.base : feed.url)?.href
    if (url === undefined || seen.has(url)) continue
    seen.add(url)
    const memory = known.get(url)
    if (memory !== undefined && memory.modified === part.modified && isExact(part.modified)) {
      read += 1
      continue
    }
    if (tried === MAX_PARTS) {
      // One without a date comes last among its like, poll after poll: the likeliest of these are
      // all that is read.
      if (isExact(part.modified)) result.whole = false
      continue
    }
    tried += 1
    // All parts are read in one visit, also where the host wants long pauses.
    const document = await readDocument(poll, url, memory ?? NEVER_READ, OWN_PAUSE)
    if (document.kind === 'interrupted') return { ...result, interrupted: true }
    // Eight such parts in each poll would keep a thread for ever: the feed as a whole is asked less
    // and less often.
    if (document.kind === 'failure' && document.reason === UNPARSED) {
      return { ...result, whole: false, error: `${url}: ${document.detail}` }
    }
    if (document.kind === 'later' || document.kind === 'failure') {
      result.whole = false
      result.error ??= `${url}: ${document.kind === 'later' ? 'its host is busy' : document.detail}`
      continue
    }
    read += 1
    if (document.kind === 'unchanged') continue
    if (document.feed.format === 'sitemap index' && depth < MAX_DEPTH) {
      todo.unshift(...document.feed.parts.map(inner => ({ part: inner, depth: depth + 1 })))
    }
    // An index is read again whatever it says of itself: its parts may have changed without it.
    const fresh = await (document.feed.format === 'sitemap index'
      ? savePart(crawl.pool, feed, { url, modified: null }, [], NEVER_READ, crawl.config)
      : savePart(
          crawl.pool,
          feed,
          { url, modified: part.modified },
          document.feed.named,
          document.validators,
          crawl.config,
        ))
    if (fresh === null) return { ...result, interrupted: true }
    result.fresh += fresh
    pagesDiscovered.inc(fresh)
  }
  return read > 0 ? { ...result, error: null } : result
}

async function knownParts(pool: Pool, feed: DueFeed): Promise<Map<string, KnownPart>> {
  const { rows } = await pool.query<KnownPart>(
    `select url, modified, etag, last_modified as "lastModified"
       from sitemap_parts where feed_no = $1 order by read_at desc limit $2`,
    [feed.feedNo, MOST_REMEMBERED],
  )
  return new Map(rows.map(row => [row.url, row]))
}

function knownAgain(known: Map<string, KnownPart>): { part: SitemapPart; depth: number }[] {
  return [...known.values()]
    .filter(({ modified }) => !isExact(modified))
    .slice(0, MAX_PARTS)
    .map(({ url, modified }) => ({ part: { url, modified }, depth: 1 }))
}

/**
 * Whether an equal `lastmod` proves a part unchanged: one that names a day only may hold more than
 * this morning.
 */
function isExact(modified: string | null): boolean {
  if (modified === null) return false
  const time = Date.parse(modified)
  return modified.includes('T') ? !Number.isNaN(time) : Date.now() - time > 2 * 86_400_000
}
