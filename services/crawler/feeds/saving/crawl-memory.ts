import type { Config } from '../../../../shared/config/config.ts'
import type { Budget } from '../../../../shared/outlets/budget.ts'
import type { Client } from '../../../../shared/postgres/pool.ts'
import { spend, TOMORROW } from '../../budgets/budget.ts'
import { admitHosts } from '../../budgets/new-hosts.ts'
import type { DueFeed } from '../due-feed.ts'
import { type Named, richness } from '../parsing/addresses.ts'
import { type KnownVersion, saveVersions, versionOf } from './hints.ts'

/** The settings by which addresses are saved. */
export type SavingSettings = Budget & Pick<Config, 'CRAWL_RECHECK'>

/** The addresses of a document that crawl memory added, and since when it knew the others. */
export interface Saved {
  /** The number of new addresses. */
  added: number
  /** When the first of the others was found; null: there are no others. */
  knownSince: Date | null
}

const NOTHING: Saved = { added: 0, knownSince: null }

/**
 * Adds new addresses to crawl memory. A known page that still waits takes over an entry that holds
 * more of the article. Of one whose article is there, a change that the feed names is noted.
 */
export async function saveNamed(
  client: Client,
  feed: DueFeed,
  named: Named[],
  settings: SavingSettings,
): Promise<Saved> {
  if (named.length === 0) return NOTHING
  const known = await readKnown(client, feed, named)
  await enrichKnown(client, feed, named, known)
  if (settings.CRAWL_RECHECK > 0) await noteChanges(client, feed, named, known, settings.CRAWL_RECHECK)
  const unseen = named.filter(({ key }) => !known.has(key)).map(inFeed)
  const added = unseen.length === 0 ? 0 : await addPages(client, feed, unseen, settings)
  return { added, knownSince: earliest([...known.values()].map(page => page.discovered)) }
}

const earliest = (times: Date[]) => times.reduce<Date | null>((a, b) => (a === null || b < a ? b : a), null)

interface KnownPage extends KnownVersion {
  /** As `richness`, of the stored entry. */
  richness: number
  discovered: Date
}

/** The pages of the outlet that are known already, by key. */
async function readKnown(client: Client, feed: DueFeed, named: Named[]): Promise<Map<string, KnownPage>> {
  const { rows } = await client.query<KnownPage & { crawl_key: string }>(
    `select crawl_key, state, modified, retitled, discovered_at as discovered, entry->>'title' as title,
            case when entry->>'content' is not null then 2 when entry->>'summary' is not null then 1 else 0 end as richness
       from pages where outlet_no = $1 and crawl_key = any($2)`,
    [feed.outletNo, named.map(({ key }) => key)],
  )
  return new Map(rows.map(row => [row.crawl_key, row]))
}

/**
 * Notes changes that the feed names. A page that waits takes its entry's title, and is fetched
 * anyway, so its titles say nothing yet.
 */
async function noteChanges(
  client: Client,
  feed: DueFeed,
  named: Named[],
  known: Map<string, KnownPage>,
  recheck: number,
): Promise<void> {
  const now = Date.now()
  const versions = named.flatMap(address => {
    const page = known.get(address.key)
    if (page === undefined || page.state === 'refused' || page.state === 'failed') return []
    return versionOf(address, page.state === 'waiting' ? { ...page, title: null } : page, now) ?? []
  })
  await saveVersions(client, feed.outletNo, versions, recheck)
}

/** Replaces entries of waiting pages by richer ones, and counts their bytes for the outlet. */
async function enrichKnown(
  client: Client,
  feed: DueFeed,
  named: Named[],
  known: Map<string, KnownPage>,
): Promise<void> {
  let bytes = 0
  for (const { key, entry } of named) {
    const page = known.get(key)
    if (page === undefined || page.state !== 'waiting' || richness(entry) <= page.richness) continue
    const json = JSON.stringify(entry)
    await client.query("update pages set entry = $3 where outlet_no = $1 and crawl_key = $2 and state = 'waiting'", [
      feed.outletNo,
      key,
      json,
    ])
    bytes += json.length
  }
  if (bytes > 0) await spend(client, feed.outletNo, { hosts: 0, bytes })
}

interface NewPage extends Named {
  /** Its place among the new addresses of the feed, from 0. */
  place: number
  /** The entry as it is stored. */
  json: string
}

const inFeed = (address: Named, place: number): NewPage => ({
  ...address,
  place,
  json: JSON.stringify(address.entry),
})

/** @param unseen in the order of the feed */
async function addPages(client: Client, feed: DueFeed, unseen: NewPage[], budget: Budget): Promise<number> {
  await spend(client, feed.outletNo, { hosts: 0, bytes: unseen.reduce((sum, { json }) => sum + json.length, 0) })
  // In the feed's order: the budget may not have room for all of the hosts.
  const hosts = unseen.map(({ host }) => host)
  const putOff = [...(await admitHosts(client, feed.outletNo, hosts, budget))]
  // Pages are written in the order of their keys, so that two polls never wait for each other in a
  // circle. `place` has them fetched in the order of the feed, newest first.
  const byKey = unseen.toSorted((a, b) => (a.key < b.key ? -1 : 1))
  let discovered = 0
  for (const slice of slices(byKey))
    discovered += await insertPages(client, feed, slice, { total: unseen.length, putOff })
  return discovered
}

/**
 * Characters of entries in one statement. Serialising them for Postgres blocks the event loop,
 * about 100 ms a megabyte.
 */
const SLICE = 200_000

function slices(pages: NewPage[]): NewPage[][] {
  const all: NewPage[][] = []
  let room = 0
  for (const page of pages) {
    const { length } = page.json
    if (room < length || all.length === 0) {
      all.push([])
      room = SLICE
    }
    room -= length
    all.at(-1)?.push(page)
  }
  return all
}

/**
 * @param of.total new addresses of the whole poll
 * @param of.putOff hosts for which today's budget has no room
 */
async function insertPages(
  client: Client,
  feed: DueFeed,
  pages: NewPage[],
  { total, putOff }: { total: number; putOff: string[] },
): Promise<number> {
  const { rowCount } = await client.query(
    `insert into pages (outlet_no, feed_no, url, crawl_key, host, entry, modified, next_try_at, reason, detail)
     select $1, $2, url, crawl_key, host, entry, modified,
            case when host = any($9) then ${TOMORROW} else now() - ($8::int - place) * interval '1 ms' end,
            case when host = any($9) then 'put off' end, case when host = any($9) then 'new host' end
       from unnest($3::text[], $4::text[], $5::text[], $6::jsonb[], $7::int[], $10::timestamptz[])
              as named (url, crawl_key, host, entry, place, modified)
     on conflict (outlet_no, crawl_key) do nothing`,
    [
      feed.outletNo,
      feed.feedNo,
      pages.map(({ entry }) => entry.url),
      pages.map(({ key }) => key),
      pages.map(({ host }) => host),
      pages.map(({ json }) => json),
      pages.map(({ place }) => place),
      total,
      putOff,
      pages.map(({ modified }) => (modified === null ? null : new Date(modified))),
    ],
  )
  return rowCount ?? 0
}
