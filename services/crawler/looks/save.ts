import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { hintedLook, MOST_LOOKS, plannedLook } from '../../../shared/pages/looks.ts'
import { type Pool, type Queryable, transaction } from '../../../shared/postgres/pool.ts'
import { shortHeader } from '../pages/save.ts'
import type { DueLook } from './due.ts'
import type { Seen } from './seen.ts'

const compress = promisify(gzip)

/** Tries of one look that failed. A later look makes up for it. */
const MOST_TRIES = 3

export interface LookSettings {
  /** ms that the request took, its pauses included. */
  took: number
  config: { CRAWL_RECHECK: number; CRAWL_RETRY_MIN: number }
}

/**
 * Saves the outcome of a look, and plans the next one. It counts only for the try that it was made
 * for: saved twice, or by two crawlers, it leaves one result.
 *
 * @returns the bytes that are stored, and whether it counted
 */
export async function saveLook(
  pool: Pool,
  look: DueLook,
  seen: Seen,
  settings: LookSettings,
): Promise<{ bytes: number; saved: boolean }> {
  switch (seen.kind) {
    case 'put back':
      return { bytes: 0, saved: await postpone(pool, look, seen.wait, 0) }
    case 'other page':
      return { bytes: 0, saved: await postpone(pool, look, 0, 1, 'etag = null, last_modified = null') }
    case 'retry':
      if (look.attempts + 1 < MOST_TRIES) {
        const wait = settings.config.CRAWL_RETRY_MIN * 2 ** look.attempts
        return { bytes: 0, saved: await postpone(pool, look, wait, 1) }
      }
      return { bytes: 0, saved: await endLook(pool, look, seen, settings) }
    case 'other bytes': {
      const body = await compress(seen.body)
      const saved = await transaction(pool, async client => {
        if (!(await endLook(client, look, seen, settings))) return false
        // A version that was not compared yet is replaced: the latest one counts.
        await client.query(
          `insert into look_sources (page_no, outlet_no, final_url, status, content_type, body, fetched_at)
           values ($1, $2, $3, $4, $5, $6, clock_timestamp())
           on conflict (page_no) do update
              set final_url = excluded.final_url, status = excluded.status, content_type = excluded.content_type,
                  body = excluded.body, fetched_at = excluded.fetched_at, claimed_until = 'epoch', attempts = 0`,
          [look.pageNo, look.outletNo, seen.url, seen.status, shortHeader(seen.contentType), body],
        )
        return true
      })
      return { bytes: saved ? body.length : 0, saved }
    }
    default:
      return { bytes: 0, saved: await endLook(pool, look, seen, settings) }
  }
}

async function postpone(db: Queryable, look: DueLook, wait: number, tries: number, also?: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `update page_looks
        set look_at = clock_timestamp() + $4 * interval '1 ms', attempts = attempts + $5${also === undefined ? '' : `, ${also}`}
      where page_no = $1 and looks = $2 and attempts = $3`,
    [look.pageNo, look.looks, look.attempts, wait, tries],
  )
  return rowCount === 1
}

/**
 * Ends a look. A hint that came since the request began is not answered by it, so it brings the
 * next one forward. The row's own `hinted_at` is read, because the row is locked.
 */
async function endLook(
  db: Queryable,
  look: DueLook,
  seen: Exclude<Seen, { kind: 'put back' | 'other page' }>,
  { took, config }: LookSettings,
): Promise<boolean> {
  const answered = seen.kind === 'unchanged' || seen.kind === 'other bytes' || seen.kind === 'gone'
  const validators = 'validators' in seen ? seen.validators : null
  const { rowCount } = await db.query(
    `update page_looks
        set looks = looks + 1, attempts = 0,
            look_at = case when $5 or looks + 1 >= ${MOST_LOOKS} then null
                           else least(${plannedLook('born_at', '$4')},
                                      case when hinted_at >= clock_timestamp() - $6::float8 * interval '1 ms'
                                           then ${hintedLook('born_at', 'clock_timestamp()', '$4')} end) end,
            answered_at = case when $7 then clock_timestamp() else answered_at end,
            gone_at = case when $8::smallint is not null then coalesce(gone_at, clock_timestamp())
                           when $7 then null else gone_at end,
            gone_status = case when $7 then $8::smallint else gone_status end,
            etag = case when $9 then $10 else etag end, last_modified = case when $9 then $11 else last_modified end,
            digest = coalesce($12, digest), final_url = coalesce($13, final_url)
      where page_no = $1 and looks = $2 and attempts = $3`,
    [
      ...[look.pageNo, look.looks, look.attempts, config.CRAWL_RECHECK, seen.kind === 'forbidden', took, answered],
      seen.kind === 'gone' ? seen.status : null,
      ...[validators !== null, validators?.etag ?? null, validators?.lastModified ?? null],
      seen.kind === 'other bytes' ? seen.digest : null,
      seen.kind === 'other bytes' ? seen.url : null,
    ],
  )
  return rowCount === 1
}
