import { gauge } from '../../../shared/log/registry.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'

/** The states of the table, and `expired`: an active one whose lease has run out. */
const STATES = ['wanted', 'asked', 'active', 'expired', 'denied']

/**
 * Offers the number of subscriptions to hubs as a metric. A scrape reads it from the database.
 * Every crawler shows the same figures: take the maximum over the processes, not the sum. Without
 * `WEBSUB_PUBLIC_URL` no hub is asked, and there are no figures.
 */
export function observeSubscriptions(pool: Pool, publicUrl: string): void {
  gauge(
    'websub_subscriptions',
    'Subscriptions to the hubs of feeds, by state: wanted, asked, active, expired, denied.',
    ['state'],
    async () => (publicUrl === '' ? null : countSubscriptions(pool)),
    (set, counts) => {
      if (counts !== null) for (const state of STATES) set({ state }, counts.get(state) ?? 0)
    },
  )
}

/** The table is read whole: it has a row for each feed that names a hub. */
async function countSubscriptions(pool: Pool): Promise<Map<string, number>> {
  const { rows } = await pool.query<{ state: string; n: number }>(
    `select case when state = 'active' and lease_until <= now() then 'expired' else state end as state, count(*)::int as n
       from websub_subscriptions group by 1`,
  )
  return new Map(rows.map(({ state, n }) => [state, n]))
}
