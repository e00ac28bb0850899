import type { Budget } from '../../../shared/outlets/budget.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import { TODAY } from './budget.ts'

/** Outlets that have to wait: the others' turns must not be theirs. */
export interface Held {
  /**
   * Whose pages are not fetched: the day's budget is spent, they rest, or their share of the store
   * is full.
   */
  pages: Set<number>
  /** Whose feeds are not polled: they would name more than can be kept. */
  feeds: Set<number>
}

/**
 * Stored pages of one outlet that wait for the normaliser; then no more of its pages are fetched.
 */
export const STORED_SHARE = 500

/** Which outlets have to wait now. Indexes: pages_stored_turns. */
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

/**
 * Days of pages that may wait. A feed that names more than its outlet may have is not asked until
 * they are fewer.
 */
const DAYS = 5

/**
 * Outlets of which so many pages wait that their feeds are not polled. Reads every waiting page:
 * not for each look.
 */
export async function readBrimming(pool: Pool, budget: Budget): Promise<Set<number>> {
  const { rows } = await pool.query<{ outletNo: number }>(
    `select outlet_no as "outletNo" from pages where state = 'waiting' group by outlet_no having count(*) >= $1`,
    [budget.CRAWL_OUTLET_PAGES * DAYS],
  )
  return new Set(rows.map(({ outletNo }) => outletNo))
}
