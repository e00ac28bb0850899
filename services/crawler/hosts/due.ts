import { getDomain } from 'tldts'
import type { DueFeed } from '#services/crawler/feeds/schedule'
import { outletsOf } from '#shared/outlets/page'
import {
  type Client,
  columnsOf,
  type Pool,
  readRow,
  readValue,
  transaction,
} from '#shared/postgres/pool'
import type { Held } from './budgets.ts'
import { LEASE_DURATION, type Leases, newLeaseId, type Visit } from './leases.ts'

/*
 * A crawler first chooses a host and then its work, because the pauses between requests belong to
 * hosts. Outlets take turns, and the number of visited hosts is limited for each outlet and each
 * site.
 */

/**
 * A host may be visited this many ms before it is free. The visit then waits for the rest of the
 * pause.
 */
const VISIT_AHEAD = 300
/**
 * The most due hosts of one outlet that are read. This is more than the outlet may have visited at
 * a time, because some of the hosts may be on busy sites.
 */
const HOSTS_OF_AN_OUTLET = 32
/**
 * The key of an advisory lock; any number would do. Only one crawler claims hosts at a time,
 * because two could both take the last place of an outlet or site.
 */
const CLAIMING = 6_118_203_774n

interface ClaimOptions {
  /** Whether pages are fetched at all. */
  pages: boolean
  held: Held
  /** Domains of the catalogue's outlets. */
  domains: ReadonlySet<string>
  /** CRAWL_HOST_DELAY, in ms. During this pause a host counts for its site. */
  delay: number
  /** The largest number of hosts. */
  most: number
}

/**
 * Chooses due hosts that nobody visits, outlet by outlet in turn, and takes their leases. Every
 * crawler calls this about every second. It gets no hosts while another crawler is choosing.
 */
export async function claimHosts(
  pool: Pool,
  leases: Leases,
  options: ClaimOptions,
): Promise<Visit[]> {
  const since = performance.now()
  const claimed = await transaction(pool, async client => {
    if (!(await readValue<boolean>(client, 'select pg_try_advisory_xact_lock($1)', [CLAIMING])))
      return []
    const due = await readDueHosts(client, options)
    if (due.length === 0) return []
    const chosen = chooseHosts(
      due,
      await readUnderWay(client, options.delay),
      options.domains,
      options.most,
    )
    const { rows } = await client.query<{ host: string; id: string; number: number }>(
      `update hosts h
          set holder = c.id, leased_until = clock_timestamp() + $4 * interval '1 ms', visits = visits + 1,
              visited_for = c.outlet_no
         from unnest($1::text[], $2::int[], $3::uuid[]) as c (host, outlet_no, id)
        where h.host = c.host and leased_until <= now()
       returning h.host, c.id, h.visits as number`,
      [...columnsOf(chosen, 'host', 'outletNo'), chosen.map(newLeaseId), LEASE_DURATION],
    )
    return rows
  })
  return claimed.map(({ host, id, number }) =>
    Object.assign(leases.keep('visit', host, id, since), { number }),
  )
}

/** SQL: whether the catalogue names a feed on a host. */
const isCatalogued = (host: string) => `exists (
  select from feeds f join outlets o using (outlet_no) where f.host = ${host} and f.active and o.active)`

/**
 * Reads the hosts that could be visited, each with an outlet that needs it. For each outlet, hosts
 * with a due feed come first, then hosts that answer, then hosts whose page has waited longest.
 */
async function readDueHosts(client: Client, { pages, held }: ClaimOptions): Promise<DueHost[]> {
  // Indexes: pages_waiting_turns, one step for each host and outlet, and feeds_due.
  const { rows } = await client.query<DueHost>(
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
        where leased_until <= now() and free_at <= now() + $4 * interval '1 ms'
          and not (robots_blocked and robots_until > now())
     )
     select host, outlet_no as "outletNo", coalesce(l.failures, 0) > 0 as slowed,
            ${isCatalogued('placed.host')} as catalogued
       from placed left join outlet_loads l using (outlet_no)
      where place <= $5 order by place, since`,
    [pages, [...held.pages], [...held.feeds], VISIT_AHEAD, HOSTS_OF_AN_OUTLET],
  )
  return rows
}

async function readUnderWay(client: Client, delay: number): Promise<UnderWay[]> {
  const { rows } = await client.query<UnderWay>(
    `select host, visited_for as "outletNo",
            ${isCatalogued('hosts.host')} as catalogued,
            leased_until <= now() as pausing
       from hosts
      where leased_until > now()
         or free_at > now() and free_at <= now() + greatest(coalesce(crawl_delay, 0), $1) * interval '1 ms'`,
    [delay],
  )
  return rows
}

/** Whether more than `limit` stored pages wait for the normaliser. Index: pages_stored. */
export const isBacklogged = async (pool: Pool, limit: number): Promise<boolean> =>
  (await readRow(pool, "select from pages where state = 'stored' offset $1 limit 1", [limit])) !==
  undefined

/** A host with due work, for one of the outlets that need it. */
export interface DueHost {
  host: string
  outletNo: number
  /** The catalogue names a feed on this host. */
  catalogued: boolean
  /** Whether pages of the outlet have been slow or late. */
  slowed: boolean
}

/** A host that is visited, or that pauses after a request. */
export interface UnderWay {
  host: string
  /** The outlet of the visit; null: no particular outlet. */
  outletNo: number | null
  catalogued: boolean
  /** True: nobody visits the host, and it pauses after a request. It still counts for its site. */
  pausing: boolean
}

/** The most hosts visited at a time for one outlet, and for one with slow or late pages. */
const OF_AN_OUTLET = 4
const OF_A_SLOW_ONE = 1
/**
 * The most hosts of one site that are visited or pause at a time. So even a site with a thousand
 * subdomains gets at most four requests in each CRAWL_HOST_DELAY.
 */
const OF_A_SITE = 4

/**
 * Chooses the hosts to visit. Outlets take turns: the first host of each outlet comes before the
 * second host of any. Hosts of the catalogue's feeds do not count towards the limits, because only
 * the operator can name them.
 *
 * @param due the hosts of each outlet in the order of their turns
 * @param domains the domains of the catalogue's outlets
 * @param limit the largest number of hosts
 */
export function chooseHosts(
  due: DueHost[],
  underWay: UnderWay[],
  domains: ReadonlySet<string>,
  limit: number,
): DueHost[] {
  const visits = new Map<number | null, number>()
  const sites = new Map<string, number>()
  const busy = new Set<string>()
  const pausing = new Set<string>()
  for (const { host, outletNo, catalogued, pausing: isPausing } of underWay) {
    ;(isPausing ? pausing : busy).add(host)
    if (catalogued) continue
    if (!isPausing) add(visits, outletNo)
    add(sites, siteOf(host, domains))
  }
  const chosen: DueHost[] = []
  const isFree = ({ host, outletNo, catalogued, slowed }: DueHost) => {
    if (busy.has(host)) return false
    if (catalogued) return true
    // A host that pauses is already counted for its site.
    const others = (sites.get(siteOf(host, domains)) ?? 0) - (pausing.has(host) ? 1 : 0)
    return (
      others < OF_A_SITE && (visits.get(outletNo) ?? 0) < (slowed ? OF_A_SLOW_ONE : OF_AN_OUTLET)
    )
  }
  const choose = (candidate: DueHost) => {
    const { host, outletNo, catalogued } = candidate
    chosen.push(candidate)
    busy.add(host)
    if (catalogued) return
    add(visits, outletNo)
    if (!pausing.has(host)) add(sites, siteOf(host, domains))
  }
  let lists = [...Map.groupBy(due, ({ outletNo }) => outletNo).values()]
  while (lists.length > 0 && chosen.length < limit) {
    lists = lists.flatMap(list => {
      const at = list.findIndex(isFree)
      const candidate = list[at]
      if (candidate === undefined || chosen.length >= limit) return []
      choose(candidate)
      return [list.slice(at + 1)]
    })
  }
  return chosen
}

const add = <K>(counts: Map<K, number>, key: K) => counts.set(key, (counts.get(key) ?? 0) + 1)

/**
 * The site that a host belongs to. It is the registrable domain by the public suffix list, with the
 * list's private part: two blogs at one provider are two sites. A domain of the catalogue below the
 * registrable domain is a site of its own. A host without a registrable domain, such as an IP
 * address, is a site by itself, port included.
 *
 * @param domains the domains of the catalogue's outlets
 */
export function siteOf(host: string, domains: ReadonlySet<string>): string {
  const name = URL.parse(`http://${host}`)?.hostname ?? host
  const registrable = getDomain(name, { allowPrivateDomains: true })
  if (registrable === null) return host
  for (let at = name; at.length > registrable.length; at = at.slice(at.indexOf('.') + 1))
    if (domains.has(at)) return at
  return registrable
}

/** A page that waits to be fetched. */
export interface WaitingPage {
  pageNo: bigint
  outletNo: number
  url: string
  attempts: number
  /** ms since the first try of the page. */
  tried: number
}

/** The next feed or page to request from a host. */
export type Work = { kind: 'feed'; feed: DueFeed } | { kind: 'page'; page: WaitingPage }

interface WorkOptions {
  /** Whether pages are fetched now. */
  pages: boolean
  /** Outlets whose pages and feeds have to wait. */
  held: Held
  /** Whether a feed comes before a page when both are due. */
  feedFirst: boolean
  /**
   * The outlet whose page was fetched last: the next outlet has its turn. Null at the beginning of
   * a visit, when the outlet is chosen at random.
   */
  served: number | null
}

/**
 * The next due work at a host. The host's outlets take turns, and each begins with its oldest work.
 * Null: no work is due.
 */
export async function nextWork(
  pool: Pool,
  host: string,
  options: WorkOptions,
): Promise<Work | null> {
  const page = () => (options.pages ? nextPage(pool, host, options) : null)
  const feed = () => nextFeed(pool, host, options)
  return options.feedFirst ? ((await feed()) ?? (await page())) : ((await page()) ?? (await feed()))
}

async function nextFeed(pool: Pool, host: string, { held }: WorkOptions): Promise<Work | null> {
  // Index feeds_due.
  const feed = await readRow<DueFeed>(
    pool,
    `select f.feed_no as "feedNo", f.outlet_no as "outletNo", f.url, f.kind, f.etag, f.last_modified as "lastModified",
            f.failures, f.parsing
       from feeds f join outlets o using (outlet_no)
      where f.host = $1 and f.active and o.active and f.next_poll_at <= clock_timestamp() and f.outlet_no <> all($2)
      order by f.next_poll_at limit 1`,
    [host, [...held.feeds]],
  )
  return feed === undefined ? null : { kind: 'feed', feed }
}

/**
 * The oldest due page of the outlet that has its turn: the one after the last outlet. At the
 * beginning of a visit, the outlet is chosen at random. Where the host wants long pauses, a visit
 * fetches only one page, so a fixed order would give all pages to the first outlet of the
 * catalogue. Index: pages_waiting_turns.
 */
async function nextPage(
  pool: Pool,
  host: string,
  { held, served }: WorkOptions,
): Promise<Work | null> {
  const page = await readRow<WaitingPage>(
    pool,
    `with recursive ${outletsOf("host = $1 and state = 'waiting' and reason is distinct from 'put off'")}
     select page.*
       from outlet o, lateral (
         select page_no as "pageNo", outlet_no as "outletNo", url, attempts,
                coalesce(extract(epoch from clock_timestamp() - first_tried_at) * 1000, 0)::float8 as tried
           from pages
          where host = $1 and state = 'waiting' and reason is distinct from 'put off' and outlet_no = o.outlet_no
            and next_try_at <= clock_timestamp()
          order by next_try_at limit 1) page
      where o.outlet_no <> all($3)
      order by case when $2::int is null then random() end, o.outlet_no <= $2, o.outlet_no limit 1`,
    [host, served, [...held.pages]],
  )
  return page === undefined ? null : { kind: 'page', page }
}
