import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from '../../../shared/postgres/pool.ts'
import { LEASE_DURATION, type Lease, type Leases, newLeaseId } from './leases.ts'

/** A lease for one request to a host. */
export interface Permit extends Lease {
  /** Connections in a row that failed before this one. */
  failures: number
}

/** What is known when a request has ended. */
export interface PermitEnd {
  /** False: no request was made after all, and no pause is due. */
  requested: boolean
  /** ms that the host asked us to stay away, or that its failures suggest; 0: the usual pause. */
  pause: number
  /** Null: the host answered, whatever it said. */
  error: string | null
}

/**
 * `busy`: the host is not free for `wait` ms. `interrupted`: another crawler has the visit, or this
 * one is stopping.
 */
export type PermitOutcome =
  | { kind: 'permit'; permit: Permit }
  | { kind: 'busy'; wait: number }
  | { kind: 'interrupted' }

/**
 * ms between two looks while another request to the host is under way: it may end at any moment.
 */
const LOOK_AGAIN = 250
/** A longer wait (ms) for a host needs leave. */
const LONG = 15_000

/**
 * Waits until the host is free and takes the permit: never before `free_at`, never during another
 * request, and only while the visit is ours. One statement decides it by the clock of the database.
 * While the permit lasts, `free_at` lies a lease and a pause ahead: a crash only lengthens the
 * pause.
 *
 * @param options.patience longest wait in ms; a host that is not free by then is `busy`
 * @param options.beginLong asked before a long wait: null forbids it, and the host is `busy`; else
 * ends it
 * @param options.stop ends the wait
 */
export async function takePermit(
  pool: Pool,
  leases: Leases,
  visit: Lease,
  host: string,
  options: { delay: number; patience: number; beginLong: () => (() => void) | null; stop: AbortSignal },
): Promise<PermitOutcome> {
  const deadline = performance.now() + options.patience
  const id = newLeaseId()
  for (;;) {
    if (options.stop.aborted || !visit.alive()) return { kind: 'interrupted' }
    const since = performance.now()
    const { rows } = await pool.query<{
      taken: boolean
      ours: boolean
      asked: boolean
      wait: number
      failures: number
    }>(TAKE, [host, id, LEASE_DURATION, options.delay, visit.host, visit.id])
    const state = rows[0]
    if (state === undefined) {
      await ensureHosts(pool, [host])
      continue
    }
    if (state.taken) {
      return {
        kind: 'permit',
        permit: Object.assign(leases.keep('permit', host, id, since), { failures: state.failures }),
      }
    }
    if (!state.ours) return { kind: 'interrupted' }
    if (performance.now() + (state.asked ? 0 : state.wait) > deadline) return { kind: 'busy', wait: state.wait }
    const wait = Math.max(1, state.asked ? Math.min(state.wait, LOOK_AGAIN) : state.wait)
    const end = wait > LONG ? options.beginLong() : () => {}
    if (end === null) return { kind: 'busy', wait: state.wait }
    await sleep(wait, undefined, { signal: AbortSignal.any([options.stop, visit.lost]) })
      .catch(() => {})
      .finally(end)
  }
}

// $1 host, $2 permit, $3 ms a lease lasts, $4 pause (ms), $5 and $6 the visit on whose behalf.
// Primary key.
const TAKE = `
  with visiting as (
    select exists (select from hosts where host = $5 and holder = $6 and leased_until > clock_timestamp()) as ours
  ), taken as (
    update hosts
       set turn = $2, free_at = clock_timestamp() + ($3 + greatest(coalesce(crawl_delay, 0), $4)) * interval '1 ms'
     where host = $1 and free_at <= clock_timestamp() and (select ours from visiting)
    returning 1
  )
  select exists (select from taken) as taken,
         (select ours from visiting) as ours,
         turn is not null as asked,
         failures,
         ceil(extract(epoch from free_at - clock_timestamp()) * 1000)::float8 as wait
    from hosts where host = $1`

/** Ends a permit: the pause begins now. */
export async function endPermit(
  pool: Pool,
  leases: Leases,
  permit: Permit,
  delay: number,
  end: PermitEnd,
): Promise<void> {
  leases.drop(permit)
  // A little longer than asked: times are kept in whole milliseconds, and a busy server may notice
  // the first request late.
  await pool.query(
    `with pause as (
       select greatest(coalesce(crawl_delay, 0), $4::int, $5::int) as ms from hosts where host = $1
     )
     update hosts
        set turn = null,
            free_at = case when $3 then clock_timestamp() + (1 + ms + least(25, ms / 10)) * interval '1 ms'
                           else clock_timestamp() end,
            failures = case when not $3 then failures when $6::text is null then 0 else failures + 1 end,
            last_error = case when $3 then $6 else last_error end
       from pause
      where host = $1 and turn = $2`,
    [permit.host, permit.id, end.requested, delay, Math.ceil(end.pause), end.error],
  )
}

/**
 * Adds hosts that the table lacks. Sorted, so that two writers never wait for each other in a
 * circle.
 */
export async function ensureHosts(db: Pick<Pool, 'query'>, hosts: Iterable<string>): Promise<void> {
  const names = [...new Set(hosts)].sort()
  if (names.length === 0) return
  await db.query(
    'insert into hosts (host) select name from unnest($1::text[]) as name where not exists (select from hosts where host = name) on conflict do nothing',
    [names],
  )
}
