import { GAPS_SHOWN } from '../../../../shared/outlets/gaps.ts'
import type { Client } from '../../../../shared/postgres/pool.ts'
import type { DueFeed } from '../due-feed.ts'
import type { FeedLinks } from '../parsing/links.ts'
import type { Saved } from './crawl-memory.ts'

/** A time between two polls in which a feed may have named articles that we never saw. */
export interface Gap {
  /** The last successful poll before. */
  from: Date
  /** The poll that met no known entry. */
  to: Date
}

/** A feed with one entry always shows another one, and proves nothing. */
const FEWEST = 2

/** Whether a document shows nothing of what was known before, although it is long enough to. */
export const isAllNew = ({ added }: Saved, named: number) => added === named && named >= FEWEST

/**
 * Whether a document behind the feed reaches back before the gap. Entries that were found since the
 * gap say nothing: the feed may have pushed them to its next page meanwhile.
 */
export const closes = ({ knownSince }: Saved, gap: Gap) => knownSince !== null && knownSince < gap.to

/**
 * Notes a gap. When a document behind this one is still to be read, the gap waits for it. Call it
 * after `noteArchives`, in the same transaction.
 *
 * @param deepest CRAWL_ARCHIVE_DOCUMENTS
 * @returns the gap when nothing can close it any more
 */
export async function noteGap(
  client: Client,
  feed: DueFeed,
  gap: Gap,
  links: Pick<FeedLinks, 'next' | 'prevArchive'>,
  deepest: number,
): Promise<Gap | null> {
  // A gap that waits already is the older one, and keeps its times.
  const { rowCount } = await client.query(
    `update feed_archives set gap_from = coalesce(gap_from, $4), gap_to = coalesce(gap_to, $5)
      where feed_no = $1 and read_at is null and depth <= $3
        and url = (select url from feed_archives
                    where feed_no = $1 and url = any($2) and read_at is null and depth <= $3
                    order by array_position($2, url) limit 1)`,
    [feed.feedNo, [links.next, links.prevArchive].filter(url => url !== null), deepest, gap.from, gap.to],
  )
  if ((rowCount ?? 0) > 0) return null
  await client.query(
    `update feeds
        set gaps = case when gap_to > now() - ${GAPS_SHOWN} then gaps + 1 else 1 end, gap_from = $2, gap_to = $3
      where feed_no = $1`,
    [feed.feedNo, gap.from, gap.to],
  )
  return gap
}
