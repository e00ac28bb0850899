import type { Budget } from '../../../shared/outlets/budget.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import { TODAY } from './budget.ts'

/** Outlets that have to wait, so that the others get their share. */
export interface Held {
  /**
   * Their pages are not fetched: the day's budget is spent, they rest, or too many of their pages
   * are stored.
   */
  pages: Set<number>
  /** Their feeds are not polled: they would name more pages than we can keep. */
  feeds: Set<number>
}

/** When so many stored pages of one outlet wait for the normaliser, we fetch no more. */
export const STORED_SHARE = 500

/** Reads which outlets have to wait now. Index: pages_stored_turns. */
export async function readHeld(pool: Pool, budget: Budget, brimming: ReadonlySet<number>): Promise<Held> {
  const { rows } = await pool.query<{ outletNo: number; feeds: boolean }>(
    `with recursive storing as (
       (select outlet_no from pages where state = 'stored' order by outlet_no limit 1)
       union all
       select next.outlet_no
         from storing s, lateral (select outlet_no from pages where state = 'stored' and outlet_no > s.outlet_no
                                   order by outlet_no limit 1) next
     )
     select outlet_no as "outletNo", false as feeds from storing s
      where exists (select from pages where state = 'stored' and outlet_no = s.outlet_no offset $1 - 1)
     union all
     select outlet_no, day = ${TODAY} and bytes >= $3
       from outlet_loads
      where rest_until > clock_timestamp() or day = ${TODAY} and (pages >= $2 or bytes >= $3)`,
    [STORED_SHARE, budget.CRAWL_OUTLET_PAGES, budget.CRAWL_OUTLET_BYTES],
  )
  return {
    pages: new Set(rows.map(({ outletNo }) => outletNo)),
    feeds: new Set([...brimming, ...rows.filter(({ feeds }) => feeds).map(({ outletNo }) => outletNo)]),
  }
}

/** An outlet's pages for so many days may wait. Its feeds are not polled while more wait. */
const DAYS = 5

/**
 * Reads the outlets with so many waiting pages that their feeds are not polled. It reads every
 * waiting page, so the dispatcher calls it rarely.
 */
export async function readBrimming(pool: Pool, budget: Budget): Promise<Set<number>> {
  const { rows } = await pool.query<{ outletNo: number }>(
    `select outlet_no as "outletNo" from pages where state = 'waiting' group by outlet_no having count(*) >= $1`,
    [budget.CRAWL_OUTLET_PAGES * DAYS],
  )
  return new Set(rows.map(({ outletNo }) => outletNo))
}
