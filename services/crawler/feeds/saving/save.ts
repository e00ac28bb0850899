import type { Budget } from '../../../../shared/outlets/budget.ts'
import type { Client, Pool } from '../../../../shared/postgres/pool.ts'
import { transaction } from '../../../../shared/postgres/transaction.ts'
import { spend, TOMORROW } from '../../budgets/budget.ts'
import { admitHosts } from '../../budgets/new-hosts.ts'
import type { DueFeed } from '../due-feed.ts'
import { type Named, richness } from '../parsing/addresses.ts'
import { nextArticleInterval, nextPoll } from '../scheduling/poll-interval.ts'
import { intervalRangeOf, type PollIntervalSettings } from '../scheduling/schedule.ts'

/**
 * What to send back next time, so that an unchanged document is not sent again (RFC 9110 §13.1).
 */
export interface Validators {
  etag: string | null
  lastModified: string | null
}

/**
 * Ends a successful poll: new addresses, the validators of the answer that named them, and the time
 * of the next poll, in one transaction. Were the validators saved first, a crash would make the
 * server say "unchanged" for ever about addresses that nobody wrote down.
 *
 * @param validators null: the server said "unchanged", so that the old ones hold
 * @param before addresses that earlier parts of the same poll have brought
 * @returns how many addresses were new; null when the feed has left the catalogue meanwhile
 */
export async function savePoll(
  pool: Pool,
  feed: DueFeed,
  named: Named[],
  validators: Validators | null,
  config: PollIntervalSettings & Budget,
  before = 0,
): Promise<number | null> {
  return transaction(pool, async client => {
    const habits = await lockFeed(client, feed)
    if (habits === null) return null
    const fresh = before + (await saveNamed(client, feed, named, config))
    const articleInterval = nextArticleInterval(habits, fresh, habits.first)
    const wait = nextPoll({ articleInterval, silence: fresh > 0 ? 0 : habits.silence }, intervalRangeOf(config))
    await client.query(
      `update feeds
          set etag = case when $2 then $3 else etag end, last_modified = case when $2 then $4 else last_modified end,
              next_poll_at = clock_timestamp() + $5::int * interval '1 ms', poll_interval = $5::int, rhythm = $6,
              last_polled_at = clock_timestamp(), last_success_at = clock_timestamp(),
              last_new_at = case when $7 then clock_timestamp() else last_new_at end,
              failures = 0, last_error = null, parsing = false
        where feed_no = $1`,
      [
        feed.feedNo,
        validators !== null,
        validators?.etag ?? null,
        validators?.lastModified ?? null,
        wait,
        articleInterval,
        fresh > 0,
      ],
    )
    return fresh
  })
}

/** Saves what one part of a sitemap index named, with the part's own validators. */
export async function savePart(
  pool: Pool,
  feed: DueFeed,
  part: { url: string; modified: string | null },
  named: Named[],
  validators: Validators,
  budget: Budget,
): Promise<number | null> {
  return transaction(pool, async client => {
    if ((await lockFeed(client, feed)) === null) return null
    const fresh = await saveNamed(client, feed, named, budget)
    await client.query(
      `insert into sitemap_parts (feed_no, url, modified, etag, last_modified, read_at)
       values ($1, $2, $3, $4, $5, clock_timestamp())
       on conflict (feed_no, url) do update
          set modified = excluded.modified, etag = excluded.etag, last_modified = excluded.last_modified, read_at = excluded.read_at`,
      [feed.feedNo, part.url, part.modified, validators.etag, validators.lastModified],
    )
    return fresh
  })
}

interface LockedFeed {
  articleInterval: number | null
  silence: number
  first: boolean
}

/**
 * Against a `sync` that removes the feed at this moment: it waits, and then removes what was added
 * too.
 */
async function lockFeed(client: Client, feed: DueFeed): Promise<LockedFeed | null> {
  const { rows } = await client.query<LockedFeed>(
    `select f.rhythm as "articleInterval", f.last_success_at is null as first,
            coalesce(extract(epoch from clock_timestamp() - coalesce(f.last_new_at, f.last_success_at)) * 1000, 0)::float8 as silence
       from feeds f join outlets o using (outlet_no)
      where f.feed_no = $1 and f.active and o.active
        for share of o for no key update of f`,
    [feed.feedNo],
  )
  return rows[0] ?? null
}

/**
 * New addresses into crawl memory; a known one that still waits takes over an entry that says more.
 */
async function saveNamed(client: Client, feed: DueFeed, named: Named[], budget: Budget): Promise<number> {
  if (named.length === 0) return 0
  const known = await client.query<{ crawl_key: string; state: string; richness: number }>(
    `select crawl_key, state,
            case when entry->>'content' is not null then 2 when entry->>'summary' is not null then 1 else 0 end as richness
       from pages where outlet_no = $1 and crawl_key = any($2)`,
    [feed.outletNo, named.map(({ key }) => key)],
  )
  const memory = new Map(known.rows.map(row => [row.crawl_key, row]))
  // Written in the order of keys, so that two polls never wait crosswise; fetched in the order of
  // the feed, newest first.
  const unseen = named
    .filter(({ key }) => !memory.has(key))
    .map((address, place) => ({ ...address, place }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
  let grown = 0
  for (const { key, entry } of named) {
    const page = memory.get(key)
    if (page === undefined || page.state !== 'waiting' || richness(entry) <= page.richness) continue
    const json = JSON.stringify(entry)
    await client.query("update pages set entry = $3 where outlet_no = $1 and crawl_key = $2 and state = 'waiting'", [
      feed.outletNo,
      key,
      json,
    ])
    grown += json.length
  }
  if (grown > 0) await spend(client, feed.outletNo, { hosts: 0, bytes: grown })
  if (unseen.length === 0) return 0
  const pages = unseen.map(page => ({ ...page, json: JSON.stringify(page.entry) }))
  const bytes = pages.reduce((sum, { json }) => sum + json.length, 0)
  await spend(client, feed.outletNo, { hosts: 0, bytes })
  // In the feed's order, because the budget may not have room for all.
  const inOrder = unseen.toSorted((a, b) => a.place - b.place).map(({ host }) => host)
  const putOff = [...(await admitHosts(client, feed.outletNo, inOrder, budget))]
  let fresh = 0
  for (const slice of slices(pages)) fresh += await insertPages(client, feed, slice, { total: unseen.length, putOff })
  return fresh
}

interface Placed extends Named {
  /** In the feed. */
  place: number
  /** The entry as it is stored. */
  json: string
}

/**
 * Characters of entries in one statement: to write them out for Postgres holds the event loop, some
 * 100 ms a megabyte.
 */
const SLICE = 200_000

function slices(pages: Placed[]): Placed[][] {
  const all: Placed[][] = []
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

/** @param of.putOff hosts that today's budget has no room for */
async function insertPages(
  client: Client,
  feed: DueFeed,
  pages: Placed[],
  { total, putOff }: { total: number; putOff: string[] },
): Promise<number> {
  const { rowCount } = await client.query(
    `insert into pages (outlet_no, feed_no, url, crawl_key, host, entry, next_try_at, reason, detail)
     select $1, $2, url, crawl_key, host, entry,
            case when host = any($9) then ${TOMORROW} else now() - ($8::int - place) * interval '1 ms' end,
            case when host = any($9) then 'put off' end, case when host = any($9) then 'new host' end
       from unnest($3::text[], $4::text[], $5::text[], $6::jsonb[], $7::int[]) as named (url, crawl_key, host, entry, place)
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
    ],
  )
  return rowCount ?? 0
}
