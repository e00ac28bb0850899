import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { printableLine } from '#shared/log/printable'
import { CALLED_AT_ONCE, NO_WORDS } from '#shared/outlets/page'
import { type Pool, readRow, transaction } from '#shared/postgres/pool'
import { noteBlock } from '#status/health'
import type { WaitingPage } from './hosts/due.ts'
import type { Verdict } from './verdict.ts'

export const compress: (text: Buffer) => Promise<Buffer> = promisify(gzip)

/** The result of saving a verdict. */
interface Saved {
  /** The page's new state, for metrics. `known`: another crawler has saved the page before. */
  became: 'stored' | 'blocked' | 'refused' | 'waiting' | 'failed' | 'known'
  /** Bytes of the page that are stored. */
  bytes: number
  /**
   * Whether the outlet already has many stored pages. The normaliser then takes them without a
   * message.
   */
  many: boolean
}

/** Saves a verdict if the page still waits. So a verdict that is saved twice has one effect. */
export async function savePage(
  pool: Pool,
  page: WaitingPage,
  verdict: Verdict,
  retryMin: number,
): Promise<Saved> {
  const nothing = { bytes: 0, many: false }
  switch (verdict.kind) {
    case 'store': {
      const body = await compress(verdict.body)
      const stored = await store(pool, page, verdict, body)
      return stored === null
        ? { became: 'known', ...nothing }
        : { became: 'stored', bytes: body.length, ...stored }
    }
    case 'store without body':
      return transaction(pool, async client => {
        const stored = await store(client, page, verdict, null)
        if (stored === null) return { became: 'known', ...nothing }
        await noteBlock(client, page.outletNo, verdict.block)
        return { became: 'blocked', bytes: 0, ...stored }
      })
    case 'refuse':
      await finish(pool, page, 'refused', verdict.reason, verdict.detail)
      return { became: 'refused', ...nothing }
    case 'put back':
      await pool.query(
        `update pages set next_try_at = clock_timestamp() + $2 * interval '1 ms', reason = $3
          where page_no = $1 and state = 'waiting'`,
        [page.pageNo, verdict.wait, verdict.reason],
      )
      return { became: 'waiting', ...nothing }
    case 'retry': {
      const wait = retryAfter(page.attempts + 1, page.tried, retryMin)
      if (wait === null) {
        const became = verdict.end ?? 'failed'
        await finish(pool, page, became, verdict.reason, verdict.detail)
        return { became, ...nothing }
      }
      await pool.query(
        `update pages
            set attempts = attempts + 1, next_try_at = clock_timestamp() + $2 * interval '1 ms',
                first_tried_at = coalesce(first_tried_at, clock_timestamp()), reason = $3, detail = $4
          where page_no = $1 and state = 'waiting'`,
        [page.pageNo, wait, verdict.reason, shortHeader(verdict.detail)],
      )
      return { became: 'waiting', ...nothing }
    }
  }
}

/**
 * Stores the page's source. The same statement sets the state by which the normaliser finds it.
 * Null: another crawler has saved the page before.
 */
export async function store(
  db: Pick<Pool, 'query'>,
  page: Pick<WaitingPage, 'pageNo' | 'outletNo'>,
  verdict: Extract<Verdict, { status: number }>,
  body: Buffer | null,
): Promise<Pick<Saved, 'many'> | null> {
  const { url, status, contentType, rights, foreign } = verdict
  // Index pages_stored_turns.
  const stored = await readRow<{ many: boolean }>(
    db,
    `with page as (
       update pages
          set state = 'stored', entry = case when $8::jsonb is null then entry - 'foreign' else coalesce(entry, '{}') || $8 end, attempts = 0, next_try_at = clock_timestamp(), reason = null, detail = null,
              ends = 0, rests_until = null, first_tried_at = coalesce(first_tried_at, clock_timestamp())
        where page_no = $1 and state = 'waiting'
       returning page_no
     )
     insert into page_sources (page_no, final_url, status, content_type, body, fetched_at, rights)
     select page_no, $2, $3, $4, $5, clock_timestamp(), $9::jsonb from page
     on conflict (page_no) do update
        set final_url = excluded.final_url, status = excluded.status, content_type = excluded.content_type,
            body = excluded.body, fetched_at = excluded.fetched_at, rights = excluded.rights
     returning exists (select from pages where state = 'stored' and outlet_no = $6 offset $7) as many`,
    [
      page.pageNo,
      url,
      status,
      shortHeader(contentType),
      body,
      page.outletNo,
      CALLED_AT_ONCE,
      foreign === undefined
        ? null
        : JSON.stringify({ foreign, ...(foreign === 'both' ? NO_WORDS : {}) }),
      rights === null ? null : JSON.stringify(rights),
    ],
  )
  return stored ?? null
}

const SHORT = 500

/** Cuts a header for crawl memory, which keeps it for ever. Headers may have up to 64 kB. */
const shortHeader = (text: string | null) =>
  text === null ? null : printableLine(text.slice(0, SHORT)).slice(0, SHORT)

async function finish(
  pool: Pool,
  page: WaitingPage,
  state: 'refused' | 'failed',
  reason: string,
  detail: string | null,
) {
  await pool.query(
    `update pages
        set state = $2, reason = $3, detail = $4, attempts = attempts + 1, finished_at = clock_timestamp(),
            first_tried_at = coalesce(first_tried_at, clock_timestamp())
      where page_no = $1 and state = 'waiting'`,
    [page.pageNo, state, reason, shortHeader(detail)],
  )
}

/** A failing page is tried again for this many ms after its first try. */
const GIVE_UP = 86_400_000

/**
 * ms until a failed page is tried again: CRAWL_RETRY_MIN, doubled after each try. Null: the page is
 * given up, a day after its first try.
 *
 * @param attempts tries that failed, this one included
 * @param since ms since the first try
 */
export function retryAfter(attempts: number, since: number, retryMin: number): number | null {
  const wait = Math.max(1, retryMin) * 2 ** Math.min(attempts - 1, 30)
  if (since + wait <= GIVE_UP) return wait
  // The last try comes at the end of the day, unless this try was already close to it.
  return since < GIVE_UP - Math.min(retryMin, GIVE_UP / 2) ? GIVE_UP - since : null
}
