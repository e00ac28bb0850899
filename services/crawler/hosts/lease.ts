import type { Pool } from '../../../shared/postgres/pool.ts'
import { HOLD, type Hold, type Holds, newHoldId } from './holds.ts'

/** Takes the visit to a host, or null when another has it. */
export async function takeVisit(pool: Pool, holds: Holds, host: string): Promise<Hold | null> {
  const id = newHoldId()
  const since = performance.now()
  const { rowCount } = await pool.query(
    `update hosts
        set holder = $2, leased_until = clock_timestamp() + $3 * interval '1 ms', visits = visits + 1
      where host = $1 and leased_until <= clock_timestamp()`,
    [host, id, HOLD],
  )
  return rowCount === 1 ? holds.keep('visit', host, id, since) : null
}

/** Ends a visit; the dispatcher calls the next one when there is work. */
export async function endVisit(pool: Pool, holds: Holds, visit: Hold): Promise<void> {
  holds.drop(visit)
  await pool.query(
    "update hosts set holder = null, leased_until = 'epoch', called_until = 'epoch' where host = $1 and holder = $2",
    [visit.host, visit.id],
  )
}
