import { createHash } from 'node:crypto'
import { hintedLook, MOST_LOOKS } from '../../../../shared/pages/looks.ts'
import type { Client } from '../../../../shared/postgres/pool.ts'
import type { Named } from '../parsing/addresses.ts'

/** What is known of a page's changes, as its feeds named them. */
export interface KnownVersion {
  state: string
  modified: Date | null
  retitled: Buffer | null
  /** The title of the stored entry; null without one, and when the entry was removed. */
  title: string | null
}

/** What a feed says of a page now. */
interface Version {
  key: string
  modified: Date | null
  retitled: Buffer | null
  /** It has changed since a feed last said so. */
  isNew: boolean
}

/** A time further ahead is an error, and would hide all later changes. */
const LONGEST_AHEAD = 86_400_000

/**
 * Compares what a feed says of a known page with what feeds said before. Null: nothing to note. A
 * time that comes for the first time is noted and is no change: most pages have had it all along. A
 * title counts once, so that two feeds that write it differently do not take turns.
 */
export function versionOf({ key, entry, modified }: Named, known: KnownVersion, now: number): Version | null {
  const time = modified !== null && modified <= now + LONGEST_AHEAD ? modified : null
  const isLater = time !== null && time > (known.modified?.getTime() ?? Number.NEGATIVE_INFINITY)
  const title = entry.title === null || known.title === null ? null : digestOf(entry.title)
  const isRetitled =
    title !== null && !title.equals(digestOf(known.title ?? '')) && !(known.retitled?.equals(title) ?? false)
  if (!isLater && !isRetitled) return null
  return {
    key,
    modified: isLater ? new Date(time) : null,
    retitled: isRetitled ? title : null,
    isNew: isRetitled || (isLater && known.modified !== null),
  }
}

const digestOf = (title: string) =>
  createHash('sha256').update(title.replace(/\s+/g, ' ').trim()).digest().subarray(0, 8)

/**
 * Notes what a feed says, in the transaction that saves its validators, and brings the looks at
 * changed pages forward. The page's row is written first: whoever makes an article of the page at
 * this moment reads the hint there, and plans the look.
 */
export async function saveVersions(
  client: Client,
  outletNo: number,
  versions: Version[],
  recheck: number,
): Promise<void> {
  if (versions.length === 0) return
  // In the order of their keys, so that two polls never wait for each other in a circle.
  const { rows } = await client.query<{ page_no: bigint; is_new: boolean }>(
    `with noted as (
       select p.page_no, n.* from pages p
         join unnest($2::text[], $3::timestamptz[], $4::bytea[], $5::bool[]) as n (key, modified, retitled, is_new)
           on p.crawl_key = n.key
        where p.outlet_no = $1 order by p.crawl_key for no key update of p
     )
     update pages p
        set modified = greatest(p.modified, n.modified), retitled = coalesce(n.retitled, p.retitled),
            hinted_at = case when n.is_new then clock_timestamp() else p.hinted_at end
       from noted n where p.page_no = n.page_no
     returning p.page_no, n.is_new`,
    [
      outletNo,
      versions.map(({ key }) => key),
      versions.map(({ modified }) => modified),
      versions.map(({ retitled }) => retitled),
      versions.map(({ isNew }) => isNew),
    ],
  )
  await client.query(
    `update page_looks
        set hinted_at = clock_timestamp(),
            look_at = case when looks < ${MOST_LOOKS}
                           then least(look_at, ${hintedLook('born_at', 'answered_at', '$2')}) else look_at end
      where page_no = any($1)`,
    [rows.filter(row => row.is_new).map(row => row.page_no), recheck],
  )
}
