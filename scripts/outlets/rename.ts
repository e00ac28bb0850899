import { addDomains, firstDomain, readDomains, withoutWriters } from '#search/removals'
import { readOwnership } from '#services/crawler/page'
import { counted } from '#shared/log/printable'
import { domainOf, type Outlet } from '#shared/outlets/catalogue'
import { type Client, type Pool, readColumn, readRow, transaction } from '#shared/postgres/pool'
import { type CommandContext, UsageError } from '#shared/process/command'
import { dropPrivileges } from '#shared/process/privileges'
import { refuseOlderWriters, repeatLocked } from '#shared/removals/locks'
import { parseFeed } from './find.ts'
import { DryRun } from './sync.ts'
import { openTrial, type Trial } from './trial.ts'

/*
 * An outlet moves to another domain. Its articles keep what they bear. The crawl goes on with the
 * same memory, and knows an address of the former domain again at the same path of the new one.
 *
 * Crawlers, normalisers, imports, merges and removals may run beside it: writers wait for it, and
 * read the domains afterwards. Locks: writers first, then the catalogue.
 */

/** Moves an outlet to another domain. */
export async function rename(
  { options, print, say }: CommandContext,
  pool: Pool,
  [from, to, ...rest]: string[],
): Promise<void> {
  if (from === undefined || to === undefined || rest.length > 0)
    throw new UsageError('Name the present domain and the new one: rename OLD NEW.')
  const dryRun = options['dry-run'] === true
  const names = { from: domainOf(from), to: domainOf(to) }
  if (!/^[^\s/@?#]{1,253}$/.test(names.to) || !URL.canParse(`https://${names.to}`))
    throw new UsageError(`"${to}" is no domain; write one as new.example.`)
  if (!dryRun) await refuseOlderWriters(pool, 69)
  let done: { moved: boolean; feeds: string[] } | undefined
  const move = () =>
    transaction(pool, async client => {
      done = await moveOutlet(client, names)
      if (dryRun) throw new DryRun()
    })
  await repeatLocked(move).catch((error: unknown) => {
    if (!(error instanceof DryRun)) throw error
  })
  const { moved, feeds } = done!
  if (options.json) print(JSON.stringify({ ...names, moved, dryRun, feeds }))
  if (!moved) return say(`${names.from} is ${names.to} already; nothing was changed.`)
  say(
    `${dryRun ? 'Would be: ' : ''}${names.from} is ${names.to} from now on. Its articles stay as they are, and outlets= of either domain finds all.`,
  )
  if (feeds.length > 0)
    say(
      `${counted(feeds.length, 'feed is', 'feeds are')} still asked for at ${feeds.join(', ')}; write ${names.to} and its feeds in your catalogue.`,
    )
}

/** @throws UsageError when the outlet cannot have the domain */
async function moveOutlet(client: Client, { from, to }: { from: string; to: string }) {
  await withoutWriters(client)
  await client.query('lock table outlets in share row exclusive mode')
  const domains = (await readDomains(client, [from]))(from)
  const outlet = await readRow<{ no: number; domain: string }>(
    client,
    'select outlet_no as no, domain from outlets where domain = any ($1)',
    [domains.all],
  )
  if (outlet === undefined)
    throw new UsageError(`No outlet has the domain ${from}; list shows those that are known.`)
  if (outlet.domain === to) return { moved: false, feeds: [] }
  if (outlet.domain !== from)
    throw new UsageError(`${from} has moved to ${outlet.domain}; write that domain instead.`)
  if (!domains.all.includes(to)) await refuseTaken(client, outlet, to)
  await client.query(MOVE, [outlet.no, to, domains.all])
  await addDomains(client, [domains.first, from, to])
  const feeds = await readColumn<string>(
    client,
    'select url from feeds where outlet_no = $1 and active order by url',
    [outlet.no],
  )
  return { moved: true, feeds }
}

// $1 outlet, $2 domain, $3 all its domains, which stay its hosts.
const MOVE = `
  update outlets set domain = $2, hosts = array(
    select distinct host from unnest(hosts || $3::text[]) as host where host <> $2 order by host)
   where outlet_no = $1`

/** @throws UsageError when the domain is that of another outlet, or one that has articles */
async function refuseTaken(
  client: Client,
  { no, domain: from }: { no: number; domain: string },
  to: string,
): Promise<void> {
  const [taken] = await readColumn<string>(client, TAKEN, [to])
  if (taken !== undefined)
    throw new UsageError(
      `${to} is ${taken} already, and two outlets do not become one. Leave both: npm run outlets -- remove ${from} ends the crawl of the former, its articles stay, and outlets=${from},${to} finds all.`,
    )
  const owner = await readOwnership(client, no, new URL(`https://${to}`))
  if (owner.of === 'another outlet')
    throw new UsageError(`${to} is a host of ${owner.domain}; take it from that outlet first.`)
}

// $1 domain
const TAKEN = `
  select 'an outlet' from outlets where domain = $1
  union all select 'a domain of ' || first from outlet_domains where domain = $1
  union all select 'what articles bear' from publishers where outlet = $1`

/** The most new outlets whose feeds are read before they are added. */
const READ = 20
/** The most addresses of a feed that are looked up, and the fewest that say something. */
const ADDRESSES = { most: 30, fewest: 3 }

/**
 * Reads the first feed of each new outlet.
 *
 * @throws UsageError when most of its addresses are those of articles of another outlet
 */
export async function refuseMoved(
  { config, options, say, signal }: CommandContext,
  pool: Pool,
  added: Outlet[],
): Promise<void> {
  if (added.length === 0 || options.yes === true) return
  const problem = dropPrivileges()
  if (problem !== null) say(problem)
  const trial = openTrial(config, signal)
  const found = await Promise.all(
    added.slice(0, READ).map(outlet => formerOf(pool, trial, outlet)),
  ).finally(() => trial.close())
  const sentences = found.filter(sentence => sentence !== null)
  if (sentences.length > 0)
    throw new UsageError(`${sentences.join(' ')} With --yes, add adds it beside the other.`)
}

async function formerOf(
  pool: Pool,
  trial: Trial,
  { domain, feeds, sitemaps }: Outlet,
): Promise<string | null> {
  const [feed] = [...feeds, ...sitemaps]
  const named = feed === undefined ? [] : await addressesIn(trial, feed)
  if (named.length < ADDRESSES.fewest) return null
  const paths = named.map(key => key.replace(/^[^/?#]*/, ''))
  const known = await readRow<{ domain: string; articles: number }>(pool, KNOWN, [named, paths])
  if (known === undefined || known.articles * 2 < named.length) return null
  return `${known.articles} of ${counted(named.length, 'address', 'addresses')} that ${domain} names are those of articles of ${known.domain}: if it has moved, npm run outlets -- rename ${known.domain} ${domain} keeps them from standing twice.`
}

// $1 keys, $2 what follows their host. Index: the primary key of article_addresses.
const KNOWN = `
  select o.domain, count(*)::int as articles
    from (select domain, ${firstDomain('domain')} as first from outlets) o
   cross join unnest($1::text[], $2::text[]) as n (key, path)
   cross join lateral (select from article_addresses a where a.outlet = o.first
      and a.address = any (array[n.key, o.first || n.path] collate "C") limit 1) known
   where length(n.path) > 1 group by 1 order by 2 desc, 1 limit 1`

/** The keys of the articles that a feed names; none when it cannot be read now. */
async function addressesIn(trial: Trial, feed: string): Promise<string[]> {
  try {
    const parsed = await parseFeed(await trial.get(new URL(feed)), trial)
    const keys = (parsed?.named ?? []).map(({ key }) => key)
    return [...new Set(keys)].slice(0, ADDRESSES.most)
  } catch {
    return []
  }
}
