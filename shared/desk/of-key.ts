import {
  type Client,
  countOf,
  type Pool,
  type Queryable,
  readRow,
  transaction,
} from '#shared/postgres/pool'

/*
 * All that is kept of a key, table by table, for those who ask what is kept of them, or want it
 * gone (docs/privacy.md).
 */

/** A table with rows of keys. `$1` is the id of the key. */
interface TableOfKey {
  table: string
  /** SQL: which rows are those of the key. */
  of: string
  /** SQL: which of them outlive the key. */
  stays?: string
  /** Columns that are not handed out: secrets, and numbers that mean nothing outside. */
  hidden?: readonly string[]
}

const OF_ITS_ALERTS = 'alert_id in (select alert_id from search_alerts where key_id = $1)'

/**
 * In the order in which they are deleted. `test/contract/keys-delete.slow.test.ts` looks for
 * others.
 */
export const TABLES_OF_KEY: readonly TableOfKey[] = [
  { table: 'alert_finds', of: OF_ITS_ALERTS },
  { table: 'alert_messages', of: OF_ITS_ALERTS },
  { table: 'search_alerts', of: 'key_id = $1' },
  { table: 'alert_asks', of: 'key_id = $1', stays: 'refused' },
  { table: 'refusals', of: 'key_id = $1', stays: 'true', hidden: ['hash', 'links'] },
  { table: 'search_feeds', of: 'key_id = $1', hidden: ['token_hash', 'nonce'] },
  { table: 'kept_searches', of: 'key_id = $1' },
  { table: 'outlet_sets', of: 'key_id = $1' },
  { table: 'citations', of: 'key_id = $1', stays: 'true', hidden: ['seqs', 'marks'] },
  { table: 'rate_windows', of: 'key_id = $1' },
  { table: 'quota_months', of: 'key_id = $1' },
  { table: 'api_keys', of: 'id = $1', hidden: ['key_hash'] },
]

/** All that is kept of a key, by table, as JSON. Secrets are not in it. */
export async function exportKey(pool: Pool, keyId: string): Promise<Record<string, unknown[]>> {
  return transaction(pool, async client => {
    await client.query('set transaction isolation level repeatable read, read only')
    const all: Record<string, unknown[]> = {}
    for (const { table, of, hidden = [] } of TABLES_OF_KEY) {
      const { rows } = await client.query<{ row: unknown }>(
        `select to_jsonb(t) - $2::text[] as row from ${table} t where ${of}`,
        [keyId, hidden],
      )
      all[table] = rows.map(({ row }) => row)
    }
    return all
  })
}

/** How many rows of each table went, and how many outlive the key. Others are left out. */
export interface DeletedKey {
  deleted: Record<string, number>
  stays: Record<string, number>
}

/** Counts what `deleteKey` would delete. */
export async function countKey(db: Queryable, keyId: string): Promise<DeletedKey> {
  const counts: DeletedKey = { deleted: {}, stays: {} }
  for (const { table, of, stays = 'false' } of TABLES_OF_KEY) {
    const text = `select count(*)::int from ${table} where ${of} and (${stays})`
    note(counts.stays, table, await countOf(db, text, [keyId]))
    note(counts.deleted, table, await countOf(db, text.replace('and (', 'and not ('), [keyId]))
  }
  return counts
}

/** Deletes a key with all that it keeps. Null when there is no such key. */
export const deleteKey = (pool: Pool, keyId: string): Promise<DeletedKey | null> =>
  transaction(pool, async client => {
    if (!(await lockKey(client, keyId))) return null
    const counts = await countKey(client, keyId)
    for (const { table, of, stays = 'false' } of TABLES_OF_KEY)
      await client.query(`delete from ${table} where ${of} and not (${stays})`, [keyId])
    return counts
  })

function note(counts: Record<string, number>, table: string, count: number): void {
  if (count > 0) counts[table] = count
}

/**
 * Locks a key: first against changes of what it keeps, then its links of consent and its alerts in
 * their order, as all do who change them, and at last against requests, which note the minute of
 * the key and then its month.
 */
async function lockKey(client: Client, keyId: string): Promise<boolean> {
  const key = 'select from api_keys where id = $1'
  if ((await readRow(client, `${key} for no key update`, [keyId])) === undefined) return false
  for (const [table, id] of [
    ['alert_asks', 'ask_id'],
    ['search_alerts', 'alert_id'],
    ['rate_windows', 'key_id'],
  ])
    await client.query(`select from ${table} where key_id = $1 order by ${id} for update`, [keyId])
  await client.query(`${key} for update`, [keyId])
  return true
}
