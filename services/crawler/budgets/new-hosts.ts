import type { Budget } from '../../../shared/outlets/budget.ts'
import { type Pool, type Queryable, transaction } from '../../../shared/postgres/pool.ts'
import { ensureHosts } from '../hosts/permits.ts'
import { spend, TODAY } from './budget.ts'

/**
 * Adds the new hosts that an outlet names, in their order, as far as its budget of today allows.
 * @returns the hosts that have to wait for another day
 */
export async function admitHosts(
  db: Queryable,
  outletNo: number,
  named: Iterable<string>,
  budget: Budget,
): Promise<Set<string>> {
  const hosts = [...new Set(named)]
  const { rows } = await db.query<{ host: string }>('select host from hosts where host = any($1)', [hosts])
  const known = new Set(rows.map(({ host }) => host))
  const fresh = hosts.filter(host => !known.has(host))
  if (fresh.length === 0) return new Set()
  const left = await hostsLeft(db, outletNo, budget)
  const admitted = fresh.slice(0, left)
  if (admitted.length > 0) {
    await spend(db, outletNo, { hosts: admitted.length, bytes: 0 })
    await ensureHosts(db, admitted)
  }
  return new Set(fresh.slice(left))
}

/** The rest of today's budget. Locks it, so that a second transaction waits for this one. */
async function hostsLeft(db: Queryable, outletNo: number, budget: Budget): Promise<number> {
  await db.query(`insert into outlet_loads (outlet_no, day) values ($1, ${TODAY}) on conflict do nothing`, [outletNo])
  const { rows } = await db.query<{ used: number }>(
    `select case when day = ${TODAY} then hosts else 0 end as used from outlet_loads where outlet_no = $1 for update`,
    [outletNo],
  )
  return Math.max(0, budget.CRAWL_OUTLET_HOSTS - (rows[0]?.used ?? 0))
}

/** ms after which we try a host again for which today's budget had no room. */
export const OTHER_DAY = 6 * 3_600_000

/**
 * Whether we may ask a host that neither the catalogue nor a feed has named. It must be known, or
 * the outlet's budget must have room for it.
 */
export async function admitsHost(pool: Pool, outletNo: number, host: string, budget: Budget): Promise<boolean> {
  const { rowCount } = await pool.query('select from hosts where host = $1', [host])
  if (rowCount !== 0) return true
  return transaction(pool, async client => (await admitHosts(client, outletNo, [host], budget)).size === 0)
}

/** Pages of one outlet that are examined in one go. */
const BATCH = 10_000

/**
 * Releases pages that were put off because their host was new, the oldest first, as far as the
 * outlets' budgets of today allow. Any crawler may do it; a crash leaves the pages put off. Index:
 * pages_put_off.
 *
 * @returns the number of released pages
 */
export async function releasePutOff(pool: Pool, budget: Budget): Promise<number> {
  const outlets = await pool.query<{ outletNo: number }>(
    `with recursive outlet as (
       (select outlet_no from pages where state = 'waiting' and reason = 'put off' order by outlet_no limit 1)
       union all
       select next.outlet_no
         from outlet o, lateral (select outlet_no from pages
                                  where state = 'waiting' and reason = 'put off' and outlet_no > o.outlet_no
                                  order by outlet_no limit 1) next
     )
     select outlet_no as "outletNo" from outlet o
      where not exists (select from outlet_loads l
                         where l.outlet_no = o.outlet_no and l.day = ${TODAY} and l.hosts >= $1)`,
    [budget.CRAWL_OUTLET_HOSTS],
  )
  let released = 0
  for (const { outletNo } of outlets.rows) {
    released += await transaction(pool, async client => {
      const { rows } = await client.query<{ host: string }>(
        `select host from (select host, page_no from pages
                            where outlet_no = $1 and state = 'waiting' and reason = 'put off' order by page_no limit $2) p
          group by host order by min(page_no)`,
        [outletNo, BATCH],
      )
      const hosts = rows.map(({ host }) => host)
      const waiting = await admitHosts(client, outletNo, hosts, budget)
      const { rowCount } = await client.query(
        `update pages set reason = null, detail = null, next_try_at = clock_timestamp()
          where outlet_no = $1 and state = 'waiting' and reason = 'put off' and host = any($2)`,
        [outletNo, hosts.filter(host => !waiting.has(host))],
      )
      return rowCount ?? 0
    })
  }
  return released
}
