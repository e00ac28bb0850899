import { firstDomain } from '#search/removals'
import { type Outlet, type SharedFeed, sharedFeeds } from '#shared/outlets/catalogue'
import {
  type Client,
  type Pool,
  type Queryable,
  readRow,
  readValue,
  transaction,
} from '#shared/postgres/pool'

/** The changes of a sync. */
export interface Synced {
  added: string[]
  changed: string[]
  /** Outlets that left the catalogue. They are not crawled, and their articles stay. */
  removed: string[]
  /** Outlets that were not given and are still crawled. */
  kept: string[]
  unchanged: number
  feeds: { added: number; removed: number }
  /** Addresses that outlets of the catalogue no longer have. */
  dropped: string[]
  /** Feeds of crawled outlets that another crawled outlet also names. */
  shared: SharedFeed[]
  /** Former domains that the catalogue names, each with the present one. */
  moved: [string, string][]
}

export interface SyncOptions {
  /** Rolls everything back, so that the changes are only reported. */
  dryRun?: boolean
  /**
   * Which outlets leave the catalogue. `others` (the default): all outlets that the caller does not
   * give. A list of domains: of the outlets that the caller does not give, only the listed ones.
   */
  remove?: 'others' | readonly string[]
}

/**
 * Writes outlets into the database's catalogue, in one transaction. Running crawlers use the change
 * within seconds. For an outlet that leaves, addresses that were not fetched yet are removed, and
 * so are its feeds' validators. The crawler finds these addresses again if the outlet returns.
 *
 * @param given a function is called when no other change runs beside this one
 */
export async function syncOutlets(
  pool: Pool,
  given: Outlet[] | ((client: Client) => Promise<Outlet[]>),
  options: SyncOptions = {},
): Promise<Synced> {
  const synced: Synced = {
    added: [],
    changed: [],
    removed: [],
    kept: [],
    unchanged: 0,
    feeds: { added: 0, removed: 0 },
    dropped: [],
    shared: [],
    moved: [],
  }
  try {
    await transaction(pool, async client => {
      await client.query('lock table outlets in share row exclusive mode')
      const outlets = typeof given === 'function' ? await given(client) : given
      const present = await withPresentDomains(client, outlets, synced)
      for (const outlet of [...present].sort((a, b) => (a.domain < b.domain ? -1 : 1)))
        await syncOutlet(client, outlet, synced)
      await removeOthers(client, present, options.remove ?? 'others', synced)
      synced.shared = await readSharedFeeds(client)
      if (options.dryRun) throw new DryRun()
    })
  } catch (error) {
    if (!(error instanceof DryRun)) throw error
  }
  return synced
}

/** Feeds that several crawled outlets name. */
export async function readSharedFeeds(db: Queryable): Promise<SharedFeed[]> {
  const { rows } = await db.query<{ domain: string; url: string }>(
    'select domain, url from feeds f join outlets using (outlet_no) where f.active order by domain, url',
  )
  return sharedFeeds(rows)
}

/**
 * Gives outlets that have moved their present domain. The former ones stay hosts, because addresses
 * there lead to it.
 */
async function withPresentDomains(
  client: Client,
  outlets: Outlet[],
  synced: Synced,
): Promise<Outlet[]> {
  const { rows } = await client.query<{ domain: string; present: string; others: string[] }>(
    PRESENT,
    [outlets.map(({ domain }) => domain)],
  )
  const known = new Map(rows.map(row => [row.domain, row]))
  const given = new Set(outlets.map(({ domain }) => domain))
  return outlets.flatMap(outlet => {
    const { present = outlet.domain, others = [] } = known.get(outlet.domain) ?? {}
    const hosts = [...new Set([...(outlet.hosts ?? []), ...others])].filter(
      host => host !== present,
    )
    if (present !== outlet.domain) synced.moved.push([outlet.domain, present])
    if (present !== outlet.domain && given.has(present)) return []
    given.add(present)
    return [{ ...outlet, domain: present, hosts: hosts.sort() }]
  })
}

// $1 domains
const PRESENT = `
  select w.domain, o.domain as present, array(select d.domain from outlet_domains d where d.first = w.first) as others
    from outlet_domains w join outlets o on ${firstDomain('o.domain')} = w.first where w.domain = any ($1)`

/** Rolls a transaction back whose changes were only to be reported. */
export class DryRun extends Error {}

async function syncOutlet(client: Client, outlet: Outlet, synced: Synced): Promise<void> {
  const { domain, name, country, languages, timeZone, hosts = [], licence = null } = outlet
  const fields = [domain, name, country, languages, timeZone, hosts, licence]
  const known = await readRow<{ outlet_no: number; same: boolean }>(
    client,
    `select outlet_no, active and name = $2 and country = $3 and languages = $4 and time_zone = $5
            and hosts = $6 and licence is not distinct from $7 as same
       from outlets where domain = $1`,
    fields,
  )
  let outletNo = known?.outlet_no ?? null
  // An unchanged row is not written, so that the sync need not wait for crawlers.
  if (!known?.same) {
    outletNo = await readValue<number>(
      client,
      `insert into outlets (domain, name, country, languages, time_zone, hosts, licence) values ($1, $2, $3, $4, $5, $6, $7)
       on conflict (domain) do update
          set name = excluded.name, country = excluded.country, languages = excluded.languages,
              time_zone = excluded.time_zone, hosts = excluded.hosts,
              licence = excluded.licence, active = true
       returning outlet_no`,
      fields,
    )
  }
  if (outletNo === null) throw new Error(`The outlet ${outlet.domain} could not be written.`)
  const feeds = await syncFeeds(client, outletNo, outlet)
  synced.feeds.added += feeds.added
  synced.feeds.removed += feeds.dropped.length
  synced.dropped.push(...feeds.dropped)
  if (known === undefined) synced.added.push(outlet.domain)
  else if (!known.same || feeds.added + feeds.moved + feeds.dropped.length > 0)
    synced.changed.push(outlet.domain)
  else synced.unchanged += 1
}

async function syncFeeds(client: Client, outletNo: number, { feeds, sitemaps }: Outlet) {
  const urls = [...feeds, ...sitemaps]
  const kinds = urls.map((_, index) => (index < feeds.length ? 'feed' : 'sitemap'))
  const hosts = urls.map(url => new URL(url).host)
  await client.query(
    `insert into hosts (host) select distinct name from unnest($1::text[]) as name order by name on conflict do nothing`,
    [hosts],
  )
  const added = await client.query(
    `insert into feeds (outlet_no, url, kind, host)
     select $1, url, kind, host from unnest($2::text[], $3::text[], $4::text[]) as named (url, kind, host)
     on conflict (outlet_no, url) do update
        set active = true, next_poll_at = now(), failures = 0, last_error = null
      where not feeds.active`,
    [outletNo, urls, kinds, hosts],
  )
  const moved = await client.query(
    `update feeds f set kind = named.kind from unnest($2::text[], $3::text[]) as named (url, kind)
      where outlet_no = $1 and f.url = named.url and f.kind <> named.kind`,
    [outletNo, urls, kinds],
  )
  const dropped = await client.query<{ url: string }>(
    `${FORGET} where outlet_no = $1 and active and url <> all($2) returning url`,
    [outletNo, urls],
  )
  return {
    added: added.rowCount ?? 0,
    moved: moved.rowCount ?? 0,
    dropped: dropped.rows.map(({ url }) => url),
  }
}

/**
 * A feed that returns is read from the start, because its validators and its open gap are removed.
 */
const FORGET = `update feeds set active = false, named = false, etag = null, last_modified = null, open_gap_from = null`

async function removeOthers(
  client: Client,
  outlets: Outlet[],
  remove: NonNullable<SyncOptions['remove']>,
  synced: Synced,
): Promise<void> {
  const others = await client.query<{ outlet_no: number; domain: string }>(
    'select outlet_no, domain from outlets where active and domain <> all($1) order by domain',
    [outlets.map(({ domain }) => domain)],
  )
  const leaves = (domain: string) => remove === 'others' || remove.includes(domain)
  const leaving = others.rows.filter(({ domain }) => leaves(domain))
  const numbers = leaving.map(({ outlet_no }) => outlet_no)
  await client.query('update outlets set active = false where outlet_no = any($1)', [numbers])
  const feeds = await client.query(`${FORGET} where outlet_no = any($1) and active`, [numbers])
  await client.query(
    'delete from sitemap_parts p using feeds f where f.feed_no = p.feed_no and not f.active',
  )
  await client.query("delete from pages where outlet_no = any($1) and state = 'waiting'", [numbers])
  await client.query(
    "update back_fills set state = 'stopped' where outlet_no = any($1) and state = 'running'",
    [numbers],
  )
  synced.removed.push(...leaving.map(({ domain }) => domain))
  synced.kept.push(...others.rows.flatMap(({ domain }) => (leaves(domain) ? [] : domain)))
  synced.feeds.removed += feeds.rowCount ?? 0
}
