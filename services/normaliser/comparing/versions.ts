import { hintedLook, MOST_LOOKS } from '../../../shared/pages/looks.ts'
import type { StoredPage } from '../../../shared/pages/page.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import { transaction } from '../../../shared/postgres/transaction.ts'
import type { Change, Reading } from '../changes/reading.ts'
import { type PageRow, pageOf } from '../pages/load.ts'

/** A version of a page that waits for its comparison, and what is remembered of the one before. */
export interface ClaimedVersion {
  page: StoredPage
  outletNo: number
  before: Reading
  /** Tells it from a later version of the same page. */
  fetchedAt: Date
  /** Tries before this one. */
  attempts: number
}

/** ms after which a version is claimed anew. Its process has ended, or it failed. */
const CLAIM = 60_000

interface Row extends PageRow {
  title: string
  sentences: Buffer
  modified: Date | null
  corrected: boolean
  attempts: number
}

/**
 * Claims versions, the oldest first, while no stored page is due: new pages come first. Indexes:
 * pages_stored, look_sources_fetched.
 */
export async function claimVersions(pool: Pool, limit: number): Promise<ClaimedVersion[]> {
  const { rows } = await pool.query<Row>(
    `with next as (
       select page_no, attempts from look_sources
        where claimed_until <= clock_timestamp()
          and not exists (select from pages where state = 'stored' and next_try_at <= clock_timestamp())
        order by fetched_at limit $1 for update skip locked
     ), claimed as (
       update look_sources s
          set claimed_until = clock_timestamp() + $2 * interval '1 ms', attempts = s.attempts + 1
         from next where s.page_no = next.page_no
       returning s.*, next.attempts as tries
     )
     select p.page_no, p.outlet_no, p.url, p.entry, c.final_url, c.status, c.content_type, c.body, c.fetched_at,
            o.name, o.domain, o.country, o.languages, o.time_zone, l.title, l.sentences, l.modified, l.corrected,
            c.tries as attempts
       from claimed c join pages p using (page_no) join page_looks l using (page_no)
       join outlets o on o.outlet_no = p.outlet_no`,
    [limit, CLAIM],
  )
  return Promise.all(
    rows.map(async row => ({
      page: await pageOf(row),
      outletNo: row.outlet_no,
      before: { title: row.title, sentences: row.sentences, modified: row.modified, corrected: row.corrected },
      fetchedAt: row.fetched_at ?? new Date(0),
      attempts: row.attempts,
    })),
  )
}

/** Titles that are kept of one page. */
const MOST_TITLES = 10

/**
 * Stores a comparison and forgets the version's bytes, in one transaction. A page that has changed
 * is looked at again when it is half as old again.
 *
 * @returns false when another process was faster, or a later version has replaced this one
 */
export function saveComparison(
  pool: Pool,
  { page, fetchedAt }: ClaimedVersion,
  reading: Reading,
  changes: Change[],
  recheck: number,
): Promise<boolean> {
  const isChange = changes.some(change => change !== 'modified')
  return transaction(pool, async client => {
    const { rowCount } = await client.query('delete from look_sources where page_no = $1 and fetched_at = $2', [
      page.pageId,
      fetchedAt,
    ])
    if (rowCount === 0) return false
    await client.query(
      `update page_looks
          set title = $2, sentences = $3, modified = coalesce($4, modified), corrected = $5,
              what = case when $6::text[] = '{}' then what
                          else array(select distinct unnest(what || $6::text[]) order by 1) end,
              titles = case when $2 = title then titles else (titles || title)[1:$7] end,
              changes = changes + case when $8 then 1 else 0 end,
              changed_at = case when $8 then $9 else changed_at end,
              look_at = case when $8 and $10 > 0 and looks < ${MOST_LOOKS} and look_at is not null
                             then least(look_at, ${hintedLook('born_at', 'answered_at', '$10')}) else look_at end
        where page_no = $1`,
      [
        ...[page.pageId, reading.title, Buffer.from(reading.sentences), reading.modified, reading.corrected],
        ...[changes, MOST_TITLES, isChange, fetchedAt, recheck],
      ],
    )
    return true
  })
}

/** Forgets a version that shows no article: a wall, or nothing that can be read. */
export async function dropVersion(pool: Pool, { page, fetchedAt }: ClaimedVersion): Promise<void> {
  await pool.query('delete from look_sources where page_no = $1 and fetched_at = $2', [page.pageId, fetchedAt])
}

/** Gives a version back that was not compared, for any normaliser. */
export async function putBackVersion(pool: Pool, { page, fetchedAt, attempts }: ClaimedVersion): Promise<void> {
  await pool.query(
    "update look_sources set claimed_until = 'epoch', attempts = $3 where page_no = $1 and fetched_at = $2",
    [page.pageId, fetchedAt, attempts],
  )
}
