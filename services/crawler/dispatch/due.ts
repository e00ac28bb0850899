import type { Pool } from '../../../shared/postgres/pool.ts'

/** A host that a visit is called for; `visits` names which one. */
export interface CalledHost {
  host: string
  visits: number
}

/** ms for a called visit to begin; then it is called again. */
const CALL = 10_000
const MOST_AT_ONCE = 500
/** A host is called a little before it is free, for the message takes its time. */
const AHEAD = 300

/**
 * Marks the hosts that have something due and that nobody visits or was called for, and returns them. Every crawler asks
 * this every second; each host is called by one of them.
 */
export async function callDueHosts(pool: Pool, pages: boolean): Promise<CalledHost[]> {
  const { rows } = await pool.query<CalledHost>(
    `with due as (
       select host from hosts h
        where leased_until <= now() and called_until <= now() and free_at <= now() + $3 * interval '1 ms'
          and not (robots_blocked and robots_until > now())
          and (exists (select from feeds f join outlets o using (outlet_no)
                        where f.host = h.host and f.active and o.active and f.next_poll_at <= now())
               or $1 and exists (select from pages p
                                  where p.host = h.host and p.state = 'waiting' and p.next_try_at <= now()))
        order by free_at limit $4
          for update skip locked
     )
     update hosts h set called_until = now() + $2 * interval '1 ms'
       from due where h.host = due.host
     returning h.host, h.visits`,
    [pages, CALL, AHEAD, MOST_AT_ONCE],
  )
  return rows
}

/** For hosts whose message could not be sent: they are called again at the next look. */
export async function takeBackCalls(pool: Pool, hosts: CalledHost[]): Promise<void> {
  await pool.query("update hosts set called_until = 'epoch' where host = any($1)", [hosts.map(({ host }) => host)])
}

/** Whether so many stored pages wait for the normaliser that it is to be given no more for now. Index pages_stored. */
export async function isBacklogged(pool: Pool, limit: number): Promise<boolean> {
  const { rows } = await pool.query<{ backlogged: boolean }>(
    "select exists (select from pages where state = 'stored' offset $1 limit 1) as backlogged",
    [limit],
  )
  return rows[0]?.backlogged ?? false
}
