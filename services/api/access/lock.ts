import { isIP } from 'node:net'
import { ipKeyGenerator } from 'express-rate-limit'
import type { Config } from '#shared/config/config'
import { type Queryable, readRow, readValue } from '#shared/postgres/pool'
import { NoPermit, type Permits } from './permits.ts'

const SECONDS_LEFT = 'greatest(1, ceil(extract(epoch from locked_until - clock_timestamp())))::int'

// Each address has one row. A write locks the row, which makes the count exact however many
// processes write at once.
// $1 address, $2 failures that lock, $3 ms in which they count, $4 ms the lock holds.
const FAIL = `
insert into auth_failures as f (address, failed_at, locked_until, was_locked, seen_at)
values ($1, array[clock_timestamp()],
        case when $2::int <= 1 then clock_timestamp() + $4::float8 * interval '1 ms' end,
        false, clock_timestamp())
on conflict (address) do update set (failed_at, locked_until, was_locked, seen_at) = (
  select case when locked then f.failed_at when locks then '{}' else recent || moment end,
         case when locked then f.locked_until when locks then moment + $4::float8 * interval '1 ms' end,
         locked,
         moment
  from (select clock_timestamp() as moment, coalesce(f.locked_until > clock_timestamp(), false) as locked) lock,
  lateral (select array(select t from unnest(f.failed_at) t where t > moment - $3::float8 * interval '1 ms') as recent) r,
  lateral (select cardinality(recent) + 1 >= $2::int as locks) l
)
returning was_locked, ${SECONDS_LEFT} as seconds`

const REMAINING = `
select ${SECONDS_LEFT} as seconds from auth_failures where address = $1 and locked_until > clock_timestamp()`

const SWEEP = `
delete from auth_failures
where seen_at < clock_timestamp() - $1::float8 * interval '1 ms'
  and (locked_until is null or locked_until < clock_timestamp())`

export interface AddressLock {
  /** Seconds that the address is still locked for, at least 1; null when it is not. */
  remaining(address: string): Promise<number | null>
  /**
   * Counts an invalid key. Returns the value that `remaining` would have returned just before, so
   * the failure that starts the lock is answered like any other.
   */
  fail(address: string): Promise<number | null>
  /** Removes addresses whose failures no longer count and that are not locked. */
  sweep(): Promise<void>
}

/**
 * The lock on addresses from which too many invalid keys came (decision 3), shared by all
 * processes.
 */
export function createAddressLock(
  db: Queryable,
  settings: Pick<Config, 'AUTH_LOCK_FAILURES' | 'AUTH_LOCK_WINDOW' | 'AUTH_LOCK_DURATION'>,
  strangers: Permits,
): AddressLock {
  const {
    AUTH_LOCK_FAILURES: failures,
    AUTH_LOCK_WINDOW: window,
    AUTH_LOCK_DURATION: duration,
  } = settings

  async function remaining(address: string): Promise<number | null> {
    return readValue<number>(db, {
      name: 'lock-remaining',
      text: REMAINING,
      values: [address],
    })
  }

  async function count(address: string): Promise<number | null> {
    // A locked address needs no further count. Reading the lock first costs a fraction of a write.
    const locked = await remaining(address)
    if (locked !== null) return locked
    const row = await readRow<{ was_locked: boolean; seconds: number }>(db, {
      name: 'lock-fail',
      text: FAIL,
      values: [address, failures, window, duration],
    })
    return row?.was_locked ? row.seconds : null
  }

  const orWait = (error: unknown) => {
    if (error instanceof NoPermit) return 1
    throw error
  }

  return {
    // Reads of the lock and counts of failures wait in separate queues. In one queue, many requests
    // without a key could keep failures from being counted.
    remaining: address => strangers.take(`look ${address}`, () => remaining(address)).catch(orWait),
    fail: address => strangers.take(`fail ${address}`, () => count(address)).catch(orWait),
    async sweep() {
      await db.query(SWEEP, [window])
    },
  }
}

/** The parts of a request that tell who sent it. `ip` may be what a proxy forwarded. */
interface Caller {
  ip?: string | undefined
  socket: { remoteAddress?: string | undefined }
}

/**
 * The address that a failure counts against: an IPv4 address, or the /56 of an IPv6 one, which a
 * provider gives to one household or office. IPv4 inside IPv6 (`::ffff:…`) is IPv4. When a proxy
 * forwarded something that is no address, the connection's own address counts.
 */
export function lockAddress({ ip, socket }: Caller): string {
  const address = [ip, socket.remoteAddress].find(
    candidate => candidate !== undefined && isIP(candidate) !== 0,
  )
  return address === undefined ? 'unknown' : ipKeyGenerator(address, 56)
}
