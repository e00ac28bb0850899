import { type Queryable, readRow } from '../postgres/pool.ts'

/** The result of requests that were counted together, on the database's clock. */
export interface CountedMinute {
  /** Whether they were counted. When the minute has no room for all, none is. */
  allowed: boolean
  /** Requests of the minute, those counted now included. */
  used: number
  /** ms until the minute ends. */
  left: number
}

/**
 * Counts requests in the minute of a key `k` (`id`, `rate`), as a common table expression
 * `counted`: `allowed`, `used_in_minute`, `left_of_minute`. A key's minute begins with its first
 * request. The row's lock makes the count exact across processes, so headers count down without
 * gaps or repeats. Refused requests are not counted. When the database's clock was set back by more
 * than a minute, the minute is over too. The table is unlogged, so that no commit waits for the
 * disk.
 *
 * @param requests the parameter with their number, as `$2::int`
 */
export const countMinute = (requests: string) => `
  counted as (
    insert into rate_windows as w (key_id, started_at, used, allowed)
    select id, clock_timestamp(), case when ${requests} <= rate then ${requests} else 0 end, ${requests} <= rate from k
    on conflict (key_id) do update set (started_at, used, allowed) = (
      select case when over then moment else w.started_at end,
             case when fits then before + ${requests} else before end,
             fits
      from (select clock_timestamp() as moment) m,
      lateral (select abs(extract(epoch from moment - w.started_at)) >= 60 as over) o,
      lateral (select case when over then 0 else w.used end as before) b,
      lateral (select before + ${requests} <= (select rate from k) as fits) f
    )
    returning allowed, used as used_in_minute,
      60000 - extract(epoch from clock_timestamp() - started_at)::float8 * 1000 as left_of_minute)`

// $1 id of a key. Index: the primary keys.
const COUNT = `
with k as (select id, rate from api_keys where id = $1), ${countMinute('1')}
select allowed, used_in_minute as used, left_of_minute as left from counted`

/** Counts one request of a key that is known already. Null when the key is gone. */
export async function countInMinute(db: Queryable, keyId: string): Promise<CountedMinute | null> {
  return (await readRow<CountedMinute>(db, { name: 'count-minute', text: COUNT, values: [keyId] })) ?? null
}

/** A key's month, on the database's clock (UTC). */
export interface QuotaMonth {
  used: number
  /** As `2026-11`. */
  period: string
  /** Unix time of 00:00 UTC on the first of next month. */
  reset: number
  /** Whole seconds until then, at least 1. */
  left: number
}

const MONTH = "date_trunc('month', clock_timestamp() at time zone 'utc')"
const DESCRIPTION = `
  to_char(month, 'YYYY-MM') as period,
  extract(epoch from (month + interval '1 month') at time zone 'utc')::int8::float8 as reset,
  greatest(1, ceil(extract(epoch from (month + interval '1 month') at time zone 'utc' - clock_timestamp())))::int as left`

/**
 * The use of the month by a key `k`, as a table to join: `used` and the rest of `QuotaMonth`.
 */
export const MONTH_OF_KEY = `
  select coalesce(q.used, 0) as used, ${DESCRIPTION}
  from (select ${MONTH} as month) m
  left join (select month as used_in, used from quota_months where key_id = k.id) q on q.used_in = m.month::date`

// One conditional statement: of two requests that race for the last one of the month, one is
// answered. It commits to disk before the answer leaves, so that no restart forgets it.
// $1 key, $2 quota, $3 requests.
const CHARGE = `
with charged as (
  insert into quota_months as q (key_id, month, used)
  select $1, ${MONTH}::date, $3::int where $3::int <= $2::int
  on conflict (key_id, month) do update set used = q.used + $3::int where q.used + $3::int <= $2::int
  returning used, month::timestamp as month)
select used, ${DESCRIPTION} from charged`

/**
 * Takes requests of the month, all or none. Null when this many are not left.
 *
 * @returns the month after the last of them
 */
export async function chargeQuota(
  db: Queryable,
  keyId: string,
  quota: number,
  requests = 1,
): Promise<QuotaMonth | null> {
  const values = [keyId, quota, requests]
  return (await readRow<QuotaMonth>(db, { name: 'quota-charge', text: CHARGE, values })) ?? null
}
