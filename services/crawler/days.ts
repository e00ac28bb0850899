import type { Logger } from '#shared/log/logger'
import { createOutageLog } from '#shared/log/outage'
import type { Pool } from '#shared/postgres/pool'
import { type Repeated, repeatEvery } from '#shared/process/repeat'

/** The counts that a crawler adds to an outlet's day. Each is a column of `outlet_days`. */
const ADDED = ['polls', 'sitemaps', 'requests', 'errors', 'unchanged', 'bytes'] as const
type Added = Partial<Record<(typeof ADDED)[number], number>>

/** Counts of this process that are not in the database yet. */
export interface UnsavedDays {
  add(outletNo: number, added: Added): void
  /**
   * Adds the counts to today's rows, in the order of the outlets, so that two crawlers cannot
   * deadlock. If that fails, the next call saves them.
   */
  save(pool: Pool): Promise<void>
}

export function createUnsavedDays(): UnsavedDays {
  let unsaved = new Map<number, Added>()
  const add = (outletNo: number, added: Added): void => {
    const sum = unsaved.get(outletNo) ?? {}
    for (const name of ADDED) sum[name] = (sum[name] ?? 0) + (added[name] ?? 0)
    unsaved.set(outletNo, sum)
  }
  return {
    add,
    async save(pool: Pool): Promise<void> {
      if (unsaved.size === 0) return
      const saving = unsaved
      unsaved = new Map()
      const rows = [...saving].map(([outlet_no, added]) => ({ outlet_no, ...added }))
      await pool.query(SAVE, [JSON.stringify(rows)]).catch(error => {
        for (const [outletNo, added] of saving) add(outletNo, added)
        throw error
      })
    },
  }
}

const SAVE = `
  insert into outlet_days as d (outlet_no, day, ${ADDED.join()})
  select outlet_no, (clock_timestamp() at time zone 'UTC')::date, ${ADDED.join()}
    from jsonb_to_recordset($1) as a (outlet_no int, ${ADDED.map(name => `${name} bigint`).join()})
   order by outlet_no
  on conflict (outlet_no, day) do update set ${ADDED.map(name => `${name} = d.${name} + excluded.${name}`).join()}`

/**
 * The number of days after which the counts of a day are final. A page that waits for an answer is
 * given up after eight.
 */
const OPEN_DAYS = 10

/**
 * Counts the states of the addresses that outlets named in the last days. Each count reads whole
 * days from crawl memory, so that no retry and no second crawler counts an address twice.
 *
 * @param days the number of days, today included
 */
export async function countDays(pool: Pool, days: number = OPEN_DAYS): Promise<void> {
  await pool.query(COUNT, [days - 1])
}

/** Columns of `outlet_days` that each count of a day replaces. */
const COUNTED =
  'feeds second named indexed alone reasons refused lost unfetched waiting first_page'.split(' ')

/**
 * The first run counts only this many of the latest pages, because a count of all could take longer
 * than a statement may.
 */
const FIRST_PAGES = 10_000_000

// $1 days before today. Numbers of pages grow with time, so `first_page` of a day says where to
// begin, without an index on the time. The first run counts the whole days of the latest pages. A
// day that was counted before is counted again even when no address is left on it, because a feed
// may have named its addresses on a later day. The seventh letter of a page's origins says whether
// the text came from the feed alone (shared/outlets/origins.ts). Pages of the past
// (back-fill.ts) are no pages of the day.
const COUNT = `
  with latest as (
    select coalesce(max(page_no), 0) - ${FIRST_PAGES} as page from pages
  ), since as (
    select case when count(first_page) > 0 then (now() at time zone 'UTC')::date - $1::int
                when latest.page <= 0 then '-infinity'
                else (select (discovered_at at time zone 'UTC')::date + 1
                        from pages where page_no >= latest.page order by page_no limit 1) end as day,
           coalesce(min(first_page) filter (where day >= (now() at time zone 'UTC')::date - $1::int),
                    max(first_page), latest.page) as page
      from latest left join outlet_days on first_page is not null group by latest.page
  ), address as (
    select p.outlet_no, (discovered_at at time zone 'UTC')::date as day, page_no, state, named_by,
           coalesce(reason, 'unknown') as reason, substr(origins, 7, 1) in ('f', 's', '-') as alone
      from pages p, since where page_no >= since.page and (discovered_at at time zone 'UTC')::date >= since.day and named_by <> 4
    union all
    select outlet_no, u.day, null, 'counted', 2, '', false
      from unfetched_addresses u, since
     where u.day >= since.day
       and not exists (select from pages p where p.outlet_no = u.outlet_no and p.crawl_key = u.crawl_key)
    union all
    select outlet_no, d.day, null, '', null, '', false from outlet_days d, since where d.day >= since.day
  ), sum as (
    select outlet_no, day, state, reason, count(named_by) as n, min(page_no) as first_page,
           count(*) filter (where named_by & 1 <> 0) as feeds, count(*) filter (where named_by & 2 <> 0) as second,
           count(*) filter (where alone) as alone, state = 'refused' and reason = 'language' as foreign_language
      from address group by 1, 2, 3, 4
  )
  insert into outlet_days as d (outlet_no, day, ${COUNTED.join()})
  select outlet_no, day, sum(feeds), sum(second), coalesce(sum(n) filter (where not foreign_language), 0),
         coalesce(sum(n) filter (where state = 'done'), 0), coalesce(sum(alone) filter (where state = 'done'), 0),
         coalesce(jsonb_object_agg(reason, n) filter (where state = 'refused'), '{}'),
         coalesce(sum(n) filter (where state = 'refused' and not foreign_language), 0),
         coalesce(sum(n) filter (where state = 'failed'), 0), coalesce(sum(n) filter (where state = 'counted'), 0),
         coalesce(sum(n) filter (where state in ('waiting', 'stored')), 0), min(first_page)
    from sum group by 1, 2 order by 1, 2
  on conflict (outlet_no, day) do update set ${COUNTED.map(name => `${name} = excluded.${name}`).join()}
   where (${COUNTED.map(name => `d.${name}`).join()}) is distinct from (${COUNTED.map(name => `excluded.${name}`).join()})`

/** Removes the addresses that were counted and never fetched, once their day is final. */
export async function removeCounted(pool: Pool): Promise<void> {
  await pool.query(
    `delete from unfetched_addresses where day < (now() at time zone 'UTC')::date - $1::int`,
    [OPEN_DAYS],
  )
}

/** ms between two saves. */
const EVERY = 10_000
/**
 * ms between two counts of today and yesterday. After a slow count, the pause is LOAD times the
 * time of that count, so counting takes at most a fiftieth of the time.
 */
const COUNT_EVERY = 30_000
const LOAD = 50

/**
 * Saves the counts of this process, and counts the two latest days. Maintenance counts the other
 * days.
 */
export function startDays({
  pool,
  asked,
  log,
}: {
  pool: Pool
  asked: UnsavedDays
  log: Logger
}): Repeated {
  let next = 0
  const work = async () => {
    await asked.save(pool)
    const begun = performance.now()
    if (begun < next) return
    // The pause also follows a failed count, which may have taken as long as a complete one.
    await countDays(pool, 2).finally(() => {
      next = begun + Math.max(COUNT_EVERY, LOAD * (performance.now() - begun))
    })
  }
  const outage = createOutageLog(
    log,
    'could not count the days of outlets',
    'days are counted again',
  )
  return repeatEvery(EVERY, work, { first: EVERY, outage })
}
