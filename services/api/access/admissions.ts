import { timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { INDEX_STATE, type IndexState } from '#search/index'
import {
  type CountedMinute,
  chargeQuota,
  countMinute,
  MONTH_CHARGED,
  MONTH_OF_KEY,
  type QuotaMonth,
  takeOfMonth,
} from '#shared/plans/counting'
import {
  type FoundKey,
  foundKey,
  hashSecret,
  looksLikeSecret,
  makeSecret,
  PLAN_COLUMNS,
  type Plan,
  type PlanRow,
} from '#shared/plans/keys'
import { type Queryable, readRow } from '#shared/postgres/pool'
import type { Permits } from './permits.ts'

/*
 * Every request changes a counter in the row of its key, and Postgres lets one statement at a time
 * change a row. Requests of one key that arrive together therefore share a statement. So a busy key
 * occupies few connections and delays no other key.
 *
 * A request whose answer this process has kept is charged by that statement, too, and so needs no
 * second one.
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
    const name = nameOf(hash)
    const found = known.has(name) ? await find() : await strangers.take(`key ${address()}`, find)
    if (found === null) known.delete(name)
    else known.set(name, true)
    return found
  }
}

/** A plan as a statement has read it, and its text, by which the next one sees whether it holds. */
export interface ReadPlan {
  plan: Plan
  terms: string
}

/** The plan and the state of the index on which a kept answer depends. */
interface Expected {
  terms: string
  state: IndexState
}

export interface Admissions {
  /** The plan that a key had when this process last admitted it; null: it has not, lately. */
  planOf(secret: string): ReadPlan | null
  /**
   * Finds the key and counts the request in its minute. Returns both with the state of the index
   * at that moment; null when the key is unknown or revoked.
   * @param expected of an answer that the caller has; null: it has none. If all of this holds, the
   * request is also taken from the month of the key: its answer then needs no second statement
   * @throws NoPermit when this process does not know the key, and too many requests with unknown
   * keys wait
   */
  admit(secret: string, address: () => string, expected: Expected | null): Promise<Admission | null>
  /** Counts a request in the month of a key; null when the month has no request left. */
  charge(keyId: string, quota: number): Promise<QuotaMonth | null>
}

/**
 * The statements that count requests: `admit` before a search, and `charge` after it when the plan
 * has a quota.
 */
export function createAdmissions(db: Queryable, lookup: Lookup): Admissions {
  const plans = new LRUCache<string, ReadPlan>(KNOWN)
  const admitted = async ({ secret, address, expected }: Entry, requests: number) => {
    const hash = hashSecret(secret)
    const all = await lookup(hash, address, () => admitAll(db, hash, expected, requests))
    const [first] = all ?? []
    if (first) plans.set(nameOf(hash), { plan: first.found.key.plan, terms: first.terms })
    return all ?? Array(requests).fill(null)
  }
  const entries = createBatches(ENTRIES_AT_ONCE, admitted)
  const paid = createBatches(CHARGES_AT_ONCE, admitted)
  const charges = createBatches(CHARGES_AT_ONCE, (key: ChargedKey, requests) =>
    chargeAll(db, key, requests),
  )
  return {
    planOf: secret =>
      looksLikeSecret(secret) ? (plans.get(nameOf(hashSecret(secret))) ?? null) : null,
    async admit(secret, address, expected) {
      if (!looksLikeSecret(secret)) return null
      const entry = { secret, address, expected }
      if (expected === null) return entries.join(secret, entry)
      const { lastSeq, version, wordsVersion } = expected.state
      const name = `${secret} ${lastSeq} ${version} ${wordsVersion} ${expected.terms}`
      return paid.join(name, entry)
    },
    charge: (keyId, quota) => charges.join(`${keyId} ${quota}`, { keyId, quota }),
  }
}

const nameOf = (hash: Buffer) => hash.toString('latin1')

interface Entry {
  secret: string
  /** Returns the address of the first request of the batch. */
  address: () => string
  expected: Expected | null
}

/**
 * Prepares the statement `ADMIT` on this many connections. It looks for random keys that nobody
 * has, so no request is counted.
 */
export async function prepareAdmissions(db: Queryable, connections: number): Promise<void> {
  await Promise.all(
    Array.from({ length: connections }, () => admitTogether(db, hashSecret(makeSecret()), null, 1)),
  )
}

/**
 * Admits requests that came with the same key. Each gets its own counts. Null when the key is
 * unknown or revoked.
 */
async function admitAll(
  db: Queryable,
  keyHash: Buffer,
  expected: Expected | null,
  requests: number,
): Promise<Admission[] | null> {
  const all = await admitTogether(db, keyHash, expected, requests)
  if (all === null) return null
  const { found, minute, isPaid } = all
  const { month } = found
  if (minute.allowed) {
    const months = countsOf(requests, month?.used ?? 0)
    return countsOf(requests, minute.used).map((used, at) => ({
      ...all,
      minute: { ...minute, used },
      found: isPaid && month ? { ...found, month: { ...month, used: months[at]! } } : found,
    }))
  }
  // The minute has no place for all requests, so the statement counted none. The first requests
  // take the places that are left, and the others are refused.
  const left = Math.max(0, found.key.plan.rate - minute.used)
  const first =
    (left > 0 && left < requests ? await admitAll(db, keyHash, expected, left) : null) ?? []
  return [...first, ...Array(requests - first.length).fill(all)]
}

/** The answer of the database about requests that came with the same key. */
interface Admission {
  found: FoundKey
  minute: CountedMinute
  /** The state of the index at the same moment. */
  state: IndexState
  /** The text of the plan. */
  terms: string
  /** Whether the request was taken from the month, too. */
  isPaid: boolean
}

/** SQL: where a request whose answer is kept is charged. */
const HOLDS = `
  k, counted, s
  where allowed and terms = $3 and "lastSeq" = $4 and version = $5 and "wordsVersion" = $6`

// The one statement that every request runs: the key with its plan and month, its minute, and the
// state of the index. An unknown key counts nothing. A request whose answer is kept is taken from
// the month, if plan and index are still those of the answer.
// $1 key_hash, $2 requests, $3 terms, $4 to $6 state of the index; null: no answer is kept.
// Indexes: api_keys_key_hash_key, the primary keys.
const ADMIT = `
  with k as materialized (
    select ${PLAN_COLUMNS}, key_hash, (countries, history_start, history_days, quota)::text as terms
    from api_keys where key_hash = $1 and revoked_at is null),
  ${countMinute('$2::int')},
  s as (select ${INDEX_STATE.columns} from ${INDEX_STATE.tables}),
  ${takeOfMonth('$2::int', HOLDS)}
  select k.*, allowed, used_in_minute, left_of_minute, m.*, s.*,
         exists (select from charged) as "isPaid"
  from k cross join counted cross join s left join lateral (
    ${MONTH_CHARGED}
    union all
    select * from (${MONTH_OF_KEY}) before where not exists (select from charged)
  ) m on k.quota is not null`

interface AdmitRow extends PlanRow, QuotaMonth, IndexState {
  key_hash: Buffer
  terms: string
  allowed: boolean
  used_in_minute: number
  left_of_minute: number
  isPaid: boolean
}

/**
 * Finds the key with this hash and counts requests in its minute. Null when the key is unknown or
 * revoked.
 */
async function admitTogether(
  db: Queryable,
  keyHash: Buffer,
  expected: Expected | null,
  requests: number,
): Promise<Admission | null> {
  const { terms = null, state = null } = expected ?? {}
  const values = [keyHash, requests, terms, state?.lastSeq, state?.version, state?.wordsVersion]
  const row = await readRow<AdmitRow>(db, { name: 'admit', text: ADMIT, values })
  // The database found the row by this hash already. This comparison takes equally long for every
  // hash, so its timing tells nothing.
  if (!row || !timingSafeEqual(row.key_hash, keyHash)) return null
  const minute = { allowed: row.allowed, used: row.used_in_minute, left: row.left_of_minute }
  const { lastSeq, version, wordsVersion, isPaid } = row
  const found = foundKey(row)
  return { found, minute, state: { lastSeq, version, wordsVersion }, terms: row.terms, isPaid }
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
