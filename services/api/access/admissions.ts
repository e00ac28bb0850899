import { timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { INDEX_STATE, type IndexState } from '#search/index'
import {
  type CountedMinute,
  chargeQuota,
  countMinute,
  MONTH_OF_KEY,
  type QuotaMonth,
} from '#shared/plans/counting'
import {
  type FoundKey,
  foundKey,
  hashSecret,
  looksLikeSecret,
  makeSecret,
  PLAN_COLUMNS,
  type PlanRow,
} from '#shared/plans/keys'
import { type Queryable, readRow } from '#shared/postgres/pool'
import type { Permits } from './permits.ts'

/*
 * Every request changes a counter in the row of its key, and Postgres lets one statement at a time
 * change a row. Requests of one key that arrive together therefore share a statement. So a busy key
 * occupies few connections and delays no other key.
 */

/**
 * Statements of one key at a time: while one writes, the next is sent. A third would only wait for
 * the same row.
 */
const ENTRIES_AT_ONCE = 2
/**
 * Charges of one key at a time. A charge keeps its row locked while it waits for the disk. Requests
 * that arrive meanwhile share the next charge.
 */
const CHARGES_AT_ONCE = 1

/**
 * Limits of the cache of known keys and tokens: most entries, and ms that an entry stays after its
 * last admission.
 */
const KNOWN = { max: 10_000, ttl: 300_000 }

/**
 * Looks a key or token up by its hash. A key that this process has admitted lately is looked up at
 * once, with connections that strangers never take. Any other key waits for a stranger's permit of
 * its address. Each request looks its key up again, so a revocation takes effect at once.
 */
export type Lookup = <T>(
  hash: Buffer,
  address: () => string,
  find: () => Promise<T | null>,
) => Promise<T | null>

export function createLookup(strangers: Permits): Lookup {
  const known = new LRUCache<string, true>(KNOWN)
  return async (hash, address, find) => {
    const name = hash.toString('latin1')
    const found = known.has(name) ? await find() : await strangers.take(`key ${address()}`, find)
    if (found === null) known.delete(name)
    else known.set(name, true)
    return found
  }
}

export interface Admissions {
  /**
   * Finds the key and counts the request in its minute. Returns both with the state of the index
   * at that moment; null when the key is unknown or revoked.
   * @throws NoPermit when this process does not know the key, and too many requests with unknown
   * keys wait
   */
  admit(secret: string, address: () => string): Promise<Admission | null>
  /** Counts a request in the month of a key; null when the month has no request left. */
  charge(keyId: string, quota: number): Promise<QuotaMonth | null>
}

/**
 * The statements that count requests: `admit` before a search, and `charge` after it when the plan
 * has a quota.
 */
export function createAdmissions(db: Queryable, lookup: Lookup): Admissions {
  const entries = createBatches(ENTRIES_AT_ONCE, async ({ secret, address }: Entry, requests) => {
    const hash = hashSecret(secret)
    const all = await lookup(hash, address, () => admitAll(db, hash, requests))
    return all ?? Array(requests).fill(null)
  })
  const charges = createBatches(CHARGES_AT_ONCE, (key: ChargedKey, requests) =>
    chargeAll(db, key, requests),
  )
  return {
    admit: async (secret, address) =>
      looksLikeSecret(secret) ? entries.join(secret, { secret, address }) : null,
    charge: (keyId, quota) => charges.join(`${keyId} ${quota}`, { keyId, quota }),
  }
}

interface Entry {
  secret: string
  /** Returns the address of the first request of the batch. */
  address: () => string
}

/**
 * Prepares the statement `ADMIT` on this many connections. It looks for random keys that nobody
 * has, so no request is counted.
 */
export async function prepareAdmissions(db: Queryable, connections: number): Promise<void> {
  await Promise.all(
    Array.from({ length: connections }, () => admitTogether(db, hashSecret(makeSecret()), 1)),
  )
}

/**
 * Admits requests that came with the same key. Each gets its own count of the minute. Null when the
 * key is unknown or revoked.
 */
async function admitAll(
  db: Queryable,
  keyHash: Buffer,
  requests: number,
): Promise<Admission[] | null> {
  const all = await admitTogether(db, keyHash, requests)
  if (all === null) return null
  const { allowed, used } = all.minute
  if (allowed)
    return countsOf(requests, used).map(count => ({
      ...all,
      minute: { ...all.minute, used: count },
    }))
  // The minute has no place for all requests, so the statement counted none. The first requests
  // take the places that are left, and the others are refused.
  const left = Math.max(0, all.found.key.plan.rate - used)
  const first = (left > 0 && left < requests ? await admitAll(db, keyHash, left) : null) ?? []
  return [...first, ...Array(requests - first.length).fill(all)]
}

/** The answer of the database about requests that came with the same key. */
interface Admission {
  found: FoundKey
  minute: CountedMinute
  /** The state of the index at the same moment. */
  state: IndexState
}

// The one statement that every request runs: the key with its plan and month, its minute, and the
// state of the index. An unknown key counts nothing.
// $1 key_hash, $2 requests. Indexes: api_keys_key_hash_key, the primary keys.
const ADMIT = `
  with k as materialized (
    select ${PLAN_COLUMNS}, key_hash from api_keys where key_hash = $1 and revoked_at is null), ${countMinute('$2::int')}
  select k.*, allowed, used_in_minute, left_of_minute, m.*, ${INDEX_STATE.columns}
  from k cross join counted left join lateral (${MONTH_OF_KEY}) m on k.quota is not null, ${INDEX_STATE.tables}`

interface AdmitRow extends PlanRow, QuotaMonth, IndexState {
  key_hash: Buffer
  allowed: boolean
  used_in_minute: number
  left_of_minute: number
}

/**
 * Finds the key with this hash and counts requests in its minute. Null when the key is unknown or
 * revoked.
 */
async function admitTogether(
  db: Queryable,
  keyHash: Buffer,
  requests: number,
): Promise<Admission | null> {
  const statement = { name: 'admit', text: ADMIT, values: [keyHash, requests] }
  const row = await readRow<AdmitRow>(db, statement)
  // The database found the row by this hash already. This comparison takes equally long for every
  // hash, so its timing tells nothing.
  if (!row || !timingSafeEqual(row.key_hash, keyHash)) return null
  const minute = { allowed: row.allowed, used: row.used_in_minute, left: row.left_of_minute }
  const { lastSeq, version, wordsVersion } = row
  return { found: foundKey(row), minute, state: { lastSeq, version, wordsVersion } }
}

interface ChargedKey {
  keyId: string
  quota: number
}

async function chargeAll(
  db: Queryable,
  key: ChargedKey,
  requests: number,
): Promise<(QuotaMonth | null)[]> {
  const { keyId, quota } = key
  const month = await chargeQuota(db, keyId, quota, requests)
  if (month) return countsOf(requests, month.used).map(used => ({ ...month, used }))
  if (requests === 1) return [null]
  // The quota has places for only a part of this batch, so its halves are charged one after the
  // other.
  const half = Math.floor(requests / 2)
  return [...(await chargeAll(db, key, half)), ...(await chargeAll(db, key, requests - half))]
}

/** The count of each request of a batch, when `last` is the count of the last request. */
const countsOf = (requests: number, last: number): number[] =>
  Array.from({ length: requests }, (_, at) => last - requests + 1 + at)

interface Member<Context, Answer> {
  context: Context
  resolve(answer: Answer): void
  reject(error: unknown): void
}

interface Line<Context, Answer> {
  underWay: number
  waiting: Member<Context, Answer>[]
  /** Whether a batch begins at the end of this turn of the event loop. */
  begins: boolean
}

/**
 * Batches by name: requests of one name that come at the same time share a statement. Those that
 * come while `atOnce` statements of the name are under way wait for the next one. A key's rows are
 * locked by one statement at a time, so more statements would only wait in the database and hold a
 * connection each. Names never wait for each other.
 *
 * @param run answers all members of a batch, in their order
 */
function createBatches<Context, Answer>(
  atOnce: number,
  run: (context: Context, members: number) => Promise<Answer[]>,
) {
  const lines = new Map<string, Line<Context, Answer>>()

  function beginSoon(name: string, line: Line<Context, Answer>): void {
    if (line.begins || line.underWay === atOnce || line.waiting.length === 0) return
    line.begins = true
    // The batch waits, so that all requests that arrived in this turn of the event loop join it.
    setImmediate(() => {
      line.begins = false
      void begin(name, line)
    })
  }

  async function begin(name: string, line: Line<Context, Answer>): Promise<void> {
    const members = line.waiting
    line.waiting = []
    line.underWay++
    try {
      const answers = await run(members[0]!.context, members.length)
      for (const [at, member] of members.entries()) member.resolve(answers[at]!)
    } catch (error) {
      for (const member of members) member.reject(error)
    }
    line.underWay--
    if (line.underWay === 0 && line.waiting.length === 0) lines.delete(name)
    else beginSoon(name, line)
  }

  return {
    /**
     * Adds the caller to the next batch of this name, whose statement begins after this call.
     * @param context equal for all callers with the same name
     */
    join(name: string, context: Context): Promise<Answer> {
      const line = lines.get(name) ?? { underWay: 0, waiting: [], begins: false }
      lines.set(name, line)
      return new Promise((resolve, reject) => {
        line.waiting.push({ context, resolve, reject })
        beginSoon(name, line)
      })
    },
  }
}
