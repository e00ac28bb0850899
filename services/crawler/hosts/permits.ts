import { setTimeout as sleep } from 'node:timers/promises'
import { type Pool, readRow } from '#shared/postgres/pool'
import { LEASE_DURATION, type Lease, type Leases, newLeaseId } from './leases.ts'

/** A lease for one request to a host. */
export interface Permit extends Lease {
  /** The number of failed connections in a row before this request. */
  failures: number
}

/**
 * `busy`: the host is not free for `wait` ms. `interrupted`: another crawler has the visit, or this
 * one is stopping.
 */
type PermitOutcome =
  | { kind: 'permit'; permit: Permit }
  | { kind: 'busy'; wait: number }
  | { kind: 'interrupted' }

/**
 * ms between two tries while another request to the host is under way, because it may end at any
 * moment.
 */
const LOOK_AGAIN = 250
/** A wait for a host that is longer than this many ms must be granted (`beginLong`). */
const LONG = 15_000

interface PermitOptions {
  /** CRAWL_HOST_DELAY: shortest pause between two requests, in ms. */
  delay: number
  /** Longest wait in ms; a host that is not free by then is `busy`. */
  patience: number
  /**
   * Called before a long wait. Returns a function that ends the wait. Null: the wait is not
   * granted, and the host is `busy`.
   */
  beginLong: () => (() => void) | null
  /** Ends the wait. */
  stop: AbortSignal
}

/**
 * Waits until the host is free and takes the permit. The host is free when its pause (`free_at`) is
 * over and no other request is under way, by the clock of the database. One statement decides that,
 * and only while the visit is ours. While the permit lasts, `free_at` lies a lease and a pause
 * ahead. So a crash can only lengthen the pause.
 */
export async function takePermit(
  pool: Pool,
  leases: Leases,
  visit: Lease,
  host: string,
  options: PermitOptions,
): Promise<PermitOutcome> {
  const deadline = performance.now() + options.patience
  const id = newLeaseId()
  while (!options.stop.aborted && visit.alive()) {
    const since = performance.now()
    const values = [host, id, LEASE_DURATION, options.delay, visit.host, visit.id]
    const state = await readRow<HostState>(pool, TAKE, values)
    if (state === undefined) {
      await ensureHosts(pool, [host])
      continue
    }
    if (state.taken) {
      const lease = leases.keep('permit', host, id, since)
      return { kind: 'permit', permit: Object.assign(lease, { failures: state.failures }) }
    }
    if (!state.ours) break
    if (!(await waitForHost(visit, state, deadline, options)))
      return { kind: 'busy', wait: state.wait }
  }
  return { kind: 'interrupted' }
}

/** The state of a host after one try to take its permit; undefined: the table lacks the host. */
interface HostState {
  taken: boolean
  /** Whether the visit is ours. */
  ours: boolean
  /** Whether another request to the host is under way. */
  asked: boolean
  /** ms until the host is free, if nothing happens before. */
  wait: number
  failures: number
}

/**
 * Waits until the permit may be tried again. False: the wait would be too long, or is not granted.
 */
async function waitForHost(
  visit: Lease,
  { asked, wait }: HostState,
  deadline: number,
  { beginLong, stop }: PermitOptions,
): Promise<boolean> {
  if (performance.now() + (asked ? 0 : wait) > deadline) return false
  const pause = Math.max(1, asked ? Math.min(wait, LOOK_AGAIN) : wait)
  const end = pause > LONG ? beginLong() : () => {}
  if (end === null) return false
  await sleep(pause, undefined, { signal: AbortSignal.any([stop, visit.lost]) })
    .catch(() => {})
    .finally(end)
  return true
}

// $1 host, $2 permit, $3 ms that a lease lasts, $4 pause (ms), $5 host and $6 id of the visit.
// Index: the primary key.
const TAKE = `
  with visiting as (
    select exists (select from hosts where host = $5 and holder = $6 and leased_until > clock_timestamp()) as ours
  ), taken as (
    update hosts
       set permit = $2, free_at = clock_timestamp() + ($3 + greatest(coalesce(crawl_delay, 0), $4)) * interval '1 ms'
     where host = $1 and free_at <= clock_timestamp() and (select ours from visiting)
    returning 1
  )
  select exists (select from taken) as taken,
         (select ours from visiting) as ours,
         permit is not null as asked,
         failures,
         ceil(extract(epoch from free_at - clock_timestamp()) * 1000)::float8 as wait
    from hosts where host = $1`

/**
 * Ends a permit. The pause of the host begins.
 *
 * @param end.requested false: no request was made, so no pause is due
 * @param end.pause ms that the host asked for, or that follow from its failures; 0: the usual pause
 * @param end.error null: the host answered, with any status
 */
export async function endPermit(
  pool: Pool,
  leases: Leases,
  permit: Permit,
  delay: number,
  end: { requested: boolean; pause: number; error: string | null },
): Promise<void> {
  leases.drop(permit)
  // The pause is a little longer than asked, because times are stored in whole milliseconds, and a
  // busy server may notice the first request late.
  await pool.query(
    `with pause as (
       select greatest(coalesce(crawl_delay, 0), $4::int, $5::int) as ms from hosts where host = $1
     )
     update hosts
        set permit = null,
            free_at = case when $3 then clock_timestamp() + (1 + ms + least(25, ms / 10)) * interval '1 ms'
                           else clock_timestamp() end,
            failures = case when not $3 then failures when $6::text is null then 0 else failures + 1 end,
            last_error = case when $3 then $6 else last_error end
       from pause
      where host = $1 and permit = $2`,
    [permit.host, permit.id, end.requested, delay, Math.ceil(end.pause), end.error],
  )
}

/** Adds the hosts that the table lacks. They are sorted, so that two writers cannot deadlock. */
export async function ensureHosts(db: Pick<Pool, 'query'>, hosts: Iterable<string>): Promise<void> {
  const names = [...new Set(hosts)].sort()
  if (names.length === 0) return
  await db.query(
    'insert into hosts (host) select name from unnest($1::text[]) as name where not exists (select from hosts where host = name) on conflict do nothing',
    [names],
  )
}

/**
 * Begins a long wait for a host, and returns a function that ends it. Null: too many visits wait
 * already. Each visit holds one of CRAWL_CONCURRENCY permits, so hosts with long pauses must not
 * hold them all.
 */
export type BeginLongWait = (outletNo: number) => (() => void) | null

/** How many long waits one outlet may have at a time, for its feeds and its pages together. */
const OF_AN_OUTLET = 2

/** @param concurrency CRAWL_CONCURRENCY; half of these visits may wait long */
export function boundLongWaits(concurrency: number): BeginLongWait {
  const most = Math.max(1, Math.floor(concurrency / 2))
  const waiting: number[] = []
  return outletNo => {
    const own = waiting.filter(one => one === outletNo).length
    if (waiting.length >= most || own >= OF_AN_OUTLET) return null
    waiting.push(outletNo)
    return () => void waiting.splice(waiting.indexOf(outletNo), 1)
  }
}
