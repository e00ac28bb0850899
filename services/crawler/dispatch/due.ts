import { type Client, type Pool, transaction } from '../../../shared/postgres/pool.ts'
import type { Held } from '../budgets/held.ts'
import { countLooking, readLookCandidates } from '../looks/due.ts'
import { type Candidate, chooseHosts, type UnderWay } from './choose.ts'

/** A host for which a visit is called. `visits` is the number of its visits so far. */
export interface CalledHost {
  host: string
  visits: number
}

/** ms in which a called visit must begin. Otherwise it is called again. */
const CALL = 10_000
const MOST_AT_ONCE = 500
/** ms before a host is free at which it may be called, because the message takes time. */
const AHEAD = 300
/**
 * Candidates of one outlet. More than it may have visited at a time, because some sites are busy.
 */
const OF_AN_OUTLET = 32
/**
 * The key of an advisory lock; any number serves. One crawler calls visits at a time, so that two
 * never use the same free place.
 */
const CALLING = 6_118_203_774n

export interface CallOptions {
  /** Whether pages are fetched at all. */
  pages: boolean
  held: Held
  /** Domains of the catalogue's outlets. */
  domains: ReadonlySet<string>
  /** CRAWL_HOST_DELAY, in ms. During this pause a host counts for its site. */
  delay: number
  /**
   * Visits for looks alone at a time, and the part of an outlet's budget that looks may use. Null:
   * no looks now.
   */
  looks: { most: number; budget: { pages: number; bytes: number } } | null
}

/**
 * Chooses hosts with due work that nobody visits, outlet by outlet in turn, and marks them as
 * called. Every crawler does this every second; the marks ensure that each host is called once.
 */
export async function callDueHosts(pool: Pool, options: CallOptions): Promise<CalledHost[]> {
  return transaction(pool, async client => {
    const { rows: locks } = await client.query<{ ours: boolean }>('select pg_try_advisory_xact_lock($1) as ours', [
      CALLING,
    ])
    if (!locks[0]?.ours) return []
    const candidates = await readCandidates(client, options)
    const looks = await readLooks(client, options)
    if (candidates.length + looks.candidates.length === 0) return []
    const underWay = await readUnderWay(client, options.delay)
    const news = chooseHosts(candidates, underWay, options.domains, MOST_AT_ONCE)
    const called = news.map(candidate => ({ ...candidate, pausing: false }))
    const chosen = [...news, ...chooseHosts(looks.candidates, [...underWay, ...called], options.domains, looks.most)]
    const { rows } = await client.query<CalledHost>(
      `update hosts h set called_until = now() + $3 * interval '1 ms', called_for = c.outlet_no, looking = c.looking
         from unnest($1::text[], $2::int[], $4::bool[]) as c (host, outlet_no, looking)
        where h.host = c.host and leased_until <= now() and called_until <= now()
       returning h.host, h.visits`,
      [
        ...[chosen.map(({ host }) => host), chosen.map(({ outletNo }) => outletNo), CALL],
        chosen.map((_, place) => place >= news.length),
      ],
    )
    const places = new Map(chosen.map(({ host }, place) => [host, place]))
    return rows.sort((a, b) => (places.get(a.host) ?? 0) - (places.get(b.host) ?? 0))
  })
}

/** The hosts at which nothing but looks is due, and how many of them may be called. */
async function readLooks(client: Client, { pages, held, looks }: CallOptions): Promise<LooksDue> {
  const most = pages && looks !== null ? looks.most - (await countLooking(client)) : 0
  if (most <= 0 || looks === null) return { candidates: [], most: 0 }
  const options = { held: [...held.pages], budget: looks.budget, ahead: AHEAD }
  return { candidates: await readLookCandidates(client, options), most }
}

interface LooksDue {
  candidates: Candidate[]
  most: number
}

/**
 * Reads the hosts that could be visited, each with an outlet that needs it. Of each outlet, hosts
 * with a due feed come first, then hosts that answer, then hosts whose page has waited longest.
 */
async function readCandidates(client: Client, { pages, held }: CallOptions): Promise<Candidate[]> {
  // Indexes: pages_waiting_turns, one step for each host and outlet, and feeds_due.
  const { rows } = await client.query<Candidate>(
    `with recursive wanted as (
       (select host, outlet_no from pages
         where $1 and state = 'waiting' and reason is distinct from 'put off' order by host, outlet_no limit 1)
       union all
       select next.host, next.outlet_no
         from wanted w, lateral (
           select host, outlet_no from pages
            where state = 'waiting' and reason is distinct from 'put off' and (host, outlet_no) > (w.host, w.outlet_no)
            order by host, outlet_no limit 1) next
     ), due as (
       select w.host, w.outlet_no, p.next_try_at as since, 1 as rank
         from wanted w, lateral (
           select next_try_at from pages p
            where state = 'waiting' and reason is distinct from 'put off'
              and p.host = w.host and p.outlet_no = w.outlet_no and next_try_at <= now()
            order by next_try_at limit 1) p
        where w.outlet_no <> all($2)
       union all
       select f.host, f.outlet_no, min(f.next_poll_at), 0
         from feeds f join outlets o using (outlet_no)
        where f.active and o.active and f.next_poll_at <= now() and f.outlet_no <> all($3)
        group by f.host, f.outlet_no
     ), placed as (
       select host, outlet_no, since, failures,
              row_number() over (partition by outlet_no order by rank, failures > 0, since, host) as place
         from (select distinct on (host, outlet_no) * from due order by host, outlet_no, rank) d join hosts h using (host)
        where leased_until <= now() and called_until <= now() and free_at <= now() + $4 * interval '1 ms'
          and not (robots_blocked and robots_until > now())
     )
     select host, outlet_no as "outletNo", coalesce(l.failures, 0) > 0 as slowed,
            exists (select from feeds f join outlets o using (outlet_no)
                     where f.host = placed.host and f.active and o.active) as catalogued
       from placed left join outlet_loads l using (outlet_no)
      where place <= $5 order by place, since`,
    [pages, [...held.pages], [...held.feeds], AHEAD, OF_AN_OUTLET],
  )
  return rows
}

async function readUnderWay(client: Client, delay: number): Promise<UnderWay[]> {
  const { rows } = await client.query<UnderWay>(
    `select host, called_for as "outletNo",
            exists (select from feeds f join outlets o using (outlet_no)
                     where f.host = hosts.host and f.active and o.active) as catalogued,
            leased_until <= now() and called_until <= now() as pausing
       from hosts
      where leased_until > now() or called_until > now()
         or free_at > now() and free_at <= now() + greatest(coalesce(crawl_delay, 0), $1) * interval '1 ms'`,
    [delay],
  )
  return rows
}

/** Removes the marks of hosts whose message could not be sent. They are called again soon. */
export async function takeBackCalls(pool: Pool, hosts: CalledHost[]): Promise<void> {
  await pool.query("update hosts set called_until = 'epoch' where host = any($1)", [hosts.map(({ host }) => host)])
}

/** Whether more than `limit` stored pages wait for the normaliser. Index: pages_stored. */
export async function isBacklogged(pool: Pool, limit: number): Promise<boolean> {
  const { rows } = await pool.query<{ backlogged: boolean }>(
    "select exists (select from pages where state = 'stored' offset $1 limit 1) as backlogged",
    [limit],
  )
  return rows[0]?.backlogged ?? false
}
