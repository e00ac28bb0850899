import type { Pool } from '../../../shared/postgres/pool.ts'
import { LEASE_DURATION, type Lease, type Leases, newLeaseId } from './leases.ts'

/** The right to visit a host. */
export interface Visit extends Lease {
  /** The number of the visit to this host, from 1. */
  number: number
  /** It was called for looks alone: nothing new was due at the host. */
  looking: boolean
}

/** Takes the lease of a visit to a host. Null: another process has it. */
export async function takeVisit(pool: Pool, leases: Leases, host: string): Promise<Visit | null> {
  const id = newLeaseId()
  const since = performance.now()
  const { rows } = await pool.query<{ visits: number; looking: boolean }>(
    `update hosts
        set holder = $2, leased_until = clock_timestamp() + $3 * interval '1 ms', visits = visits + 1
      where host = $1 and leased_until <= clock_timestamp()
      returning visits, looking`,
    [host, id, LEASE_DURATION],
  )
  const [taken] = rows
  return taken === undefined
    ? null
    : Object.assign(leases.keep('visit', host, id, since), {
        number: taken.visits,
        looking: taken.looking,
      })
}

/** Ends a visit; the dispatcher calls the next one when there is work. */
export async function endVisit(pool: Pool, leases: Leases, visit: Lease): Promise<void> {
  leases.drop(visit)
  await pool.query(
    "update hosts set holder = null, leased_until = 'epoch', called_until = 'epoch' where host = $1 and holder = $2",
    [visit.host, visit.id],
  )
}
