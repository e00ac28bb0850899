import { randomUUID } from 'node:crypto'
import type { Logger } from '../../../shared/log/logger.ts'
import { createOutageLog } from '../../../shared/log/outage.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'

/** ms until the leases of a dead process run out. */
export const LEASE_DURATION = 10_000
const BEAT = 3_000

/**
 * Something that one process of the fleet has at a time: the visit to a host, or a request to it.
 */
export interface Lease {
  readonly id: string
  readonly host: string
  /** Aborted when the lease is lost; what depends on it ends. */
  readonly lost: AbortSignal
  /** False as soon as another process may have it, also after a pause of this process. */
  alive(): boolean
}

/** The leases of one process, kept alive together. */
export interface Leases {
  /**
   * Keeps a lease that the database has just granted to a statement sent at `since` (monotonic).
   */
  keep(kind: Kind, host: string, id: string, since: number): Lease
  drop(lease: Lease): void
  /** Stops renewing; leases that are still held run out. */
  close(): void
}

type Kind = 'visit' | 'permit'

interface Kept extends Lease {
  kind: Kind
  /** Monotonic ms. */
  deadline: number
  loss: AbortController
}

export const newLeaseId = () => randomUUID()

/**
 * Prolongs every lease of this process in one statement every few seconds. A lease is lost when it
 * was not prolonged in time, or when the database gave it to another: its signal then aborts.
 */
export function createLeases(pool: Pool, log: Logger, hostDelay: number): Leases {
  const kept = new Map<string, Kept>()
  let beating = false
  let lastBeat = 0
  const outage = createOutageLog(log, { begins: 'cannot prolong the leases', ends: 'the leases are prolonged again' })

  const lose = (lease: Kept) => {
    kept.delete(lease.id)
    lease.loss.abort()
    log.warn({ host: lease.host, lease: lease.kind }, 'lost a lease; another crawler goes on')
  }

  const beat = async () => {
    for (const lease of kept.values()) if (performance.now() >= lease.deadline) lose(lease)
    if (beating || kept.size === 0 || performance.now() - lastBeat < BEAT) return
    beating = true
    const since = performance.now()
    const asked = [...kept.values()]
    try {
      const { rows } = await pool.query<{ visit: string | null; permit: string | null }>(PROLONG, [
        asked.filter(({ kind }) => kind === 'visit').map(({ id }) => id),
        asked.filter(({ kind }) => kind === 'permit').map(({ id }) => id),
        LEASE_DURATION,
        hostDelay,
      ])
      const prolonged = new Set(rows.flatMap(({ visit, permit }) => [visit, permit]))
      for (const lease of asked) {
        if (prolonged.has(lease.id)) lease.deadline = since + LEASE_DURATION
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
        ...{ kind, host, id, loss, deadline: since + LEASE_DURATION, lost: loss.signal },
        alive: () => !loss.signal.aborted && performance.now() < lease.deadline,
      }
      kept.set(id, lease)
      return lease
    },
    drop: lease => void kept.delete(lease.id),
    close: () => clearInterval(timer),
  }
}

// $1 visits, $2 permits, $3 ms they last, $4 pause between two requests (ms). A lease that has run
// out is not revived: another process may be about to take it. The column `turn` has the permit.
const PROLONG = `
  update hosts
     set leased_until = case when holder = any($1::uuid[]) and leased_until > clock_timestamp()
                             then clock_timestamp() + $3 * interval '1 ms' else leased_until end,
         free_at = case when turn = any($2::uuid[]) and free_at > clock_timestamp()
                        then clock_timestamp() + ($3 + greatest(coalesce(crawl_delay, 0), $4)) * interval '1 ms'
                        else free_at end
   where holder = any($1::uuid[]) or turn = any($2::uuid[])
  returning case when holder = any($1::uuid[]) and leased_until > clock_timestamp() then holder end as visit,
            case when turn = any($2::uuid[]) and free_at > clock_timestamp() then turn end as permit`
