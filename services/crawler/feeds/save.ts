import type { Config } from '../../../shared/config/config.ts'
import type { Budget } from '../../../shared/outlets/budget.ts'
import type { Client, Pool } from '../../../shared/postgres/pool.ts'
import { transaction } from '../../../shared/postgres/transaction.ts'
import { spend, TOMORROW } from '../budgets/budget.ts'
import { admitHosts } from '../budgets/new-hosts.ts'
import { type Named, richness } from './addresses.ts'
import { nextPoll, nextPollAfterFailure, nextRhythm } from './rhythm.ts'

/** A feed that is due, as a visit takes it up. */
export interface DueFeed {
  feedNo: number
  outletNo: number
  url: string
  etag: string | null
  lastModified: string | null
}

/** What to send back next time, so that an unchanged document is not sent again (RFC 9110 §13.1). */
export interface Validators {
  etag: string | null
  lastModified: string | null
}

type Bounds = Pick<Config, 'POLL_INTERVAL_MIN' | 'POLL_INTERVAL_MAX'>

/**
 * Ends a successful poll: new addresses, the validators of the answer that named them, and the time of the next poll, in one
 * transaction. Were the validators saved first, a crash would make the server say "unchanged" for ever about addresses
 * that nobody wrote down.
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
  bounds: Bounds & Budget,
  before = 0,
): Promise<number | null> {
  return transaction(pool, async client => {
    const habits = await lockFeed(client, feed)
    if (habits === null) return null
    const fresh = before + (await saveNamed(client, feed, named, bounds))
    const rhythm = nextRhythm(habits, fresh, habits.first)
    const wait = nextPoll({ rhythm, silence: fresh > 0 ? 0 : habits.silence }, boundsOf(bounds))
    await client.query(
      `update feeds
          set etag = case when $2 then $3 else etag end, last_modified = case when $2 then $4 else last_modified end,
              next_poll_at = clock_timestamp() + $5::int * interval '1 ms', poll_interval = $5::int, rhythm = $6,
              last_polled_at = clock_timestamp(), last_success_at = clock_timestamp(),
              last_new_at = case when $7 then clock_timestamp() else last_new_at end,
              failures = 0, last_error = null
        where feed_no = $1`,
      [
        feed.feedNo,
        validators !== null,
        validators?.etag ?? null,
        validators?.lastModified ?? null,
        wait,
        rhythm,
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

/**
 * Notes a poll that failed. The next one comes later and later, within POLL_INTERVAL_MAX.
 *
 * @param wait.atLeast ms that the server asked for
 * @param wait.exactly ms after which it is known to be worth trying
 */
export async function saveFailure(
  pool: Pool,
  feed: DueFeed,
  error: string,
  wait: { atLeast?: number; exactly?: number },
  bounds: Bounds,
): Promise<void> {
  const { rows } = await pool.query<{ failures: number }>(
    `update feeds
        set failures = failures + 1, last_error = $2, last_polled_at = clock_timestamp()
      where feed_no = $1 returning failures`,
    [feed.feedNo, error.slice(0, 500)],
  )
  const backOff = nextPollAfterFailure(rows[0]?.failures ?? 1, boundsOf(bounds))
  await pool.query(
    `update feeds
        set next_poll_at = clock_timestamp() + $2::int * interval '1 ms', poll_interval = $2::int where feed_no = $1`,
    [feed.feedNo, Math.ceil(wait.exactly ?? Math.max(wait.atLeast ?? 0, backOff))],
  )
}

/** Comes back to a feed later, as if it had not been asked. */
export async function postpone(pool: Pool, feed: DueFeed, wait: number): Promise<void> {
  await pool.query("update feeds set next_poll_at = clock_timestamp() + $2 * interval '1 ms' where feed_no = $1", [
    feed.feedNo,
    wait,
  ])
}

const boundsOf = (config: Bounds) => ({ min: config.POLL_INTERVAL_MIN, max: config.POLL_INTERVAL_MAX })

interface LockedFeed {
  rhythm: number | null
  silence: number
  first: boolean
}

/** Against a `sync` that removes the feed at this moment: it waits, and then removes what was added too. */
async function lockFeed(client: Client, feed: DueFeed): Promise<LockedFeed | null> {
  const { rows } = await client.query<LockedFeed>(
    `select f.rhythm, f.last_success_at is null as first,
            coalesce(extract(epoch from clock_timestamp() - coalesce(f.last_new_at, f.last_success_at)) * 1000, 0)::float8 as silence
       from feeds f join outlets o using (outlet_no)
      where f.feed_no = $1 and f.active and o.active
        for share of o for no key update of f`,
    [feed.feedNo],
  )
  return rows[0] ?? null
}

/** New addresses into crawl memory; a known one that still waits takes over an entry that says more. */
async function saveNamed(client: Client, feed: DueFeed, named: Named[], budget: Budget): Promise<number> {
  if (named.length === 0) return 0
  const known = await client.query<{ crawl_key: string; state: string; richness: number }>(
    `select crawl_key, state,
            case when entry->>'content' is not null then 2 when entry->>'summary' is not null then 1 else 0 end as richness
       from pages where outlet_no = $1 and crawl_key = any($2)`,
    [feed.outletNo, named.map(({ key }) => key)],
  )
  const memory = new Map(known.rows.map(row => [row.crawl_key, row]))
  // Written in the order of keys, so that two polls never wait crosswise; fetched in the order of the feed, newest first.
  const unseen = named
    .filter(({ key }) => !memory.has(key))
    .map((address, place) => ({ ...address, place }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
  for (const { key, entry } of named) {
    const page = memory.get(key)
    if (page === undefined || page.state !== 'waiting' || richness(entry) <= page.richness) continue
    await client.query("update pages set entry = $3 where outlet_no = $1 and crawl_key = $2 and state = 'waiting'", [
      feed.outletNo,
      key,
      JSON.stringify(entry),
    ])
  }
  if (unseen.length === 0) return 0
  const entries = unseen.map(({ entry }) => JSON.stringify(entry))
  const bytes = entries.reduce((sum, { length }) => sum + length, 0)
  await spend(client, feed.outletNo, { hosts: 0, bytes })
  // In the feed's order, for the budget may not have room for all.
  const inOrder = unseen.toSorted((a, b) => a.place - b.place).map(({ host }) => host)
  const putOff = await admitHosts(client, feed.outletNo, inOrder, budget)
  const { rowCount } = await client.query(
    `insert into pages (outlet_no, feed_no, url, crawl_key, host, entry, next_try_at, reason, detail)
     select $1, $2, url, crawl_key, host, entry,
            case when host = any($8) then ${TOMORROW} else now() - (cardinality($3) - place) * interval '1 ms' end,
            case when host = any($8) then 'put off' end, case when host = any($8) then 'new host' end
       from unnest($3::text[], $4::text[], $5::text[], $6::jsonb[], $7::int[]) as named (url, crawl_key, host, entry, place)
     on conflict (outlet_no, crawl_key) do nothing`,
    [
      feed.outletNo,
      feed.feedNo,
      unseen.map(({ entry }) => entry.url),
      unseen.map(({ key }) => key),
      unseen.map(({ host }) => host),
      entries,
      unseen.map(({ place }) => place),
      [...putOff],
    ],
  )
  return rowCount ?? 0
}
