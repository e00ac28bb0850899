import type { Logger } from '../../../shared/log/logger.ts'
import { createOutageLog } from '../../../shared/log/outage.ts'
import { CALLED_AT_ONCE } from '../../../shared/outlets/page.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import { type Repeated, repeatEvery } from '../../../shared/process/repeat.ts'
import type { Queues } from '../../../shared/queues/queues.ts'
import { giveBack } from './finish.ts'

const TICK = 1_000
/**
 * ms after which a page that was called and is not finished is called again. Its message may be
 * lost.
 */
const CALL = 60_000
const MOST_AT_ONCE = 500
/** ms after its storing in which a page needs no call: the crawler has sent a message for it. */
const OWN_MESSAGE = 2_000

/**
 * Looks every second for stored pages that are due, and calls them, until it is closed. Messages in
 * the queues may be lost; Postgres knows which pages are due.
 */
export function startSweeper(pool: Pool, queues: Pick<Queues, 'add'>, log: Logger): Repeated {
  const outage = createOutageLog(log, { begins: 'cannot call stored pages', ends: 'stored pages are called again' })
  let limit = MOST_AT_ONCE
  const sweep = async () => {
    const due = await callDuePages(pool, limit)
    const messages = due.map(pageNo => ({ key: String(pageNo), data: { pageNo: String(pageNo) } }))
    try {
      await queues.add('normalise', messages)
    } catch (error) {
      // The queues do not answer. From now on one page at a time tries them. The pages are given
      // back, so that they need not wait for their next call.
      limit = 1
      await giveBack(pool, due)
      throw error
    }
    limit = MOST_AT_ONCE
  }
  return repeatEvery(TICK, sweep, { outage })
}

/**
 * Marks due pages as called and returns them, outlets in turn. One normaliser calls a page, even
 * when several look at the same time. At most `CALLED_AT_ONCE` pages of an outlet are called at a
 * time, so that other outlets do not wait long. Uses the index pages_stored_turns.
 */
export async function callDuePages(pool: Pool, limit = MOST_AT_ONCE): Promise<bigint[]> {
  const { rows } = await pool.query<{ page_no: bigint }>(
    `with recursive storing as (
       (select outlet_no from pages where state = 'stored' order by outlet_no limit 1)
       union all
       select next.outlet_no
         from storing s, lateral (select outlet_no from pages where state = 'stored' and outlet_no > s.outlet_no
                                   order by outlet_no limit 1) next
     ), due as (
       select d.page_no, row_number() over (partition by outlet_no order by next_try_at, page_no) as place
         from storing s, lateral (
           select count(*) as pages
             from (select from pages where state = 'stored' and outlet_no = s.outlet_no
                      and next_try_at > clock_timestamp() - $1 * interval '1 ms' limit $4) c) called,
         lateral (
           select page_no, next_try_at from pages
            where state = 'stored' and outlet_no = s.outlet_no and next_try_at <= clock_timestamp() - $1 * interval '1 ms'
            order by next_try_at limit $4 - called.pages) d
     ), chosen as (
       select page_no from pages
        where page_no in (select page_no from due order by place limit $2) and state = 'stored'
          and next_try_at <= clock_timestamp() - $1 * interval '1 ms'
          for update skip locked
     ), called as (
       update pages p set next_try_at = clock_timestamp() + $3 * interval '1 ms'
         from chosen where p.page_no = chosen.page_no
     )
     select page_no from chosen join due using (page_no) order by place`,
    [OWN_MESSAGE, limit, CALL, CALLED_AT_ONCE],
  )
  return rows.map(row => row.page_no)
}
