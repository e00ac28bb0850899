import { type Queryable, readRow } from '#shared/postgres/pool'

/** The result of counting requests together, by the database's clock. */
export interface CountedMinute {
  /**
   * Whether the requests were counted. If the minute has too little room for all, none is counted.
   */
  allowed: boolean
  /** Requests in this minute, including those of this call. */
  used: number
  /** ms until the minute ends. */
  left: number
}

/**
 * SQL: counts requests in the minute of a key `k` (`id`, `rate`). It is a common table expression
 * `counted` with `allowed`, `used_in_minute`, `left_of_minute`. A key's minute begins with its
 * first request. The row's lock makes the count exact across processes, so headers count down
 * without gaps or repeats. Refused requests are not counted. The minute is also over when the
 * database's clock was set back by more than a minute. The table is unlogged, so that no commit
 * waits for the disk.
 *
 * @param requests the parameter with the number of requests, as `$2::int`
 */
export const countMinute = (requests: string): string => `
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

// $1 id of a key, $2 requests. Index: the primary keys.
const COUNT = `
with k as (select id, rate from api_keys where id = $1), ${countMinute('$2::int')}
select allowed, used_in_minute as used, left_of_minute as left from counted`

/** Counts requests of a key that was already checked, all or none. Null when the key is gone. */
export async function countInMinute(
  db: Queryable,
  keyId: string,
  requests = 1,
): Promise<CountedMinute | null> {
  const values = [keyId, requests]
  return (await readRow<CountedMinute>(db, { name: 'count-minute', text: COUNT, values })) ?? null
}

/** The month of a key, by the database's clock (UTC). */
export interface QuotaMonth {
  used: number
  /** The month in the form `2026-11`. */
  period: string
  /** The Unix time of 00:00 UTC on the first of the next month. */
  reset: number
  /** Whole seconds until `reset`, at least 1. */
  left: number
}

const MONTH = "date_trunc('month', clock_timestamp() at time zone 'utc')"
const DESCRIPTION = `
  to_char(month, 'YYYY-MM') as period,
  extract(epoch from (month + interval '1 month') at time zone 'utc')::int8::float8 as reset,
  greatest(1, ceil(extract(epoch from (month + interval '1 month') at time zone 'utc' - clock_timestamp())))::int as left`

/**
 * SQL: how much of its month a key `k` has used, as a table to join with the fields of
 * `QuotaMonth`.
 */
export const MONTH_OF_KEY: string = `
  select coalesce(q.used, 0) as used, ${DESCRIPTION}
  from (select ${MONTH} as month) m
  left join (select month as used_in, used from quota_months where key_id = k.id) q on q.used_in = m.month::date`

/**
 * SQL: takes requests from the month of a key, all or none. It is a common table expression
 * `charged` with `used` and `month`, and has a row only when they were taken. It is one conditional
 * statement. So if two processes race for the last request of the month, only one succeeds. The
 * statement commits to disk before the answer is sent, so a restart does not forget it.
 *
 * @param requests the parameter with the number of requests, as `$2::int`
 * @param from tables and condition: those of a key `k` (`id`, `quota`), which is one row
 */
export const takeOfMonth = (requests: string, from: string): string => `
  charged as (
    insert into quota_months as q (key_id, month, used)
    select k.id, ${MONTH}::date, ${requests} from ${from} and ${requests} <= k.quota
    on conflict (key_id, month) do update set used = q.used + ${requests}
      where q.used + ${requests} <= (select quota from k)
    returning used, month::timestamp as month)`

/** SQL: the fields of `QuotaMonth` after `takeOfMonth`; no row: nothing was taken. */
export const MONTH_CHARGED: string = `select used, ${DESCRIPTION} from charged`

// $1 key, $2 quota, $3 requests.
const CHARGE = `
with k as (select $1::text as id, $2::int as quota), ${takeOfMonth('$3::int', 'k where true')}
${MONTH_CHARGED}`

/**
 * Takes requests from the month's quota, all or none. Null when fewer than `requests` are left.
 *
 * @returns the month after the last of these requests
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
