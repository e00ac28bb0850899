import { counted, printableLine } from '#shared/log/printable'
import { countOf, type Queryable } from '#shared/postgres/pool'
import { span } from '#status/words'
import { type Done, readDone } from './done.ts'
import { columns } from './terminal.ts'

/** A page that is open or refused. */
interface ListedPage {
  /** `page:12`, the same form as in all commands. */
  id: string
  outlet: string
  url: string
  /**
   * `waiting` for the crawler, `stored` for the normaliser, `failed`: in quarantine, `refused`: not
   * indexed, for the stated reason.
   */
  state: PageState
  reason: string | null
  detail: string | null
  attempts: number
  /** Null: the page failed or was refused, and is tried again only when an operator asks for it. */
  nextTry: Date | null
  /** The outlet gets no request before this time; null: the outlet does not rest. */
  outletRestsUntil: Date | null
}

export const PAGE_STATES = ['waiting', 'stored', 'failed', 'refused'] as const
type PageState = (typeof PAGE_STATES)[number]

/** The chosen pages. Without a state and numbers, all open pages, but no refused ones. */
export interface PageChoice {
  /** Domain; null: all. */
  outlet: string | null
  /** Null: all open pages. */
  state: PageState | null
  /** Page numbers; null: all pages. */
  numbers: string[] | null
}

// $1 outlet, $2 state, $3 page numbers. Indexes: pages_waiting, pages_stored, pages_failed, which
// hold only open pages. Refused pages have no index, so all pages are read.
const CHOSEN = `
  from pages p join outlets o using (outlet_no)
  where (p.state = 'waiting' or p.state = 'stored' or p.state = 'failed'
         or p.state = 'refused' and ($2 = 'refused' or $3::bigint[] is not null))
    and ($1::text is null or o.domain = $1) and ($2::text is null or p.state = $2)
    and ($3::bigint[] is null or p.page_no = any ($3::bigint[]))`

const isOpen = (page: string) => `${page}.state in ('waiting', 'stored')`
const ORDER =
  "p.state <> 'failed', case when p.state = 'refused' then p.finished_at end desc, p.next_try_at, p.page_no"

const valuesOf = ({ outlet, state, numbers }: PageChoice) => [outlet, state, numbers]

/**
 * Open pages: failed ones first, then by the time of their next try. Refused pages: the latest
 * first.
 */
export async function listPages(
  db: Queryable,
  choice: PageChoice,
  limit: number,
): Promise<ListedPage[]> {
  const { rows } = await db.query<ListedPage>(
    `select 'page:' || p.page_no as id, o.domain as outlet, p.url, p.state, p.reason, p.detail, p.attempts,
            case when ${isOpen('p')} then p.next_try_at end as "nextTry",
            (select case when rest_until > now() then rest_until end from outlet_loads l
              where l.outlet_no = p.outlet_no) as "outletRestsUntil"
     from (select p.*, o.domain ${CHOSEN}
           order by ${ORDER} limit $4) p join outlets o using (outlet_no)
     order by ${ORDER}`,
    [...valuesOf(choice), limit],
  )
  return rows
}

export async function countPages(db: Queryable, choice: PageChoice): Promise<number> {
  return countOf(db, `select count(*)::int as n ${CHOSEN}`, valuesOf(choice))
}

// A page that was put off waits for the budget of the next day. Trying it now would change nothing.
// Outlets that left the catalogue get no requests, so of their pages only stored ones are tried.
const TRIABLE = `
  and (p.state in ('failed', 'refused') or p.next_try_at > now()) and p.reason is distinct from 'put off'
  and (o.active or exists (select from page_sources s where s.page_no = p.page_no))`

/** The pages that `retryPages` would return. */
export async function findTriable(db: Queryable, choice: PageChoice): Promise<Done> {
  const statement = `select 'page:' || p.page_no as id ${CHOSEN} ${TRIABLE}`
  return readDone(db, statement, valuesOf(choice), choice.numbers !== null)
}

/**
 * Makes pages due now that failed, were refused or wait for a later try. For failed and refused
 * pages, attempts count from zero again. A page whose source is stored goes to the normaliser.
 * Pauses of hosts still apply.
 */
export async function retryPages(db: Queryable, choice: PageChoice): Promise<Done> {
  return readDone(
    db,
    `update pages u
        set state = case when ${isOpen('u')} then u.state
                         when exists (select from page_sources s where s.page_no = u.page_no) then 'stored'
                         else 'waiting' end,
            attempts = case when ${isOpen('u')} then u.attempts else 0 end,
            first_tried_at = case when ${isOpen('u')} then u.first_tried_at end,
            reason = case when ${isOpen('u')} then u.reason end,
            detail = case when ${isOpen('u')} then u.detail end,
            finished_at = null, next_try_at = now(), ends = 0, rests_until = null
      where u.page_no in (select p.page_no ${CHOSEN} ${TRIABLE})
      returning 'page:' || u.page_no as id`,
    valuesOf(choice),
    choice.numbers !== null,
  )
}

/** Pages for people: one line a page. */
export function pagesTable(pages: ListedPage[], now: Date): string {
  const rows = pages.map(page => [
    page.id,
    page.state,
    nextTry(page, now),
    counted(page.attempts, 'attempt'),
    page.outlet,
    page.url,
    why(page, now),
  ])
  return columns(
    [['id', 'state', 'next try', 'tried', 'outlet', 'address', 'why'], ...rows].map(cleaned),
  )
}

const cleaned = (row: string[]) => row.map(printableLine)

function nextTry({ nextTry }: ListedPage, now: Date): string {
  if (nextTry === null) return 'none'
  const wait = nextTry.getTime() - now.getTime()
  return wait <= 0 ? 'due' : `in ${span(wait / 1_000)}`
}

/** The reason of the last attempt, or the reason for waiting. */
function why({ state, reason, detail, nextTry, outletRestsUntil }: ListedPage, now: Date): string {
  if (reason === 'put off') return 'its host is beyond the new hosts that its outlet may have today'
  const parts = [reason, detail].filter(part => part !== null && part !== '')
  if (state === 'waiting' && outletRestsUntil !== null) {
    parts.push(`its outlet rests for ${span((outletRestsUntil.getTime() - now.getTime()) / 1_000)}`)
  }
  if (parts.length > 0) return parts.join('; ')
  if (state === 'stored') return 'waits for a normaliser'
  if (nextTry !== null && nextTry > now) return 'not tried yet'
  return 'waits for its host, or for a crawler'
}
