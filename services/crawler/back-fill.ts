import { AMONG_WRITERS, addressesOn } from '#search/removals'
import { readTarget } from '#shared/articles/address'
import { createOutageLog } from '#shared/log/outage'
import { describe } from '#shared/log/printable'
import { LEDGER_DAYS } from '#shared/outlets/back-fills'
import {
  type Client,
  isTransient,
  type Pool,
  readColumn,
  readRow,
  readValue,
  transaction,
} from '#shared/postgres/pool'
import { type Repeated, repeatEvery } from '#shared/process/repeat'
import { dayOf, mayBeIn, type Period, periodIn, publishedIn } from './back-days.ts'
import {
  againAfter,
  EVERY,
  endedBy,
  type Listed,
  mayBeTried,
  type Outcome,
  outcomeOfDocument,
  outcomeOfPage,
  type Tries,
} from './back-outcomes.ts'
import type { Crawl } from './crawl.ts'
import { backAddresses } from './crawl-metrics.ts'
import { type Document, notRead, type Reading, readDocument, refused } from './feeds/document.ts'
import type { SitemapPart } from './feeds/parsing/feed.ts'
import type { Named } from './feeds/parsing/parse.ts'
import { domainsOf, readBarred } from './feeds/save.ts'
import { politeGet } from './fetch/polite-get.ts'
import { NO_VALIDATORS } from './fetch/request.ts'
import { ROBOTS_LIMIT, sitemapsOf } from './fetch/robots.ts'
import { beginVisit, endVisit, type Lease } from './hosts/leases.ts'
import { ensureHosts } from './hosts/permits.ts'
import { askPage, notifyNormaliser, ownersOf } from './page.ts'
import { compress, store } from './save-page.ts'

/*
 * A back-fill fetches what an outlet had before an operator added it. It reads the sitemaps that
 * robots.txt and the catalogue name, then the pages that they name, one address at a time. It asks
 * as all crawlers do, with leases, pauses, robots.txt and rights, but at a fifth of the host's
 * pace, and only while nothing new of the host is due. Its pages count neither for the health nor
 * for the budget of the outlet; redirects to new hosts and the bytes of robots.txt do count. A host
 * that is busy, pauses or does not answer keeps no other outlet waiting.
 *
 * `back_addresses` is the ledger: each address is there once, and one statement settles it together
 * with its page. So a kill loses at most a request. A page that was fetched goes the way of all
 * pages, and the bit 4 of `pages.named_by` says that it is of the past.
 */

/** A back-fill takes one of this many turns of a host. */
const SHARE = 5
/** ms after which another crawler takes a back-fill whose crawler has died, or is slow. */
const CLAIM = 15_000
/** While more pages of an outlet wait for the normaliser, none of its past is fetched. */
const MOST_STORED = 50
/** The most addresses and documents of an outlet, and the depth to which indexes are followed. */
const MOST = { addresses: 500_000, documents: 5_000, depth: 3 }
/** An index with more parts numbers them, and 2019 is then no year. */
const MOST_YEARS = 1_000
/** Addresses that are looked up or added at a time, because what is new shares the event loop. */
const SLICE = 1_000

interface BackFill {
  outletNo: number
  from: string
  to: string
}

interface BackAddress {
  key: string
  /** Null: a page. */
  depth: number | null
  url: string
}

/**
 * Takes addresses of all back-fills that are due, until it is closed. Each of several slots has one
 * back-fill at a time, so that a slow one keeps no other waiting. Lists are saved in long
 * transactions, and most connections are for what is new.
 */
export function startBackFill(crawl: Crawl): Repeated {
  const slots = Array.from(
    { length: Math.max(1, Math.floor(crawl.config.DATABASE_POOL / 4)) },
    () => {
      const outage = createOutageLog(
        crawl.log,
        'nothing of the past of outlets is fetched',
        'the past of outlets is fetched again',
      )
      const work = async (closing: AbortSignal) => {
        // Each call takes the back-fill that has been due for the longest time. With many, one is
        // always due.
        while (!closing.aborted && (await goBack(crawl))) outage.over()
      }
      return repeatEvery(restOf(crawl), work, { first: EVERY, outage })
    },
  )
  return {
    async close() {
      await Promise.all(slots.map(slot => slot.close()))
    },
  }
}

/** ms between two tries of an outlet. */
const restOf = ({ config }: Crawl) => Math.min(EVERY, SHARE * config.CRAWL_HOST_DELAY)

// $1 CLAIM, $2 MOST_STORED, $3 outlets that must wait. Indexes: the primary keys,
// pages_stored_turns.
const TAKE = `
  with due as (
    select outlet_no from back_fills b join outlets o using (outlet_no)
     where b.state = 'running' and b.due_at <= now() and o.active and outlet_no <> all ($3)
       and not exists (select from pages p where p.state = 'stored' and p.outlet_no = b.outlet_no offset $2)
     order by b.due_at limit 1 for no key update of b skip locked
  )
  update back_fills b set due_at = clock_timestamp() + $1 * interval '1 ms' from due where b.outlet_no = due.outlet_no
  returning b.outlet_no as "outletNo", from_day::text as from, to_day::text as to`

/**
 * Tries the next address of a back-fill that is due, and counts the days of one.
 *
 * @returns whether one was due
 */
export async function goBack(crawl: Crawl): Promise<boolean> {
  const { pool, held, goingBack } = crawl
  await countBackDays(pool)
  if (crawl.backlogged) return false
  const others = [...held.pages, ...goingBack]
  const backFill = await readRow<BackFill>(pool, TAKE, [CLAIM, MOST_STORED, others])
  if (backFill === undefined) return false
  goingBack.add(backFill.outletNo)
  await goOn(crawl, backFill).finally(() => goingBack.delete(backFill.outletNo))
  return true
}

/**
 * $1 outlet. The first address that is due on a host that is free, of which nothing new is due,
 * and whose pause of back-fills is over. The crawl need not know the host. Indexes:
 * back_addresses_host, feeds_due, pages_waiting.
 */
const NEXT = `
  with recursive named (host) as (
    select min(host) from back_addresses where outlet_no = $1 and state = 'waiting'
    union all
    select (select min(host) from back_addresses where outlet_no = $1 and state = 'waiting' and host > n.host)
      from named n where host is not null
  )
  select key, depth, url from named n left join hosts h using (host) cross join lateral (
    select crawl_key as key, depth, coalesce(entry->>'url', crawl_key) as url, place from back_addresses b
     where outlet_no = $1 and state = 'waiting' and b.host = n.host and due_at <= now() order by place, crawl_key limit 1) a
   where (h.host is null or greatest(free_at, back_at, leased_until, case when robots_blocked then robots_until end) <= now())
     and not exists (select from feeds f where f.host = n.host and f.active and f.next_poll_at <= now())
     and not exists (select from pages p where p.host = n.host and p.state = 'waiting' and p.next_try_at <= now())
   order by place, key limit 1`

/**
 * $1 outlet, $2 first day, $3 last day. Whoever writes the back-fill and its addresses locks the
 * back-fill first. No row: the outlet is no longer crawled, or other days were asked for meanwhile.
 */
const LOCK = `
  select from back_fills b join outlets using (outlet_no)
   where outlet_no = $1 and from_day = $2 and to_day = $3 and active for no key update of b`

// $1 outlet, $2 ms. Index: back_addresses_host.
const END = `
  update back_fills set due_at = clock_timestamp() + $2 * interval '1 ms',
         state = case when exists (select from back_addresses where outlet_no = $1 and state = 'waiting') then state else 'done' end
   where outlet_no = $1 and state = 'running' returning state`

// $1 outlet, $2 ms, $3 why
const REST = `
  update back_fills set due_at = clock_timestamp() + $2 * interval '1 ms', why = $3 where outlet_no = $1`

async function goOn(crawl: Crawl, backFill: BackFill): Promise<void> {
  const { pool, leases } = crawl
  const { outletNo } = backFill
  const rest = restOf(crawl)
  const address = await readRow<BackAddress>(pool, NEXT, [outletNo])
  if (address === undefined) {
    await whileLocked(pool, backFill, async client => {
      const state = await readValue<string>(client, END, [outletNo, rest])
      // Whoever sees that it is done finds what became of each address. Some of its pages may
      // still wait for the normaliser.
      if (state === 'done') await countLedger(client, outletNo)
    })
    return
  }
  const { host } = new URL(address.url)
  await ensureHosts(pool, [host])
  // It counts for no outlet, so that new pages have all visits of theirs.
  const visit = await beginVisit(pool, leases, host, null)
  if (visit === null) return void (await pool.query(REST, [outletNo, rest, null]))
  const tried = await tryAddress(crawl, visit, backFill, address).finally(() =>
    endVisit(pool, leases, visit),
  )
  if (tried === null) return
  const { outcome, attempts } = tried
  await saveOutcome(crawl, backFill, address, outcome, attempts)
  if (outcome !== null) backAddresses.inc({ outcome: outcome.kind })
  const why = outcome !== null && 'reason' in outcome ? `${host}: ${outcome.reason}` : null
  await pool.query(REST, [outletNo, rest, why])
}

/**
 * Undefined: the back-fill has other days, or its outlet is not crawled any more.
 *
 * @param first a statement that comes before the lock
 */
const whileLocked = <T>(
  pool: Pool,
  { outletNo, from, to }: BackFill,
  work: (client: Client) => Promise<T>,
  first = '',
): Promise<T | undefined> =>
  transaction(pool, async client => {
    if (first !== '') await client.query(first)
    const locked = await readRow(client, LOCK, [outletNo, from, to])
    return locked === undefined ? undefined : work(client)
  })

/** Stores addresses. A removal commits before, or waits until it finds them. */
const whileStoring: typeof whileLocked = (pool, backFill, work) =>
  whileLocked(pool, backFill, work, `select ${AMONG_WRITERS}`)

// $1 outlet, $2 key. A process that is killed in the midst of a try has counted it as a failure.
const BEGIN = `
  update back_addresses set attempts = attempts + 1 where outlet_no = $1 and crawl_key = $2 and state = 'waiting'
  returning attempts, waits`

// $1 host
const IS_AWAY = 'select from hosts where host = $1 and robots_blocked'

// $1 host, $2 SHARE, $3 CRAWL_HOST_DELAY, $4 ms that the visit took, for several requests
const PAUSE = `
  update hosts set back_at = clock_timestamp() + greatest($2 * greatest(coalesce(crawl_delay, 0), $3), ($2 - 1) * $4) * interval '1 ms'
   where host = $1`

/** Null: the address waits no more. */
async function tryAddress(
  crawl: Crawl,
  visit: Lease,
  backFill: BackFill,
  address: BackAddress,
): Promise<{ outcome: Outcome; attempts: number } | null> {
  const { pool, config } = crawl
  const { outletNo } = backFill
  const tries = await readRow<Tries>(pool, BEGIN, [outletNo, address.key])
  if (tries === undefined) return null
  const begun = performance.now()
  let outcome: Outcome = { kind: 'lost', reason: 'crawler error' }
  try {
    if (mayBeTried(tries))
      outcome =
        address.depth === null
          ? await fetchOld(crawl, visit, outletNo, address.url)
          : await readListing(crawl, visit, backFill, address)
  } catch (error) {
    if (isTransient(error)) throw error
    crawl.log.error({ url: address.url, err: describe(error) }, 'an address made a back-fill fail')
    outcome = { kind: 'failed', reason: 'crawler error' }
  }
  const took = Math.ceil(performance.now() - begun)
  await pool.query(PAUSE, [visit.host, SHARE, config.CRAWL_HOST_DELAY, took])
  if (outcome?.kind === 'waits' && outcome.reason === 'robots unreachable') {
    const isAway = (await readRow(pool, IS_AWAY, [visit.host])) !== undefined
    outcome = { ...outcome, away: isAway ? visit.host : null }
  }
  return { outcome: endedBy(outcome, tries), attempts: tries.attempts }
}

async function fetchOld(
  crawl: Crawl,
  visit: Lease,
  outletNo: number,
  url: string,
): Promise<Outcome> {
  // A page without an end is read as in a later try.
  const asked = await askPage(crawl, visit, { outletNo, url, attempts: 2 })
  return asked && outcomeOfPage(asked.verdict)
}

async function readListing(
  crawl: Crawl,
  visit: Lease,
  { outletNo }: BackFill,
  { url }: BackAddress,
): Promise<Outcome> {
  const isRobots = new URL(url).pathname === '/robots.txt'
  const reading = { crawl, visit, feed: { outletNo }, async beforeParsing() {} }
  return outcomeOfDocument(
    isRobots
      ? await readRobotsFile(reading, url)
      : await readDocument(reading, url, NO_VALIDATORS, undefined, true),
  )
}

/** The sitemaps of a robots.txt, as the parts of an index. */
async function readRobotsFile(
  { crawl, visit, feed: { outletNo } }: Reading,
  url: string,
): Promise<Exclude<Document, { kind: 'feed' }> | { kind: 'feed'; feed: Listed }> {
  const headers = { accept: 'text/plain,*/*;q=0.5' }
  const fetched = await politeGet(crawl, visit, outletNo, url, headers, { beginning: ROBOTS_LIMIT })
  if (fetched.kind !== 'answer') return notRead(fetched)
  if (fetched.answer.status !== 200) return refused(fetched.answer)
  const sitemaps = sitemapsOf(fetched.answer.body.toString('utf8'), fetched.url.href)
  const parts = sitemaps.map(({ href }) => ({ url: href, modified: null }))
  return { kind: 'feed', feed: { named: [], parts, next: null, whole: true } }
}

// $1 outlet, $2 key, $3 state, $4 reason, $5 a host that is away, with all that waits there. What
// is lost may be tried again on demand, but for what is gone; texts are not kept for that.
const SETTLE = `
  with settled as (
    update back_addresses
       set state = $3, reason = $4, entry = case when $3 = 'lost' and $4 <> 'gone' then entry || '{"content": null, "summary": null}' end
     where outlet_no = $1 and (crawl_key = $2 or host = $5) and state = 'waiting' returning 1
  )
  update back_fills set moved_at = clock_timestamp() where outlet_no = $1 and exists (select from settled)`

// $1 outlet, $2 key, $3 ms, $4 reason, $5 failures, $6 waits
const AGAIN = `
  update back_addresses set due_at = clock_timestamp() + $3 * interval '1 ms', reason = coalesce($4, reason),
         attempts = attempts - 1 + $5, waits = waits + $6
   where outlet_no = $1 and crawl_key = $2 and state = 'waiting'`

// $1 outlet, $2 key. Nothing is added when a feed has named the page meanwhile.
const ADD_PAGE = `
  insert into pages (outlet_no, url, crawl_key, host, entry, named_by)
  select outlet_no, entry->>'url', crawl_key, $3, entry, 4 from back_addresses
   where outlet_no = $1 and crawl_key = $2 and state = 'waiting'
  on conflict (outlet_no, crawl_key) do nothing returning page_no`

async function saveOutcome(
  crawl: Crawl,
  backFill: BackFill,
  { key, url, depth }: BackAddress,
  outcome: Outcome,
  attempts: number,
): Promise<void> {
  const { pool, config } = crawl
  const { outletNo } = backFill
  const again = againAfter(outcome, attempts, config.CRAWL_RETRY_MIN)
  if (again !== null) {
    const { pause, failed, waited } = again
    const reason = outcome !== null && 'reason' in outcome ? outcome.reason : null
    await pool.query(AGAIN, [outletNo, key, pause, reason, failed, waited])
    return
  }
  if (outcome?.kind === 'refused' || outcome?.kind === 'lost') {
    const { kind, reason, away = null } = outcome
    const settled = [outletNo, key, kind, reason, away]
    await whileLocked(pool, backFill, client => client.query(SETTLE, settled))
    return
  }
  if (outcome?.kind !== 'fetched') return
  const { page, document } = outcome
  if (document !== undefined) {
    const listed = await sortListed(pool, backFill, { url, depth: depth ?? 0 }, document)
    await whileStoring(pool, backFill, async client => {
      const isWhole = await addListed(client, outletNo, listed)
      const reason = !isWhole ? 'limit' : document.whole ? null : 'cut'
      const state = reason === null ? 'fetched' : 'lost'
      await client.query(SETTLE, [outletNo, key, state, reason, null])
    })
    return
  }
  if (page === undefined) return
  const body = await compress(page.body)
  const pageNo = await whileStoring(pool, backFill, async client => {
    const added = await readValue<bigint>(client, ADD_PAGE, [outletNo, key, new URL(url).host])
    if (added !== null) await store(client, { pageNo: added, outletNo }, page, body)
    await client.query(SETTLE, [outletNo, key, 'fetched', null, null])
    return added
  })
  if (pageNo != null) await notifyNormaliser(crawl, pageNo)
}

/** An address for the ledger. `reason`: why it is refused at once. */
interface Entry {
  key: string
  depth: number | null
  day: string | null
  entry: Named['entry'] | null
  reason: string | null
}

// $1 outlet, $2 first domain, $3 keys. Indexes: the unique keys of pages and article_addresses.
const KNOWN = `
  select crawl_key from pages where outlet_no = $1 and crawl_key = any ($3)
  union select address from article_addresses where outlet = $2 and address = any ($3)`

/** What a document names in the days of the back-fill and is not known yet. */
async function sortListed(
  pool: Pool,
  { outletNo, ...range }: BackFill,
  { url, depth }: { url: string; depth: number },
  { named, parts, next }: Listed,
): Promise<Entry[]> {
  const whose = ownersOf(pool, outletNo)
  const entries: Entry[] = []
  const below = parts.map(part => ({ ...part, depth: depth + 1 }))
  // Another page of the same feed is no deeper.
  const following = next === null ? [] : [{ url: next, modified: null, depth }]
  for (const part of [...below, ...following]) {
    const to = readTarget(part.url, url)?.href
    if (to === undefined || !isWanted(part, range, parts.length < MOST_YEARS)) continue
    const isDeep = part.depth > MOST.depth ? 'limit' : null
    const reason = (await whose(to)) ?? isDeep
    entries.push({ key: to, depth: part.depth, day: null, entry: null, reason })
  }
  const within = periodIn(url)
  const domains = await domainsOf(pool, { outletNo })
  for (let at = 0; at < named.length; at += SLICE) {
    const dated = named
      .slice(at, at + SLICE)
      .map(one => ({ ...one, published: publishedIn(one, within) }))
      .filter(({ published }) => mayBeIn(published, range))
    const keys = dated.flatMap(({ key }) => addressesOn(domains, key))
    const known = new Set(await readColumn<string>(pool, KNOWN, [outletNo, domains.first, keys]))
    const isKnown = ({ key }: Named) => addressesOn(domains, key).some(one => known.has(one))
    for (const { key, entry, published } of dated.filter(one => !isKnown(one))) {
      const reason = await whose(entry.url)
      entries.push({ key, depth: null, day: published?.day ?? null, entry, reason })
    }
  }
  return entries
}

/** Whether a part may name pages of the range. Nothing in it changed after its `lastmod`. */
function isWanted({ url, modified }: SitemapPart, range: Period, years: boolean): boolean {
  const changed = dayOf(modified)
  return (changed === null || changed >= range.from) && mayBeIn(periodIn(url, years), range)
}

/** SQL: the place of an address in its back-fill `b`. Documents come first, unknown days last. */
export const PLACE = `case when depth is not null then -2147483648 when day is null then 2147483647
  when newest_first then date '2000-01-01' - day else day - date '2000-01-01' end`

// $1 outlet, $2 entries. Their days grow at once, for the limit of what is added next. Reasons wait
// for the next count.
const ADD = `
  with added as (
    insert into back_addresses (outlet_no, crawl_key, depth, day, place, entry, state, reason)
    select $1, key, depth, day, ${PLACE}, case when reason is null then entry end,
           case when reason is null then 'waiting' else 'refused' end, reason
      from jsonb_to_recordset($2) as n (key text, depth smallint, day date, entry jsonb, reason text), back_fills b
     where outlet_no = $1 order by key
    on conflict (outlet_no, crawl_key) do nothing returning depth, coalesce(day, '-infinity') as day, state
  )
  insert into back_days as d (outlet_no, day, named, fetched, refused, lost, reasons)
  select $1, day, count(*), 0, count(*) filter (where state = 'refused'), 0, '{}' from added where depth is null group by day
  on conflict (outlet_no, day) do update set named = d.named + excluded.named, refused = d.refused + excluded.refused`

// $1 outlet. Indexes: the primary key of back_days, back_addresses_documents.
const NAMED = `
  select array[(select coalesce(sum(named), 0) from back_days where outlet_no = $1),
               (select count(*) from back_addresses where outlet_no = $1 and depth is not null)]::int[]`

/**
 * Adds to the ledger what a document names. Articles that were taken out are left out, as if nobody
 * named them.
 *
 * @returns whether all others are in the ledger, within the limits
 */
async function addListed(client: Client, outletNo: number, listed: Entry[]): Promise<boolean> {
  const domains = await domainsOf(client, { outletNo })
  const entries: Entry[] = []
  for (let at = 0; at < listed.length; at += SLICE) {
    const part = listed.slice(at, at + SLICE)
    const barred = await readBarred(client, domains, part)
    entries.push(...part.filter(one => !barred.has(one)))
  }
  const [pages = 0, documents = 0] = (await readValue<number[]>(client, NAMED, [outletNo])) ?? []
  const added = [
    ...entries.filter(({ depth }) => depth === null).slice(0, Math.max(0, MOST.addresses - pages)),
    ...entries
      .filter(({ depth }) => depth !== null)
      .slice(0, Math.max(0, MOST.documents - documents)),
  ]
  for (let at = 0; at < added.length; at += SLICE)
    await client.query(ADD, [outletNo, JSON.stringify(added.slice(at, at + SLICE))])
  return added.length === entries.length
}

/**
 * The back-fill whose days are counted next: each minute until a day after the last address was
 * settled, when pages have become articles; then once a day, because pages still change. Days
 * without reasons are counted at once. Index: back_days_before.
 */
const TO_COUNT = `
  select outlet_no from back_fills
   where counted_at < greatest(least(now() - interval '1 minute', moved_at + interval '1 day'), now() - interval '1 day')
      or outlet_no in (select outlet_no from back_days where reasons is null)
   order by counted_at limit 1 for no key update skip locked`

// $1 outlet
const COUNT_DAYS = `
  insert into back_days (outlet_no, day, named, fetched, refused, lost, reasons)
  select * from (${LEDGER_DAYS}) d where outlet_no = $1`

// $1 outlet, $2 when the count began. Counting takes at most a fiftieth of the time.
const COUNTED = `
  update back_fills set counted_at = clock_timestamp() + 50 * (clock_timestamp() - $2::timestamptz) where outlet_no = $1`

/** Counts the days of the back-fill whose count is the oldest, if one is due. */
export async function countBackDays(pool: Pool): Promise<void> {
  await transaction(pool, async client => {
    const outletNo = await readValue<number>(client, TO_COUNT)
    if (outletNo !== null) await countLedger(client, outletNo)
  })
}

/** Counts the days of a back-fill that the caller has locked. */
export async function countLedger(client: Client, outletNo: number): Promise<void> {
  const begun = await readValue<Date>(client, 'select clock_timestamp()')
  await client.query('delete from back_days where outlet_no = $1', [outletNo])
  await client.query(COUNT_DAYS, [outletNo])
  await client.query(COUNTED, [outletNo, begun])
}
