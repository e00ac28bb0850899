import type { Client, Pool } from '../../../../shared/postgres/pool.ts'
import type { DueFeed } from '../due-feed.ts'
import type { FeedLinks } from '../parsing/links.ts'
import type { Gap } from './gaps.ts'

/** A page or archive document of a feed that is still to be read. */
export interface UnreadArchive {
  url: string
  /** The number of links from the feed to it. */
  depth: number
  /** Tries that failed. */
  tries: number
  /** A gap that it may close. */
  gap: Gap | null
}

/** Documents of one feed that are remembered. Maintenance removes older ones. */
export const MOST_ARCHIVES = 400
/** A document that fails so often in a row is given up. */
const MOST_TRIES = 5

/**
 * When a known page is read again: it was read before this time. `infinity`: whenever that was;
 * null: never.
 */
type RereadBefore = Date | 'infinity' | null

/**
 * Remembers the documents that a feed, or one of its archive documents, links to. A known document
 * is not read again, with one exception: the pages of a feed move on as entries are added. When
 * every entry of a page was new, or a gap is not closed yet, the page behind it may hold more that
 * we missed.
 *
 * @param from.depth 0 for the feed itself
 * @param from.reread of the page behind it. While a gap is open: the time of the gap, so that pages
 * that lead in a circle are not read without end
 * @param deepest CRAWL_ARCHIVE_DOCUMENTS
 */
export async function noteArchives(
  client: Client,
  feed: DueFeed,
  links: FeedLinks,
  from: { depth: number; reread: RereadBefore },
  deepest: number,
): Promise<void> {
  const depth = from.depth + 1
  if (depth > deepest) return
  for (const [url, reread] of [
    [links.next, from.reread],
    [links.prevArchive, null],
  ] as const) {
    if (url === null || url === feed.url) continue
    // A crawler of the version before may have left an old gap on a page that it read.
    await client.query(
      `insert into feed_archives as known (feed_no, url, depth)
       select $1, $2, $3 where $3 = 1 or (select count(*) from feed_archives where feed_no = $1) < $5
       on conflict (feed_no, url) do update set read_at = null, tries = 0, gap_from = null, gap_to = null
        where known.read_at < $4::timestamptz`,
      [feed.feedNo, url, depth, reread, MOST_ARCHIVES],
    )
  }
}

/**
 * The next document to read, the nearest to the feed first. Index: feed_archives_unread.
 *
 * @param deepest CRAWL_ARCHIVE_DOCUMENTS
 */
export async function nextUnread(pool: Pool, feed: DueFeed, deepest: number): Promise<UnreadArchive | null> {
  const { rows } = await pool.query<Omit<UnreadArchive, 'gap'> & { gapFrom: Date | null; gapTo: Date | null }>(
    `select url, depth, tries, gap_from as "gapFrom", gap_to as "gapTo" from feed_archives
      where feed_no = $1 and read_at is null and depth <= $2 order by depth, url limit 1`,
    [feed.feedNo, deepest],
  )
  const [row] = rows
  if (row === undefined) return null
  const { gapFrom: from, gapTo: to, ...unread } = row
  return { ...unread, gap: from === null || to === null ? null : { from, to } }
}

export async function markRead(client: Client, feed: DueFeed, { url }: UnreadArchive): Promise<void> {
  await client.query(
    `update feed_archives set read_at = clock_timestamp(), tries = 0, gap_from = null, gap_to = null
      where feed_no = $1 and url = $2`,
    [feed.feedNo, url],
  )
}

/**
 * Notes that a document could not be read. After some tries it counts as read.
 *
 * @returns whether it is given up
 */
export async function noteUnreadable(client: Client, feed: DueFeed, { url }: UnreadArchive): Promise<boolean> {
  const { rows } = await client.query<{ over: boolean }>(
    `update feed_archives
        set tries = tries + 1, read_at = case when tries + 1 >= $3 then clock_timestamp() end,
            gap_from = case when tries + 1 < $3 then gap_from end, gap_to = case when tries + 1 < $3 then gap_to end
      where feed_no = $1 and url = $2
      returning read_at is not null as over`,
    [feed.feedNo, url, MOST_TRIES],
  )
  return rows[0]?.over ?? false
}
