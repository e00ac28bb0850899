import { timingSafeEqual } from 'node:crypto'
import type { Queryable } from '../postgres/pool.ts'
import { type FoundKey, foundKey, PLAN_COLUMNS, type PlanRow } from './keys.ts'
import { type CountedMinute, countMinute, MINUTE_COLUMNS, type MinuteRow, minuteOf } from './minute.ts'
import { MONTH_OF_KEY, type QuotaMonth } from './quota.ts'

/** More columns for the same statement, of tables with one row each. */
export interface Beside<Row, Read> {
  columns: string
  tables: string
  read(row: Row): Read
}

/** The answer of the database about requests that came with the same key. */
export interface Admission<Read> {
  found: FoundKey
  minute: CountedMinute
  /** Read at the same moment. */
  beside: Read
}

/**
 * Finds the key with this hash and counts requests in its minute. Null when the key is unknown or
 * revoked.
 */
export type Admit<Read> = (keyHash: Buffer, requests: number) => Promise<Admission<Read> | null>

/**
 * Makes the one statement that every request runs: the key with its plan and month, its minute, and
 * whatever stands `beside` them. An unknown key counts nothing.
 */
export function createAdmit<Row extends object, Read>(db: Queryable, beside: Beside<Row, Read>): Admit<Read> {
  // $1 key_hash, $2 requests. Indexes: api_keys_key_hash_key, the primary keys.
  const text = `
    with k as materialized (
      select ${PLAN_COLUMNS}, key_hash from api_keys where key_hash = $1 and revoked_at is null), ${countMinute('$2::int')}
    select k.*, ${MINUTE_COLUMNS}, m.*, ${beside.columns}
    from k cross join counted left join lateral (${MONTH_OF_KEY}) m on k.quota is not null, ${beside.tables}`
  return async (keyHash, requests) => {
    const { rows } = await db.query<PlanRow & { key_hash: Buffer } & MinuteRow & QuotaMonth & Row>({
      name: 'admit',
      text,
      values: [keyHash, requests],
    })
    const row = rows[0]
    // The database has found the row by its hash; no difference of time tells how near another was.
    return row && timingSafeEqual(row.key_hash, keyHash)
      ? { found: foundKey(row), minute: minuteOf(row), beside: beside.read(row) }
      : null
  }
}
