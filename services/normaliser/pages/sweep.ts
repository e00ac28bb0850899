import type { Logger } from '../../../shared/log/logger.ts'
import { createOutageLog } from '../../../shared/log/outage.ts'
import { CALLED_AT_ONCE } from '../../../shared/pages/page.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import type { Queues } from '../../../shared/queues/queues.ts'
import { giveBack } from './finish.ts'

const TICK = 1_000
/**
 * ms after which a page that was called and is not finished is called again: its message may be
 * lost.
 */
const CALL = 60_000
const MOST_AT_ONCE = 500
/** A page just stored has a message of the crawler's on its way. */
const OWN_MESSAGE = 2_000

/**
 * Looks again and again for stored pages that are due and calls them, until it is closed: whatever
 * becomes of the queues, Postgres alone says what there is to do.
 */
export function startSweeper(pool: Pool, queues: Pick<Queues, 'add'>, log: Logger): { close(): Promise<void> } {
  let timer: NodeJS.Timeout | undefined
  let closed = false
  let running = Promise.resolve()
  const trouble = createOutageLog(log, { begins: 'cannot call stored pages', ends: 'stored pages are called again' })
  let limit = MOST_AT_ONCE
  const tick = async () => {
    try {
      const due = await callDuePages(pool, limit)
      const messages = due.map(pageNo => ({ key: String(pageNo), data: { pageNo: String(pageNo) } }))
      try {
        await queues.add('normalise', messages)
      } catch (error) {
        // The queues are away: one page at a time finds out when they are back, and none waits for
        // its next call.
        limit = 1
        await giveBack(pool, due)
        throw error
      }
      limit = MOST_AT_ONCE
      trouble.over()
    } catch (error) {
      trouble.met(error)
    }
  }
  const next = () => {
    if (closed) return
    running = tick().then(() => {
      timer = setTimeout(next, TICK)
    })
  }
  next()
  return {
    async close() {
      closed = true
      clearTimeout(timer)
      await running
    },
  }
}

/**
 * Marks due pages as called and returns them, outlet by outlet in turn; each is called by one
 * normaliser. An outlet has so many pages called at a time that nobody waits long behind them.
 * Index pages_stored_turns.
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
