import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { printableLine } from '../../../shared/log/printable.ts'
import { noteBlock } from '../../../shared/outlets/blocks.ts'
import { CALLED_AT_ONCE } from '../../../shared/pages/page.ts'
import { type Pool, transaction } from '../../../shared/postgres/pool.ts'
import { NO_VALIDATORS } from '../fetch/validators.ts'
import { retryAfter } from './retry.ts'
import type { Verdict } from './verdict.ts'

/** A page that waits to be fetched. */
export interface WaitingPage {
  pageNo: bigint
  outletNo: number
  url: string
  attempts: number
  /** ms since its first try. */
  tried: number
}

const compress = promisify(gzip)

/** The first bytes of a SHA-256 tell versions of one page apart. */
export const digestOf = (body: Buffer) => createHash('sha256').update(body).digest().subarray(0, 16)

/** The result of saving a verdict. */
export interface Saved {
  /** The page's new state, for metrics. `known`: another crawler was faster. */
  became: 'stored' | 'blocked' | 'refused' | 'waiting' | 'failed' | 'known'
  /** Bytes of the page that are stored. */
  bytes: number
  /** The outlet has so many stored pages that the normaliser polls for them without a message. */
  many: boolean
}

/**
 * Saves a verdict. It counts only while the page still waits: saved twice, it leaves one result.
 */
export async function savePage(pool: Pool, page: WaitingPage, verdict: Verdict, retryMin: number): Promise<Saved> {
  const nothing = { bytes: 0, many: false }
  switch (verdict.kind) {
    case 'store': {
      const body = await compress(verdict.body)
      const stored = await store(pool, page, verdict, body)
      return stored === null ? { became: 'known', ...nothing } : { became: 'stored', bytes: body.length, ...stored }
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
        await finish(pool, page, 'failed', verdict.reason, verdict.detail)
        return { became: 'failed', ...nothing }
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
 * Stores the page's source. The same statement sets the state that makes the normaliser read it.
 * Null: another crawler was faster.
 */
async function store(
  db: Pick<Pool, 'query'>,
  page: WaitingPage,
  verdict: Extract<Verdict, { status: number }>,
  body: Buffer | null,
): Promise<Pick<Saved, 'many'> | null> {
  const { url, status, contentType } = verdict
  const { validators, digest } =
    verdict.kind === 'store'
      ? { validators: verdict.validators, digest: digestOf(verdict.body) }
      : { validators: NO_VALIDATORS, digest: null }
  // Index pages_stored_turns.
  const { rows } = await db.query<{ many: boolean }>(
    `with page as (
       update pages
          set state = 'stored', attempts = 0, next_try_at = clock_timestamp(), reason = null, detail = null,
              first_tried_at = coalesce(first_tried_at, clock_timestamp())
        where page_no = $1 and state = 'waiting'
       returning page_no
     )
     insert into page_sources (page_no, final_url, status, content_type, body, fetched_at, etag, last_modified, digest)
     select page_no, $2, $3, $4, $5, clock_timestamp(), $8, $9, $10 from page
     on conflict (page_no) do update
        set final_url = excluded.final_url, status = excluded.status, content_type = excluded.content_type,
            body = excluded.body, fetched_at = excluded.fetched_at, etag = excluded.etag,
            last_modified = excluded.last_modified, digest = excluded.digest
     returning exists (select from pages where state = 'stored' and outlet_no = $6 offset $7) as many`,
    [
      ...[page.pageNo, url, status, shortHeader(contentType), body, page.outletNo, CALLED_AT_ONCE],
      ...[validators.etag, validators.lastModified, digest],
    ],
  )
  return rows[0] ?? null
}

const SHORT = 500

/** Cuts a header for crawl memory, which keeps it for ever. Headers of up to 64 kB are read. */
export const shortHeader = (text: string | null) =>
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
