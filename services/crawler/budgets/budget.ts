import type { Config } from '../../../shared/config/config.ts'
import type { Budget } from '../../../shared/outlets/budget.ts'
import type { Pool, Queryable } from '../../../shared/postgres/pool.ts'

/** The present day in UTC, by the database's clock, as SQL. */
export const TODAY = "(clock_timestamp() at time zone 'UTC')::date"
/** The beginning of the next day, as SQL. */
export const TOMORROW = "((clock_timestamp() at time zone 'UTC')::date + 1)::timestamp at time zone 'UTC'"

/** A try at a page, as the outlet's budget counts it. */
export interface Try {
  /** Bytes that are stored, or that were read of a refused answer. */
  bytes: number
  /**
   * `slow`: the answer took more than half of the time limit. `late`: there was none in time.
   * `neither`: the try failed at once and delayed nobody.
   */
  answer: 'in time' | 'slow' | 'late' | 'neither'
}

/** The number of late pages after which the outlet rests. An answer in time halves the number. */
const LATE_IN_A_ROW = 3
/** As a multiple of CRAWL_RETRY_MIN, which is the first rest. */
const LONGEST_REST = 10

/**
 * Notes a try at one of an outlet's pages. An outlet whose pages are late rests, longer with each
 * late page. After each rest one page is tried, and the first answer ends the rests. An outlet with
 * slow answers has one host visited at a time.
 *
 * @returns whether the outlet's pages must wait now, for the end of its rest or for the next day
 */
export async function noteTry(
  pool: Pool,
  outletNo: number,
  { bytes, answer }: Try,
  config: Budget & Pick<Config, 'CRAWL_RETRY_MIN'>,
): Promise<boolean> {
  const { rows } = await pool.query<{ waits: boolean }>(
    `insert into outlet_loads as l (outlet_no, day, pages, bytes, failures)
     values ($1, ${TODAY}, 1, $2, case when $3 in ('slow', 'late') then 1 else 0 end)
     on conflict (outlet_no) do update
        set day = excluded.day,
            hosts = case when l.day = excluded.day then l.hosts else 0 end,
            pages = case when l.day = excluded.day then l.pages else 0 end + 1,
            bytes = case when l.day = excluded.day then l.bytes else 0 end + excluded.bytes,
            failures = case $3 when 'late' then least(l.failures + 1, 100) when 'slow' then greatest(l.failures / 2, 1)
                               when 'in time' then l.failures / 2 else l.failures end,
            rest_until = case when $3 in ('in time', 'slow') then 'epoch'
                              when $3 = 'late' and l.failures + 1 >= $4
                              then clock_timestamp()
                                   + $5 * least(2 ^ (l.failures + 1 - $4), $6) * interval '1 ms'
                              else l.rest_until end
     returning pages >= $7 or bytes >= $8 or rest_until > clock_timestamp() as waits`,
    [
      ...[outletNo, bytes, answer, LATE_IN_A_ROW, config.CRAWL_RETRY_MIN, LONGEST_REST],
      ...[config.CRAWL_OUTLET_PAGES, config.CRAWL_OUTLET_BYTES],
    ],
  )
  return rows[0]?.waits ?? false
}

/** Counts new hosts and bytes for the outlet's budget of today. */
export async function spend(db: Queryable, outletNo: number, spent: { hosts: number; bytes: number }): Promise<void> {
  await db.query(
    `insert into outlet_loads as l (outlet_no, day, hosts, bytes) values ($1, ${TODAY}, $2, $3)
     on conflict (outlet_no) do update
        set day = excluded.day,
            hosts = case when l.day = excluded.day then l.hosts else 0 end + excluded.hosts,
            pages = case when l.day = excluded.day then l.pages else 0 end,
            bytes = case when l.day = excluded.day then l.bytes else 0 end + excluded.bytes`,
    [outletNo, spent.hosts, spent.bytes],
  )
}
