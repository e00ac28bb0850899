import type { Client, Pool } from '../../../shared/postgres/pool.ts'
import type { Candidate } from '../dispatch/choose.ts'

/** A page that is due for a look. Validators and digest are those of the last version read. */
export interface DueLook {
  pageNo: bigint
  outletNo: number
  url: string
  finalUrl: string
  etag: string | null
  lastModified: string | null
  digest: Buffer | null
  /** Looks before this one, and tries of this one: together they tell this try from any other. */
  looks: number
  attempts: number
}

export interface LookOptions {
  /** Outlets whose pages have to wait. */
  held: readonly number[]
  /** A part of the day's budget that looks may use: new pages need the rest. */
  budget: { pages: number; bytes: number }
  /** CRAWL_HOST_DELAY ahead of which a host may be called, in ms. */
  ahead: number
}

/** Of an outlet at a time. */
const HOSTS_OF_AN_OUTLET = 2

/** SQL: the outlet `outletNo` has had so much today that the rest is kept for new pages. */
const isSpent = (outletNo: string, pages: string, bytes: string) => `
  exists (select from outlet_loads l
           where l.outlet_no = ${outletNo} and l.day = (clock_timestamp() at time zone 'UTC')::date
             and (l.pages >= ${pages} or l.bytes >= ${bytes}))`

/**
 * SQL: a feed is due at the host, or a new page of an outlet that need not wait. Indexes:
 * pages_waiting_turns, feeds_due.
 */
const hasNews = (host: string, held: string) => `
  (exists (select from pages w
            where w.host = ${host} and w.state = 'waiting' and w.reason is distinct from 'put off'
              and w.outlet_no <> all(${held}) and w.next_try_at <= clock_timestamp())
   or exists (select from feeds f join outlets n using (outlet_no)
               where f.host = ${host} and f.active and n.active and f.next_poll_at <= clock_timestamp()))`

/**
 * Reads the hosts at which nothing but looks is due, each with an outlet that needs it, the longest
 * due first. Index: page_looks_due, one step for each host and outlet.
 */
export async function readLookCandidates(client: Client, options: LookOptions): Promise<Candidate[]> {
  const { held, budget, ahead } = options
  const { rows } = await client.query<Candidate>(
    `with recursive planned as (
       (select host, outlet_no from page_looks where look_at is not null order by host, outlet_no limit 1)
       union all
       select next.host, next.outlet_no
         from planned p, lateral (
           select host, outlet_no from page_looks
            where look_at is not null and (host, outlet_no) > (p.host, p.outlet_no)
            order by host, outlet_no limit 1) next
     ), due as (
       select p.host, p.outlet_no, l.look_at as since
         from planned p join outlets o on o.outlet_no = p.outlet_no and o.active, lateral (
           select look_at from page_looks l
            where l.host = p.host and l.outlet_no = p.outlet_no and look_at <= clock_timestamp()
            order by look_at limit 1) l
        where p.outlet_no <> all($1) and not ${isSpent('p.outlet_no', '$2', '$3')}
     ), placed as (
       select d.*, row_number() over (partition by outlet_no order by since, host) as place
         from due d join hosts h using (host)
        where h.leased_until <= now() and h.called_until <= now() and h.free_at <= now() + $4 * interval '1 ms'
          and not (h.robots_blocked and h.robots_until > now()) and not ${hasNews('d.host', '$1')}
     )
     select p.host, p.outlet_no as "outletNo", coalesce(l.failures, 0) > 0 as slowed,
            exists (select from feeds f join outlets o using (outlet_no)
                     where f.host = p.host and f.active and o.active) as catalogued
       from placed p left join outlet_loads l using (outlet_no)
      where place <= $5 order by place, since`,
    [[...held], budget.pages, budget.bytes, ahead, HOSTS_OF_AN_OUTLET],
  )
  return rows
}

/** The number of visits for looks that are under way or called. */
export async function countLooking(client: Client): Promise<number> {
  const { rows } = await client.query<{ n: number }>(
    'select count(*)::int as n from hosts where looking and (leased_until > now() or called_until > now())',
  )
  return rows[0]?.n ?? 0
}

/**
 * The page at a host that has been due for a look longest. The caller has found no new page and no
 * feed that is due there: these come first, always. Index: page_looks_due.
 */
export async function nextLook(
  pool: Pool,
  host: string,
  { held, budget }: Pick<LookOptions, 'held' | 'budget'>,
): Promise<DueLook | null> {
  const { rows } = await pool.query<DueLook>(
    `select l.page_no as "pageNo", l.outlet_no as "outletNo", p.url, l.final_url as "finalUrl", l.etag,
            l.last_modified as "lastModified", l.digest, l.looks, l.attempts
       from page_looks l join pages p using (page_no) join outlets o on o.outlet_no = l.outlet_no and o.active
      where l.host = $1 and l.look_at <= clock_timestamp() and l.outlet_no <> all($2)
        and not ${isSpent('l.outlet_no', '$3', '$4')}
      order by l.look_at limit 1`,
    [host, [...held], budget.pages, budget.bytes],
  )
  return rows[0] ?? null
}
