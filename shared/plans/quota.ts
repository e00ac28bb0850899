import type { Queryable } from '../postgres/pool.ts'

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
 * Takes requests of the month, all or none. Null when so many are not left.
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
  const { rows } = await db.query<QuotaMonth>({ name: 'quota-charge', text: CHARGE, values })
  return rows[0] ?? null
}
