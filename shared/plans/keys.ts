import { hash, randomBytes } from 'node:crypto'
import { COUNTRIES, type Country } from '#shared/articles/article'
import { type Pool, type Queryable, readRow, transaction } from '#shared/postgres/pool'
import { MONTH_OF_KEY, type QuotaMonth } from './counting.ts'

/**
 * The beginning of the history that a plan may see: an instant, or midnight UTC some days ago
 * (decision 13).
 */
export type HistoryStart = { kind: 'fixed'; at: Date } | { kind: 'rolling'; days: number }

/** The rights of a key. */
export interface Plan {
  countries: Country[]
  history: HistoryStart
  /** Requests per minute. */
  rate: number
  /** Requests per calendar month (UTC); null: no quota. */
  quota: number | null
}

/** A key as Postgres stores it. It does not include the secret. */
export interface ApiKey {
  id: string
  name: string
  plan: Plan
  createdAt: Date
  revokedAt: Date | null
}

/** A key that was just made. The client sends `secret`, which is stored nowhere. */
export interface IssuedKey {
  key: ApiKey
  secret: string
}

/** The columns that a request needs. */
export const PLAN_COLUMNS = 'id, countries, history_start, history_days, rate, quota'

/** A row with `PLAN_COLUMNS`. */
export interface PlanRow extends Omit<Plan, 'history'> {
  id: string
  history_start: Date | null
  history_days: number | null
}

const KEY_COLUMNS = `${PLAN_COLUMNS}, name, created_at as "createdAt", revoked_at as "revokedAt"`

/** A row with `KEY_COLUMNS`. */
type KeyRow = PlanRow & Omit<ApiKey, 'plan'>

/** Issues a key with a plan. */
export async function createKey(db: Queryable, name: string, plan: Plan): Promise<IssuedKey> {
  const secret = makeSecret()
  const key = await readKey(
    db,
    `insert into api_keys (id, key_hash, name, countries, history_start, history_days, rate, quota)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     returning ${KEY_COLUMNS}`,
    // Hexadecimal digits, because an id that begins with a dash would be an option of
    // `npm run keys`.
    [`key_${randomBytes(8).toString('hex')}`, hashSecret(secret), name, ...planColumns(plan)],
  )
  return { key: key!, secret }
}

/** A key and how much it was used. */
export interface ListedKey extends ApiKey {
  /**
   * The minute of the last counted request, or the creation in that minute. null: there was none.
   * A crash or a restore of the
   * database also makes this null, because rates do not survive it.
   */
  lastUsedAt: Date | null
  /**
   * Requests in this calendar month (UTC); null: the plan has no quota, so they are not counted.
   */
  usedThisMonth: number | null
  /** Citations that it has made and no operator removed, and the articles of all of them. */
  citations: number
  citedArticles: number
}

// Indexes: the primary keys.
const LIST = `
  select ${KEY_COLUMNS}, case when w.started_at is not null then greatest(date_trunc('minute', w.started_at), created_at) end as "lastUsedAt", m.used as "usedThisMonth",
         c.citations, c.articles as "citedArticles"
  from api_keys k
  left join rate_windows w on w.key_id = k.id
  left join lateral (${MONTH_OF_KEY}) m on k.quota is not null
  cross join lateral (
    select count(*)::int as citations, coalesce(sum(articles), 0)::float8 as articles from citations
     where key_id = k.id and removed_at is null) c
  order by created_at, id`

/** All keys, the oldest first, revoked keys included. */
export async function listKeys(db: Queryable): Promise<ListedKey[]> {
  const { rows } = await db.query<KeyRow & Omit<ListedKey, keyof ApiKey>>(LIST)
  return rows.map(row => ({
    ...fromRow(row),
    lastUsedAt: row.lastUsedAt,
    usedThisMonth: row.usedThisMonth,
    citations: row.citations,
    citedArticles: row.citedArticles,
  }))
}

/** A key and its use of the month; null: its plan has no quota. */
export interface FoundKey {
  key: Pick<ApiKey, 'id' | 'plan'>
  month: QuotaMonth | null
}

// $1 key_hash. Index: api_keys_key_hash_key
const FIND = `select ${KEY_COLUMNS} from api_keys where key_hash = $1 and revoked_at is null`

/** The key with a client's secret; null: the secret is unknown, or the key was revoked. */
export async function findKey(db: Queryable, secret: string): Promise<ApiKey | null> {
  return looksLikeSecret(secret) ? readKey(db, FIND, [hashSecret(secret)]) : null
}

/** The key and its month, from one row with the columns of both. */
export function foundKey(row: PlanRow & QuotaMonth): FoundKey {
  const { used, period, reset, left } = row
  const key = { id: row.id, plan: planOf(row) }
  return { key, month: row.quota === null ? null : { used, period, reset, left } }
}

// Alerts are locked in order (`lockMailbox` says which). $1 key.
const END_ALERTS = `
  with own as materialized (select alert_id from search_alerts where key_id = $1 order by alert_id for update)
  delete from search_alerts a using own where a.alert_id = own.alert_id`

/**
 * Revokes a key, and ends its alerts. A key that is already revoked stays as it is. Null when no
 * key has this id.
 */
export const revokeKey = (pool: Pool, id: string): Promise<ApiKey | null> =>
  transaction(pool, async client => {
    const key = await readKey(
      client,
      `update api_keys set revoked_at = coalesce(revoked_at, now()), updated_at = now() where id = $1 returning ${KEY_COLUMNS}`,
      [id],
    )
    // One statement for both would not see an alert that was made while it waited for the key.
    await client.query(END_ALERTS, [id])
    return key
  })

/**
 * Replaces the secret of a key. From then on, requests with the old secret are refused. Null when
 * the key does not exist or was revoked.
 */
export async function rotateKey(db: Queryable, id: string): Promise<IssuedKey | null> {
  const secret = makeSecret()
  const key = await readKey(
    db,
    `update api_keys set key_hash = $2, updated_at = now() where id = $1 and revoked_at is null returning ${KEY_COLUMNS}`,
    [id, hashSecret(secret)],
  )
  return key && { key, secret }
}

/**
 * Changes the given parts of a key: name or plan. Keeps concurrent changes of other fields. Null
 * when the key does not exist or was revoked.
 */
export function updateKey(
  pool: Pool,
  id: string,
  change: { name?: string; plan?: Partial<Plan> },
): Promise<ApiKey | null> {
  return transaction(pool, async client => {
    const inForce = `select ${KEY_COLUMNS} from api_keys where id = $1 and revoked_at is null for update`
    const before = await readKey(client, inForce, [id])
    if (before === null) return null
    return readKey(
      client,
      `update api_keys
       set name = $2, countries = $3, history_start = $4, history_days = $5, rate = $6, quota = $7, updated_at = now()
       where id = $1 returning ${KEY_COLUMNS}`,
      [id, change.name ?? before.name, ...planColumns({ ...before.plan, ...change.plan })],
    )
  })
}

const planColumns = ({ countries, history, rate, quota }: Plan): unknown[] => [
  countries,
  ...(history.kind === 'fixed' ? [history.at, null] : [null, history.days]),
  rate,
  quota,
]

/** The key that a statement returns; null: it returns no row. */
async function readKey(
  db: Queryable,
  statement: string,
  values: unknown[],
): Promise<ApiKey | null> {
  const row = await readRow<KeyRow>(db, statement, values)
  return row ? fromRow(row) : null
}

function fromRow(row: KeyRow): ApiKey {
  const { id, name, createdAt, revokedAt } = row
  return { id, name, plan: planOf(row), createdAt, revokedAt }
}

/** The plan in a row. */
export function planOf(row: PlanRow): Plan {
  const countries = COUNTRIES.filter(country => row.countries.includes(country))
  return { countries, history: historyOf(row), rate: row.rate, quota: row.quota }
}

function historyOf(row: PlanRow): HistoryStart {
  if (row.history_start) return { kind: 'fixed', at: row.history_start }
  if (row.history_days !== null) return { kind: 'rolling', days: row.history_days }
  throw new Error(`The key ${row.id} has no history start.`) // the table's check forbids this
}

/** Prefix of all keys. Scanners find keys in logs and commits by this prefix. */
const PREFIX = 'psk_'

/**
 * A new API key: 256 random bits, 47 characters. The operator sees it once. Only its hash is
 * stored.
 */
export const makeSecret = (): string => PREFIX + randomBytes(32).toString('base64url')

/** Whether a text has the form of a key. Other texts need no look into the database. */
export const looksLikeSecret = (text: string): boolean => /^psk_[\w-]{43}$/.test(text)

/**
 * SHA-256 of a key. A slow hash would protect only passwords that can be guessed. A key has 256
 * random bits, and every request needs its hash.
 */
export const hashSecret = (secret: string): Buffer => hash('sha256', secret, 'buffer')
