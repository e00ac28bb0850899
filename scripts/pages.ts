import { counted, printableLine } from '../shared/log/printable.ts'
import { createPool, type Pool, type Queryable } from '../shared/postgres/pool.ts'
import { type CommandContext, runCommand, UsageError } from '../shared/process/command.ts'
import { columns, span } from './terminal/terminal.ts'

const LIMIT = 100
const LONGEST = 100_000

const PAGE_STATES = ['waiting', 'stored', 'failed', 'refused'] as const
type PageState = (typeof PAGE_STATES)[number]

// $1 outlet, $2 state, $3 page numbers. Indexes: pages_waiting, pages_stored, pages_failed, which
// hold only open pages. Refused pages are found by reading all pages.
const CHOSEN = `
  from pages p join outlets o using (outlet_no)
  where (p.state = 'waiting' or p.state = 'stored' or p.state = 'failed'
         or p.state = 'refused' and ($2 = 'refused' or $3::bigint[] is not null))
    and ($1::text is null or o.domain = $1) and ($2::text is null or p.state = $2)
    and ($3::bigint[] is null or p.page_no = any ($3::bigint[]))`

const isOpen = (page: string) => `${page}.state in ('waiting', 'stored')`
const ORDER = "p.state <> 'failed', case when p.state = 'refused' then p.finished_at end desc, p.next_try_at, p.page_no"

const valuesOf = ({ outlet, state, numbers }: PageChoice) => [outlet, state, numbers]

// A page that was put off waits for the next day's budget: trying it now would change nothing.
const TRIABLE = `
  and (p.state in ('failed', 'refused') or p.next_try_at > now()) and p.reason is distinct from 'put off'`

const cleaned = (row: string[]) => row.map(printableLine)

await runCommand(
  {
    name: 'pages',
    about: [
      'Lists the pages that are not done with: those that wait for the crawler or the normaliser, and those that failed for',
      'good. Each comes with its next try and the reason of its last attempt. `list --refused` lists those that are not',
      'indexed: gone, forbidden by robots.txt, in another language. `retry` has failed and refused pages, and pages that wait',
      'for a later try, tried now; hosts keep their pace.',
    ].join('\n'),
    usage: [
      'list [--state waiting | --refused] [--outlet DOMAIN] [--limit 100] [--json]',
      'retry ID… [--dry-run] [--json]',
      'retry --outlet DOMAIN | --state failed | --refused | --all [--dry-run] [--json]',
    ],
    options: {
      state: { type: 'string', value: PAGE_STATES.join('|'), about: 'only pages of this state' },
      outlet: { type: 'string', value: 'DOMAIN', about: 'only pages of this outlet' },
      limit: { type: 'string', value: 'N', about: `list: at most N pages (default ${LIMIT})` },
      refused: { type: 'boolean', about: 'only refused pages; without it they are tried again by their ids alone' },
      all: { type: 'boolean', about: 'retry: every open page that may be tried again' },
      json: { type: 'boolean', about: 'list: one JSON object a line; retry: {"action", "count", "dry_run"}' },
      'dry-run': { type: 'boolean', about: 'retry: says how many, and changes nothing' },
    },
    needs: ['DATABASE_URL'],
  },
  async context => {
    const [verb, ...ids] = context.positionals
    if (verb !== 'list' && verb !== 'retry') throw new UsageError('Write list or retry; see --help.')
    if (verb !== 'retry' && ids.length > 0) throw new UsageError(`"${ids[0]}" is one word too many; see --help.`)
    const choice = choiceOf(context, ids)
    const pool = createPool(context.config.DATABASE_URL, 'pages', () => {}, { max: 1 })
    try {
      await (verb === 'list' ? list : retry)(context, pool, choice)
    } finally {
      await pool.end()
    }
  },
)

/** @throws UsageError */
function limitOf({ options }: CommandContext): number {
  const limit = Number(options.limit ?? LIMIT)
  if (Number.isInteger(limit) && limit >= 1 && limit <= LONGEST) return limit
  throw new UsageError(`--limit is a whole number from 1 to ${LONGEST}.`)
}

async function list(context: CommandContext, pool: Pool, choice: PageChoice): Promise<void> {
  const { options, print, say } = context
  const limit = limitOf(context)
  const pages = await listPages(pool, choice, limit)
  if (options.json === true) for (const page of pages) print(JSON.stringify(page))
  else if (pages.length > 0) print(pagesTable(pages, new Date()))
  const count = pages.length < limit ? pages.length : await countPages(pool, choice)
  const kind = choice.state === 'refused' ? 'refused' : 'open'
  if (count === 0) say(`No page is ${kind}.`)
  else if (count > pages.length) say(`${pages.length} of ${counted(count, `${kind} page`)}; --limit shows more.`)
  else say(`${counted(count, `${kind} page`)}.`)
}

async function retry({ options, print, say }: CommandContext, pool: Pool, choice: PageChoice): Promise<void> {
  if (choice.numbers === null && choice.outlet === null && choice.state === null && options.all !== true) {
    throw new UsageError('Name ids as list prints them, --outlet, --state, or --all.')
  }
  const dryRun = options['dry-run'] === true
  const count = await (dryRun ? countTriable(pool, choice) : retryPages(pool, choice))
  if (options.json === true) print(JSON.stringify({ action: 'retry', count, dry_run: dryRun }))
  else say(`${dryRun ? 'Would try' : 'Tries'} ${counted(count, 'page')} now.`)
}

function choiceOf({ options }: CommandContext, ids: string[]): PageChoice {
  const written = options.refused === true ? (options.state ?? 'refused') : options.state
  const state = PAGE_STATES.find(known => known === written) ?? null
  if (written !== undefined && state === null) {
    throw new UsageError(`--state is one of ${PAGE_STATES.join(', ')}.`)
  }
  const wrong = ids.find(id => !/^page:\d{1,18}$/.test(id))
  if (wrong !== undefined) throw new UsageError(`"${wrong}" is no id of a page; they look like page:12.`)
  return {
    outlet: typeof options.outlet === 'string' ? options.outlet.toLowerCase().replace(/^www\./, '') : null,
    state,
    numbers: ids.length > 0 ? ids.map(id => id.slice('page:'.length)) : null,
  }
}

/** A page that is not done with, or that was refused. */
interface ListedPage {
  /** `page:12`, as everywhere. */
  id: string
  outlet: string
  url: string
  /**
   * `waiting` for the crawler, `stored` for the normaliser, `failed`: in quarantine, `refused`: not
   * indexed, as its reason says.
   */
  state: PageState
  reason: string | null
  detail: string | null
  attempts: number
  /** Null: it failed or was refused, and nobody tries it again by itself. */
  nextTry: Date | null
  /** The outlet gets no request before; null: it does not rest. */
  outletRestsUntil: Date | null
}

/**
 * Which pages. Without a state and numbers, all open ones: those that were refused are not among
 * them.
 */
interface PageChoice {
  /** Domain; null: all. */
  outlet: string | null
  /** Null: all open ones. */
  state: PageState | null
  /** Page numbers; null: all. */
  numbers: string[] | null
}

/**
 * Open pages: failed ones first, then by the time of their next try. Refused pages: the latest
 * first.
 */
export async function listPages(db: Queryable, choice: PageChoice, limit: number): Promise<ListedPage[]> {
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

async function countPages(db: Queryable, choice: PageChoice): Promise<number> {
  const { rows } = await db.query<{ n: number }>(`select count(*)::int as n ${CHOSEN}`, valuesOf(choice))
  return rows[0]?.n ?? 0
}

/** The number of pages that `retryPages` would give back. */
async function countTriable(db: Queryable, choice: PageChoice): Promise<number> {
  const { rows } = await db.query<{ n: number }>(`select count(*)::int as n ${CHOSEN} ${TRIABLE}`, valuesOf(choice))
  return rows[0]?.n ?? 0
}

/**
 * Has pages tried now that failed, were refused or wait for a later try. A failed or refused page
 * starts over without counted attempts; one whose source is kept goes to the normaliser. The pace
 * of hosts holds.
 *
 * @returns how many pages
 */
export async function retryPages(db: Queryable, choice: PageChoice): Promise<number> {
  const { rowCount } = await db.query(
    `update pages u
        set state = case when ${isOpen('u')} then u.state
                         when exists (select from page_sources s where s.page_no = u.page_no) then 'stored'
                         else 'waiting' end,
            attempts = case when ${isOpen('u')} then u.attempts else 0 end,
            first_tried_at = case when ${isOpen('u')} then u.first_tried_at end,
            reason = case when ${isOpen('u')} then u.reason end,
            detail = case when ${isOpen('u')} then u.detail end,
            finished_at = null, next_try_at = now()
      where u.page_no in (select p.page_no ${CHOSEN} ${TRIABLE})`,
    valuesOf(choice),
  )
  return rowCount ?? 0
}

/** Pages for people: one line a page. */
function pagesTable(pages: ListedPage[], now: Date): string {
  const rows = pages.map(page => [
    page.id,
    page.state,
    nextTry(page, now),
    counted(page.attempts, 'attempt'),
    page.outlet,
    page.url,
    why(page, now),
  ])
  return columns([['id', 'state', 'next try', 'tried', 'outlet', 'address', 'why'], ...rows].map(cleaned))
}

function nextTry({ nextTry }: ListedPage, now: Date): string {
  if (nextTry === null) return 'none'
  const wait = nextTry.getTime() - now.getTime()
  return wait <= 0 ? 'due' : `in ${span(wait)}`
}

/** The reason of the last attempt, or what the page waits for. */
function why({ state, reason, detail, nextTry, outletRestsUntil }: ListedPage, now: Date): string {
  if (reason === 'put off') return 'its host is beyond the new hosts that its outlet may have today'
  const parts = [reason, detail].filter(part => part !== null && part !== '')
  if (state === 'waiting' && outletRestsUntil !== null) {
    parts.push(`its outlet rests for ${span(outletRestsUntil.getTime() - now.getTime())}`)
  }
  if (parts.length > 0) return parts.join('; ')
  if (state === 'stored') return 'waits for a normaliser'
  if (nextTry !== null && nextTry > now) return 'not tried yet'
  return 'waits for its host, or for a crawler'
}
