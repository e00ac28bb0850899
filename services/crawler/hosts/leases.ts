import { randomUUID } from 'node:crypto'
import type { Logger } from '#shared/log/logger'
import { createOutageLog } from '#shared/log/outage'
import type { Pool } from '#shared/postgres/pool'

/** ms until the leases of a dead process expire. */
export const LEASE_DURATION = 10_000
const BEAT = 3_000

/** A right that one process of the fleet has at a time: to visit a host, or to make a request. */
export interface Lease {
  readonly id: string
  readonly host: string
  /** Aborted when the lease is lost. Work that depends on the lease must then end. */
  readonly lost: AbortSignal
  /**
   * False when another process may have the lease, for instance after a long pause of this process.
   */
  alive(): boolean
}

/** The leases of one process. */
export interface Leases {
  /** Keeps a lease that the database granted to a statement sent at `since` (monotonic ms). */
  keep(kind: Kind, host: string, id: string, since: number): Lease
  drop(lease: Lease): void
  /** Stops renewing. Leases that are still held expire. */
  close(): void
}

type Kind = 'visit' | 'permit'

interface Kept extends Lease {
  kind: Kind
  /** The time at which the lease expires, in monotonic ms. */
  deadline: number
  loss: AbortController
}

export const newLeaseId = (): string => randomUUID()

/**
 * Renews all leases of this process every few seconds, in one statement. A lease is lost when it
 * was not renewed in time, or when the database granted it to another process. Its signal then
 * aborts.
 */
export function createLeases(pool: Pool, log: Logger, hostDelay: number): Leases {
  const kept = new Map<string, Kept>()
  let beating = false
  let lastBeat = 0
  const outage = createOutageLog(
    log,
    'could not renew the leases of hosts',
    'the leases of hosts are renewed again',
  )

  const lose = (lease: Kept) => {
    kept.delete(lease.id)
    lease.loss.abort()
    log.warn(
      { host: lease.host, lease: lease.kind },
      'lost the lease of a host; another crawler may continue there',
    )
  }

  const beat = async () => {
    for (const lease of kept.values()) if (performance.now() >= lease.deadline) lose(lease)
    if (beating || kept.size === 0 || performance.now() - lastBeat < BEAT) return
    beating = true
    const since = performance.now()
    const asked = [...kept.values()]
    try {
      const { rows } = await pool.query<{ visit: string | null; permit: string | null }>(RENEW, [
        asked.map(({ id }) => id),
        LEASE_DURATION,
        hostDelay,
      ])
      const renewed = new Set(rows.flatMap(({ visit, permit }) => [visit, permit]))
      for (const lease of asked) {
        if (renewed.has(lease.id)) lease.deadline = since + LEASE_DURATION
        else if (kept.has(lease.id)) lose(lease)
      }
      lastBeat = since
      outage.over()
    } catch (error) {
      outage.met(error)
    } finally {
      beating = false
    }
  }
  const timer = setInterval(() => void beat(), 500)

  return {
    keep(kind, host, id, since) {
      const loss = new AbortController()
      const lease: Kept = {
        kind,
        host,
        id,
        loss,
        deadline: since + LEASE_DURATION,
        lost: loss.signal,
        alive: () => !loss.signal.aborted && performance.now() < lease.deadline,
      }
      kept.set(id, lease)
      return lease
    },
    drop: lease => void kept.delete(lease.id),
    close: () => clearInterval(timer),
  }
}

// $1 visits and permits, $2 ms that a lease lasts, $3 pause between two requests (ms). An expired
// lease is not renewed, because another process may be about to take it.
const RENEW = `
  update hosts
     set leased_until = case when holder = any($1::uuid[]) and leased_until > clock_timestamp()
                             then clock_timestamp() + $2 * interval '1 ms' else leased_until end,
         free_at = case when permit = any($1::uuid[]) and free_at > clock_timestamp()
                        then clock_timestamp() + ($2 + greatest(coalesce(crawl_delay, 0), $3)) * interval '1 ms'
                        else free_at end
   where holder = any($1::uuid[]) or permit = any($1::uuid[])
  returning case when holder = any($1::uuid[]) and leased_until > clock_timestamp() then holder end as visit,
            case when permit = any($1::uuid[]) and free_at > clock_timestamp() then hosts.permit end as permit`

/** A visit: the time in which one crawler alone polls feeds and fetches pages of a host. */
export interface Visit extends Lease {
  /** The number of the visit to this host, from 1. */
  number: number
}

/** Begins a visit to a host. Null: another crawler visits it, or the host is not known. */
export async function beginVisit(
  pool: Pool,
  leases: Leases,
  host: string,
  outletNo: number | null,
): Promise<Lease | null> {
  const since = performance.now()
  const id = newLeaseId()
  const { rowCount } = await pool.query(
    `update hosts set holder = $2, visited_for = $3, visits = visits + 1,
                      leased_until = clock_timestamp() + $4 * interval '1 ms'
      where host = $1 and leased_until <= clock_timestamp()`,
    [host, id, outletNo, LEASE_DURATION],
  )
  return rowCount === 1 ? leases.keep('visit', host, id, since) : null
}

/** Ends a visit. If work is left, a dispatcher claims the host again. */
export async function endVisit(pool: Pool, leases: Leases, visit: Lease): Promise<void> {
  leases.drop(visit)
  await pool.query(
    "update hosts set holder = null, leased_until = 'epoch' where host = $1 and holder = $2",
    [visit.host, visit.id],
  )
}
