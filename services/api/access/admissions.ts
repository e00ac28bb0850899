import { INDEX_STATE, type IndexState, indexStateOf } from '../../../search/index.ts'
import { type Admission, type Admit, createAdmit } from '../../../shared/plans/admission.ts'
import { chargeQuota, type QuotaMonth } from '../../../shared/plans/quota.ts'
import { hashSecret, looksLikeSecret, makeSecret } from '../../../shared/plans/secret.ts'
import type { Queryable } from '../../../shared/postgres/pool.ts'
import { createBatches } from './batches.ts'

/** One writes, the next one is on its way: more statements of one key would wait for its rows. */
const ENTRIES_AT_ONCE = 2
/** A charge waits for the disk with its row locked: what comes meanwhile shares the next one. */
const CHARGES_AT_ONCE = 1

/** The statements that count: one before the search of a request, one after it for a quota. */
export interface Admissions {
  /**
   * Finds the key and counts the request in its minute, with the state of the index at that
   * moment. Null when the key is unknown or revoked.
   */
  admit(secret: string): Promise<Admission<IndexState> | null>
  /** Takes one request of the month; null when none is left. */
  charge(keyId: string, quota: number): Promise<QuotaMonth | null>
}

export function createAdmissions(db: Queryable): Admissions {
  const admit = createAdmit(db, { ...INDEX_STATE, read: indexStateOf })
  const entries = createBatches(ENTRIES_AT_ONCE, (keyHash: Buffer, requests) => admitAll(admit, keyHash, requests))
  const charges = createBatches(CHARGES_AT_ONCE, (key: ChargedKey, requests) => chargeAll(db, key, requests))
  return {
    async admit(secret) {
      if (!looksLikeSecret(secret)) return null
      const hash = hashSecret(secret)
      return entries.join(hash.toString('latin1'), hash)
    },
    charge: (keyId, quota) => charges.join(`${keyId} ${quota}`, { keyId, quota }),
  }
}

/**
 * Prepares the statement of every request on so many connections, by asking for keys that nobody
 * has. They count nothing.
 */
export async function prepareAdmissions(db: Queryable, connections: number): Promise<void> {
  const admissions = createAdmissions(db)
  await Promise.all(Array.from({ length: connections }, () => admissions.admit(makeSecret())))
}

/** Each request with its own place in the minute. */
async function admitAll<Read>(
  admit: Admit<Read>,
  keyHash: Buffer,
  requests: number,
): Promise<(Admission<Read> | null)[]> {
  const all = await admit(keyHash, requests)
  if (all === null) return Array(requests).fill(null)
  const { allowed, used } = all.minute
  if (allowed) return places(requests, used).map(place => ({ ...all, minute: { ...all.minute, used: place } }))
  // None was counted. The first ones take what is left, and the others are refused.
  const room = Math.max(0, all.found.key.plan.rate - used)
  const first = room > 0 && room < requests ? await admitAll(admit, keyHash, room) : []
  return [...first, ...Array(requests - first.length).fill(all)]
}

interface ChargedKey {
  keyId: string
  quota: number
}

async function chargeAll(db: Queryable, key: ChargedKey, requests: number): Promise<(QuotaMonth | null)[]> {
  const { keyId, quota } = key
  const month = await chargeQuota(db, keyId, quota, requests)
  if (month) return places(requests, month.used).map(used => ({ ...month, used }))
  if (requests === 1) return [null]
  // The month ends within this batch: one after the other takes what is left.
  const half = Math.floor(requests / 2)
  return [...(await chargeAll(db, key, half)), ...(await chargeAll(db, key, requests - half))]
}

/** The places of so many requests, of which `last` is the last one's. */
const places = (requests: number, last: number): number[] =>
  Array.from({ length: requests }, (_, at) => last - requests + 1 + at)
