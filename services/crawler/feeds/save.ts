import {
  AMONG_WRITERS,
  addressesOn,
  findBarred,
  type OutletDomains,
  readDomains,
} from '#search/removals'
import { NO_VALIDATORS, type Validators } from '#services/crawler/fetch/request'
import { admitHosts, spend, TOMORROW } from '#services/crawler/hosts/budgets'
import {
  type Client,
  columnsOf,
  countOf,
  type Pool,
  type Queryable,
  readRow,
  readValue,
  transaction,
} from '#shared/postgres/pool'
import { type Budget, GAPS_SHOWN } from '#status/health'
import { type Named, richness } from './parsing/parse.ts'
import { articleInterval, datedRate, type Habits, learn, nextPoll } from './rhythm.ts'
import { type DueFeed, intervalRangeOf, type PollIntervalSettings } from './schedule.ts'

/*
 * One transaction saves the result of a poll and the time of the next one, so that a crash loses
 * neither. If a feed shows no known entry, articles may have passed unseen. That is a gap, which
 * older pages may close.
 */

/** The settings that saving a poll needs. */
export type SavingSettings = PollIntervalSettings & Budget

/** The result of a successful poll. */
export interface GoodPoll {
  named: Named[]
  /** The next page of the feed, if it has pages. */
  next: string | null
  /** Whether older entries leave the feed when new ones come (`showsLatestAlone`). */
  rolls: boolean
  /** Null: the server answered "unchanged", so the stored validators stay. */
  validators: Validators | null
  /** ms for which the server promises that the answer does not change. */
  fresh: number
  /** The number of new addresses from the parts that the same poll has read. */
  before: number
  /** The address to which the feed has moved for good; null: it has not. */
  moved: string | null
}

/** A time between two polls in which a feed may have named articles that we never saw. */
export interface Gap {
  /** The time of the last successful poll before `to`. */
  from: Date
  /** The time of the poll that found no known entry. */
  to: Date
}

/** What a saved poll has found. */
export interface SavedPoll {
  /** The number of new addresses, without those of its parts. */
  added: number
  /** A gap that nothing can close. */
  gap: Gap | null
  /** The older page to read, because a gap is open. */
  older: string | null
}

/**
 * Ends a successful poll. One transaction saves the new addresses, the validators of the answer
 * that named them, and the time of the next poll. If the validators were saved first, a crash could
 * lose addresses, because the server would then answer "unchanged".
 *
 * @returns null: the feed has left the catalogue meanwhile
 */
export async function savePoll(
  pool: Pool,
  feed: DueFeed,
  poll: GoodPoll,
  config: SavingSettings,
): Promise<SavedPoll | null> {
  const { named, next, rolls, validators, fresh, before, moved } = poll
  return transaction(pool, async client => {
    const locked = await lockFeed(client, feed)
    if (locked === null) return null
    const saved = await saveNamed(client, feed, named, config)
    const isGap =
      locked.named && rolls && isAllNew(saved, named.length) && !areOld(named, locked.between)
    const { gap, open, older } = await judgeGap(
      client,
      feed,
      isGap ? locked.between : null,
      locked.open,
      next,
    )
    const discovered = before + saved.added
    const habits = habitsAfter(locked, discovered, poll)
    // While a gap is open, the feed is polled soon, and without validators, because an "unchanged"
    // answer names no next page.
    const wait =
      older === null ? nextPoll(habits, fresh, intervalRangeOf(config)) : config.POLL_INTERVAL_MIN
    const kept = older === null ? validators : NO_VALIDATORS
    // The first poll finds the whole feed, so it says nothing about how often articles come.
    const rhythm = discovered > 0 && locked.between !== null ? articleInterval(habits) : null
    await client.query(
      `update feeds
          set etag = case when $2 then $3 else etag end, last_modified = case when $2 then $4 else last_modified end,
              next_poll_at = clock_timestamp() + $5::int * interval '1 ms', poll_interval = $5::int,
              habits = $6, rhythm = coalesce($7, rhythm),
              last_polled_at = clock_timestamp(), last_success_at = clock_timestamp(),
              last_new_at = case when $8 then clock_timestamp() else last_new_at end,
              failures = 0, ends = 0, last_error = null, parsing = false, named = named or $9,
              open_gap_from = $10, open_gap_to = $11, moved_to = $12
        where feed_no = $1`,
      [
        feed.feedNo,
        kept !== null,
        kept?.etag ?? null,
        kept?.lastModified ?? null,
        wait,
        habits,
        rhythm,
        discovered > 0,
        named.length > 0,
        open?.from ?? null,
        open?.to ?? null,
        moved,
      ],
    )
    return { added: saved.added, gap, older }
  })
}

function habitsAfter(
  { habits, now }: LockedFeed,
  found: number,
  { named, rolls, validators }: GoodPoll,
): Habits {
  const dates = named.map(({ entry }) => entry.published)
  return learn(habits, {
    now: now.getTime(),
    found,
    dated: datedRate(dates, now.getTime()),
    ...(validators === null ? {} : { room: rolls && named.length >= FEWEST ? named.length : null }),
  })
}

/** Saves the addresses that one part of a sitemap index named, with the part's own validators. */
export const savePart = async (
  pool: Pool,
  feed: DueFeed,
  part: { url: string; modified: string | null },
  named: Named[],
  validators: Validators,
  settings: SavingSettings,
): Promise<number | null> =>
  transaction(pool, async client => {
    if ((await lockFeed(client, feed)) === null) return null
    const { added } = await saveNamed(client, feed, named, settings)
    await client.query(
      `insert into sitemap_parts (feed_no, url, modified, etag, last_modified, read_at)
       values ($1, $2, $3, $4, $5, clock_timestamp())
       on conflict (feed_no, url) do update
          set modified = excluded.modified, etag = excluded.etag, last_modified = excluded.last_modified, read_at = excluded.read_at`,
      [feed.feedNo, part.url, part.modified, validators.etag, validators.lastModified],
    )
    return added
  })

/** The polls in a row after which an older page that fails is given up. */
const MOST_TRIES = 5

/** What a saved older page has found. */
export interface SavedOlderPage {
  /** The number of new addresses. */
  discovered: number
  /** Whether the page closes the gap. */
  closed: boolean
}

/**
 * Saves the addresses that an older page of a feed named. Such a page says nothing about the feed's
 * rhythm.
 *
 * @returns null when the feed has left the catalogue meanwhile, or has no open gap
 */
export const saveOlderPage = async (
  pool: Pool,
  feed: DueFeed,
  named: Named[],
  budget: Budget,
): Promise<SavedOlderPage | null> =>
  transaction(pool, async client => {
    const open = (await lockFeed(client, feed))?.open
    if (!open) return null
    const saved = await saveNamed(client, feed, named, budget)
    const closed = closes(saved, open)
    if (closed) await client.query(CLOSE_GAP, [feed.feedNo])
    return { discovered: saved.added, closed }
  })

const CLOSE_GAP =
  'update feeds set open_gap_from = null, open_gap_to = null, older_tries = 0 where feed_no = $1'

/**
 * Records that no older page closes the gap, or that a page could not be read. The next polls try
 * an unreadable page again, and give it up after `MOST_TRIES`.
 *
 * @returns the gap that nothing can close
 */
export const saveUnclosedGap = async (
  pool: Pool,
  feed: DueFeed,
  isUnreadable: boolean,
): Promise<Gap | null> =>
  transaction(pool, async client => {
    const open = (await lockFeed(client, feed))?.open
    if (!open) return null
    if (!isUnreadable) return noteGap(client, feed, open)
    const tried =
      'update feeds set older_tries = older_tries + 1 where feed_no = $1 returning older_tries'
    return (await countOf(client, tried, [feed.feedNo])) < MOST_TRIES
      ? null
      : noteGap(client, feed, open)
  })

/**
 * Fewest entries that can prove a gap. A feed with one entry always shows a new one, and proves
 * nothing.
 */
const FEWEST = 2

/** Whether a document is long enough and names no known address. */
const isAllNew = ({ added }: SavedAddresses, named: number) => added === named && named >= FEWEST

/**
 * Whether all entries were published at least a day before the last poll. Then no entry is new: a
 * rebuilt site shows known articles at new addresses.
 */
const areOld = (named: Named[], between: Gap | null) =>
  between !== null &&
  named.every(({ entry }) => Date.parse(entry.published ?? '') < between.from.getTime() - DAY)
const DAY = 86_400_000

/**
 * Whether an older page reaches back before the gap. An entry that was found after the gap proves
 * nothing, because the feed may have pushed it to its next page meanwhile.
 */
const closes = ({ knownSince }: SavedAddresses, gap: Gap) =>
  knownSince !== null && knownSince < gap.to

/**
 * Decides about the feed's gaps after a poll. Without a next page, nothing can close a gap. A gap
 * that was already open keeps its times.
 *
 * @returns `gap`: a gap that nothing can close; `open`: a gap that `older` and the pages after it
 * may close
 */
async function judgeGap(
  client: Client,
  feed: DueFeed,
  found: Gap | null,
  before: Gap | null,
  next: string | null,
) {
  const open = before ?? found
  const older = open !== null && next !== feed.url ? next : null
  if (open === null || older !== null) return { gap: null, open, older }
  return { gap: await noteGap(client, feed, open), open: null, older }
}

/** Records a gap that nothing can close. */
async function noteGap(client: Client, feed: DueFeed, gap: Gap): Promise<Gap> {
  await client.query(
    `update feeds
        set gaps = case when gap_to > now() - ${GAPS_SHOWN} then gaps + 1 else 1 end, gap_from = $2, gap_to = $3,
            open_gap_from = null, open_gap_to = null, older_tries = 0
      where feed_no = $1`,
    [feed.feedNo, gap.from, gap.to],
  )
  await client.query(
    `insert into outlet_days as d (outlet_no, day, rolled) values ($1, ($2::timestamptz at time zone 'UTC')::date, 1)
     on conflict (outlet_no, day) do update set rolled = d.rolled + 1`,
    [feed.outletNo, gap.to],
  )
  return gap
}

interface LockedFeed {
  now: Date
  /** Null: the feed was never polled. */
  habits: Habits | null
  /** Whether the feed has named an address since it came into the catalogue. */
  named: boolean
  /** The time since the last successful poll; null: this is the first poll. */
  between: Gap | null
  /** A gap that an older page may still close. */
  open: Gap | null
}

/**
 * Locks the feed against a `sync` that removes it at this moment. That `sync` waits, and then also
 * removes the pages that we added. A removal or a move of the outlet waits, too: it locks the
 * writers before any row, and so do we.
 */
async function lockFeed(client: Client, feed: DueFeed): Promise<LockedFeed | null> {
  await client.query(`select ${AMONG_WRITERS}`)
  const row = await readRow<
    Omit<LockedFeed, 'between' | 'open'> & {
      from: Date | null
      openFrom: Date | null
      openTo: Date | null
    }
  >(
    client,
    `select now() as now, f.habits, f.named, f.last_success_at as from, f.open_gap_from as "openFrom", f.open_gap_to as "openTo"
       from feeds f join outlets o using (outlet_no)
      where f.feed_no = $1 and f.active and o.active
        for share of o for no key update of f`,
    [feed.feedNo],
  )
  if (row === undefined) return null
  const { from, openFrom, openTo, ...locked } = row
  return { ...locked, between: gapOf(from, row.now), open: gapOf(openFrom, openTo) }
}

const gapOf = (from: Date | null, to: Date | null): Gap | null =>
  from === null || to === null ? null : { from, to }

/**
 * The number of addresses that crawl memory added, and how long it has known the other addresses.
 */
interface SavedAddresses {
  /** The number of new addresses. */
  added: number
  /** The time when the first of the other addresses was found; null: there are no others. */
  knownSince: Date | null
}

/**
 * Adds new addresses to crawl memory. A page that was fetched is known by its address on each
 * domain of the outlet. A known page that still waits gets the new entry if it holds more of the
 * article.
 */
async function saveNamed(
  client: Client,
  feed: DueFeed,
  written: Named[],
  budget: Budget,
): Promise<SavedAddresses> {
  if (written.length === 0) return { added: 0, knownSince: null }
  const domains = await domainsOf(client, feed)
  const keysOf = ({ key }: Named) => addressesOn(domains, key)
  const known = await readKnown(client, feed, written.flatMap(keysOf))
  // A page that could not be fetched yet may only be there at its other address.
  const isSettled = (key: string) =>
    !['waiting', 'failed'].includes(known.get(key)?.state ?? 'waiting')
  const named = written.map(one => ({
    ...one,
    key: known.has(one.key) ? one.key : (keysOf(one).find(isSettled) ?? one.key),
  }))
  const fresh = named.filter(({ key }) => !known.has(key))
  const barred = await readBarred(client, domains, fresh)
  const unseen = toStore(fresh.filter(one => !barred.has(one)))
  const richer = toStore(named.filter(one => isRicher(one, known.get(one.key))))
  // Whoever writes pages locks the outlet's budget before them, so that no two deadlock.
  const bytes = [...richer, ...unseen].reduce((sum, { json }) => sum + json.length, 0)
  if (bytes > 0) await spend(client, feed.outletNo, { hosts: 0, bytes })
  await changeKnown(client, feed, known, richer)
  const added = unseen.length === 0 ? 0 : await addPages(client, feed, unseen, budget)
  return { added, knownSince: earliest([...known.values()].map(page => page.discovered)) }
}

/** The domains that the outlet of a feed has had. */
export async function domainsOf(
  client: Queryable,
  { outletNo }: Pick<DueFeed, 'outletNo'>,
): Promise<OutletDomains> {
  const outlet =
    (await readValue<string>(client, 'select lower(domain) from outlets where outlet_no = $1', [
      outletNo,
    ])) ?? ''
  return (await readDomains(client, [outlet]))(outlet)
}

/**
 * Which of the addresses are those of articles that an operator took out. Whoever then stores the
 * others is among the writers, so that none of them is taken out in between.
 */
export async function readBarred<One extends { key: string }>(
  client: Client,
  domains: OutletDomains,
  named: One[],
): Promise<Set<One>> {
  const rows = named.flatMap(one =>
    addressesOn(domains, one.key).map(address => ({ one, outlet: domains.first, address })),
  )
  const seqs = await findBarred(client, rows)
  return new Set(rows.filter((_, at) => seqs[at] !== null).map(({ one }) => one))
}

const earliest = (times: Date[]) =>
  times.reduce<Date | null>((a, b) => (a === null || b < a ? b : a), null)

interface KnownPage {
  state: string
  /** The kinds of documents that have named the page; see `namedBy`. */
  namedBy: number
  /** The richness of the stored entry. */
  richness: number
  /** The normaliser refused the page, because neither it nor the entry has a title. */
  untitled: boolean | null
  discovered: Date
}

/** `richness` of a stored entry, as SQL. */
const RICHNESS = `
  (entry->>'content' is not null)::int * 4 + (entry->>'summary' is not null)::int * 2 + (entry->>'title' is not null)::int`

/** `KnownPage.untitled`, as SQL. On foreign hosts the words of an entry do not count. */
const UNTITLED =
  "state = 'refused' and reason = 'no-title' and entry->>'title' is null and not entry ? 'foreign'"

/** The known pages of the outlet, by key. */
async function readKnown(
  client: Client,
  feed: DueFeed,
  keys: string[],
): Promise<Map<string, KnownPage>> {
  const { rows } = await client.query<KnownPage & { crawl_key: string }>(
    `select crawl_key, state, named_by as "namedBy", discovered_at as discovered,
            ${RICHNESS} as richness, ${UNTITLED} as untitled
       from pages where outlet_no = $1 and crawl_key = any($2)`,
    [feed.outletNo, keys],
  )
  return new Map(rows.map(row => [row.crawl_key, row]))
}

/** The bit in `pages.named_by` that stands for feeds, or for sitemaps. */
const namedBy = ({ kind }: DueFeed) => (kind === 'feed' ? 1 : 2)

/**
 * Whether an entry holds more of the article than the one of its page, which still waits, or brings
 * the title that its page lacks.
 */
const isRicher = ({ entry }: Named, page: KnownPage | undefined) =>
  page?.state === 'waiting'
    ? richness(entry) > page.richness
    : entry.title !== null && page?.untitled === true

// $1 outlet, $2 key, $3 entry, $4 its richness. Another poll may have stored a richer one.
const ENRICH = `
  update pages set entry = $3
   where outlet_no = $1 and crawl_key = $2 and state = 'waiting' and ${RICHNESS} < $4`

// $1 outlet, $2 key, $3 entry. The normaliser takes the stored page again.
const NAME = `
  update pages set entry = $3, state = 'stored', attempts = 0, reason = null, detail = null,
                   finished_at = null, next_try_at = clock_timestamp()
   where outlet_no = $1 and crawl_key = $2 and ${UNTITLED}`

/**
 * Records which pages the feeds, or the sitemaps, of an outlet have named, and replaces entries by
 * richer ones.
 */
async function changeKnown(
  client: Client,
  feed: DueFeed,
  known: Map<string, KnownPage>,
  richer: NewPage[],
): Promise<void> {
  const unmarked = [...known]
    .filter(([, page]) => (page.namedBy & namedBy(feed)) === 0)
    .map(([key]) => key)
  const changed = [...unmarked, ...richer.map(({ key }) => key)]
  if (changed.length === 0) return
  // Locks the pages in the order of their keys, as `addPages` does, so that two polls cannot
  // deadlock.
  await client.query(
    `update pages p set named_by = p.named_by | $3
       from (select page_no from pages where outlet_no = $1 and crawl_key = any($2)
              order by crawl_key for no key update) k
      where p.page_no = k.page_no`,
    [feed.outletNo, changed, namedBy(feed)],
  )
  for (const { key, json, entry } of richer) {
    const values = [feed.outletNo, key, json]
    if (known.get(key)?.untitled) await client.query(NAME, values)
    else await client.query(ENRICH, [...values, richness(entry)])
  }
}

/** An address whose entry is stored. */
interface NewPage extends Named {
  /** The place of the address among those of the feed that are stored, from 0. */
  place: number
  /** The entry as stored JSON. */
  json: string
}

const toStore = (named: Named[]): NewPage[] =>
  named.map((one, place) => ({ ...one, place, json: JSON.stringify(one.entry) }))

/** @param unseen in the order of the feed */
async function addPages(
  client: Client,
  feed: DueFeed,
  unseen: NewPage[],
  budget: Budget,
): Promise<number> {
  // The hosts are in the feed's order, because the budget may only have room for the first ones.
  const hosts = unseen.map(({ host }) => host)
  const putOff = [...(await admitHosts(client, feed.outletNo, hosts, budget))]
  // Pages are inserted in the order of their keys, so that two polls cannot deadlock. `place` makes
  // the crawler fetch them in the order of the feed, newest first.
  const byKey = unseen.toSorted((a, b) => (a.key < b.key ? -1 : 1))
  let discovered = 0
  for (const slice of slices(byKey))
    discovered += await insertPages(client, feed, slice, { total: unseen.length, putOff })
  return discovered
}

/**
 * The most characters of entries in one statement. Serialising them for Postgres blocks the event
 * loop.
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
    `insert into pages (outlet_no, feed_no, url, crawl_key, host, entry, next_try_at, reason, detail, named_by)
     select $1, $2, url, crawl_key, host, entry,
            case when host = any($9) then ${TOMORROW} else now() - ($8::int - place) * interval '1 ms' end,
            case when host = any($9) then 'put off' end, case when host = any($9) then 'new host' end,
            $10 | case when exists (select from unfetched_addresses u
                                     where u.outlet_no = $1 and u.crawl_key = named.crawl_key) then 2 else 0 end
       from unnest($3::text[], $4::text[], $5::text[], $6::jsonb[], $7::int[]) as named (url, crawl_key, host, entry, place)
     on conflict (outlet_no, crawl_key) do nothing`,
    [
      feed.outletNo,
      feed.feedNo,
      pages.map(({ entry }) => entry.url),
      ...columnsOf(pages, 'key', 'host', 'json', 'place'),
      total,
      putOff,
      namedBy(feed),
    ],
  )
  return rowCount ?? 0
}
