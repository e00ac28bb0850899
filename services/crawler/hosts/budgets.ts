import type { Config } from '#shared/config/config'
import { outletsOf } from '#shared/outlets/page'
import {
  type Pool,
  type Queryable,
  readColumn,
  readRow,
  readValue,
  transaction,
} from '#shared/postgres/pool'
import type { Budget } from '#status/health'
import { ensureHosts } from './permits.ts'

/*
 * An outlet decides which addresses it names, so each outlet has a daily budget: new hosts, pages,
 * bytes. Work beyond the budget waits for another day. So no outlet can fill the database or delay
 * other outlets.
 */

/** The current day in UTC, by the database's clock, as SQL. */
const TODAY = "(clock_timestamp() at time zone 'UTC')::date"
/** The beginning of the next day, as SQL. */
export const TOMORROW =
  "((clock_timestamp() at time zone 'UTC')::date + 1)::timestamp at time zone 'UTC'"

/** A try at a page, as the outlet's budget counts it. */
export interface Try {
  /** Bytes that are stored, or that a refused answer had. */
  bytes: number
  /**
   * `slow`: the answer took more than half of the time limit. `late`: no answer came in time.
   * `neither`: the try failed at once and delayed nobody.
   */
  answer: 'in time' | 'slow' | 'late' | 'neither'
  /**
   * The reason why nothing could be read. `null`: the outlet answered. `undefined`: the try says
   * neither.
   */
  unread?: string | null | undefined
}

/** The number of late pages after which the outlet rests. An answer in time halves the number. */
const LATE_IN_A_ROW = 3
/** The longest rest of an outlet, as a multiple of CRAWL_RETRY_MIN, which is the first rest. */
const LONGEST_REST = 10

/**
 * Records a try at one of an outlet's pages. An outlet whose pages are late rests, longer after
 * each late page. After each rest one page is tried, and the first answer ends the rests. Of an
 * outlet with slow answers, only one host is visited at a time.
 *
 * @returns whether the outlet's pages must wait for the end of its rest or for the next day
 */
export async function noteTry(
  pool: Pool,
  outletNo: number,
  { bytes, answer, unread }: Try,
  config: Budget & Pick<Config, 'CRAWL_RETRY_MIN'>,
): Promise<boolean> {
  const waits = await readValue<boolean>(
    pool,
    `insert into outlet_loads as l (outlet_no, day, pages, bytes, failures, unread, unread_reason)
     values ($1, ${TODAY}, 1, $2, case when $3 in ('slow', 'late') then 1 else 0 end, case when $9::text is null then 0 else 1 end, $9)
     on conflict (outlet_no) do update
        set day = excluded.day,
            hosts = case when l.day = excluded.day then l.hosts else 0 end,
            pages = case when l.day = excluded.day then l.pages else 0 end + 1,
            bytes = case when l.day = excluded.day then l.bytes else 0 end + excluded.bytes,
            failures = case $3 when 'late' then least(l.failures + 1, 100) when 'slow' then greatest(l.failures / 2, 1)
                               when 'in time' then l.failures / 2 else l.failures end,
            rest_until = case when $3 in ('in time', 'slow') then 'epoch'
                              when $3 = 'late' and l.failures + 1 >= $4
                              then clock_timestamp()
                                   + $5 * least(2 ^ (l.failures + 1 - $4), $6) * interval '1 ms'
                              else l.rest_until end,
            unread = case when $9 is not null then least(l.unread + 1, 1000) when $10 then 0 else l.unread end,
            unread_reason = case when $10 then $9 else coalesce($9, l.unread_reason) end
     returning pages >= $7 or bytes >= $8 or rest_until > clock_timestamp() as waits`,
    [
      outletNo,
      bytes,
      answer,
      LATE_IN_A_ROW,
      config.CRAWL_RETRY_MIN,
      LONGEST_REST,
      config.CRAWL_OUTLET_PAGES,
      config.CRAWL_OUTLET_BYTES,
      unread ?? null,
      unread !== undefined,
    ],
  )
  return waits ?? false
}

/** Counts new hosts and bytes for the outlet's budget of today. */
export async function spend(
  db: Queryable,
  outletNo: number,
  spent: { hosts: number; bytes: number },
): Promise<void> {
  await db.query(
    `insert into outlet_loads as l (outlet_no, day, hosts, bytes) values ($1, ${TODAY}, $2, $3)
     on conflict (outlet_no) do update
        set day = excluded.day,
            hosts = case when l.day = excluded.day then l.hosts else 0 end + excluded.hosts,
            pages = case when l.day = excluded.day then l.pages else 0 end,
            bytes = case when l.day = excluded.day then l.bytes else 0 end + excluded.bytes`,
    [outletNo, spent.hosts, spent.bytes],
  )
}

/** Outlets that have to wait. All other outlets get their share meanwhile. */
export interface Held {
  /**
   * Outlets whose pages are not fetched. Such an outlet has spent its budget of the day, or rests,
   * or too many of its stored pages wait for the normaliser.
   */
  pages: Set<number>
  /** Outlets whose feeds are not polled, because they would name more pages than we can keep. */
  feeds: Set<number>
}

/**
 * The number of stored pages of one outlet, waiting for the normaliser, at which we fetch no more.
 */
export const STORED_SHARE = 500

/** Reads which outlets have to wait. */
export async function readHeld(
  pool: Pool,
  budget: Budget,
  brimming: ReadonlySet<number>,
): Promise<Held> {
  const { rows } = await pool.query<{ outletNo: number; feeds: boolean }>(
    // Index: pages_stored_turns.
    `with recursive ${outletsOf("state = 'stored'")}
     select outlet_no as "outletNo", false as feeds from outlet o
      where exists (select from pages where state = 'stored' and outlet_no = o.outlet_no offset $1 - 1)
     union all
     select outlet_no, day = ${TODAY} and bytes >= $3
       from outlet_loads
      where rest_until > clock_timestamp() or day = ${TODAY} and (pages >= $2 or bytes >= $3)`,
    [STORED_SHARE, budget.CRAWL_OUTLET_PAGES, budget.CRAWL_OUTLET_BYTES],
  )
  return {
    pages: new Set(rows.map(({ outletNo }) => outletNo)),
    feeds: new Set([
      ...brimming,
      ...rows.filter(({ feeds }) => feeds).map(({ outletNo }) => outletNo),
    ]),
  }
}

/** An outlet's feeds are not polled while its waiting pages fill its budget of this many days. */
const DAYS = 5

/**
 * Reads the outlets with so many waiting pages that their feeds are not polled. It reads every
 * waiting page, so the dispatcher calls it rarely.
 */
export async function readBrimming(pool: Pool, budget: Budget): Promise<Set<number>> {
  const sql = `select outlet_no from pages where state = 'waiting' group by outlet_no having count(*) >= $1`
  return new Set(await readColumn<number>(pool, sql, [budget.CRAWL_OUTLET_PAGES * DAYS]))
}

/**
 * Adds the new hosts that an outlet names, in their order, as far as its budget of today allows.
 * @returns the hosts that have to wait for another day
 */
export async function admitHosts(
  db: Queryable,
  outletNo: number,
  named: Iterable<string>,
  budget: Budget,
): Promise<Set<string>> {
  const hosts = [...new Set(named)]
  const known = new Set(
    await readColumn<string>(db, 'select host from hosts where host = any($1)', [hosts]),
  )
  const fresh = hosts.filter(host => !known.has(host))
  if (fresh.length === 0) return new Set()
  const left = await hostsLeft(db, outletNo, budget)
  const admitted = fresh.slice(0, left)
  if (admitted.length > 0) {
    await spend(db, outletNo, { hosts: admitted.length, bytes: 0 })
    await ensureHosts(db, admitted)
  }
  return new Set(fresh.slice(left))
}

/**
 * How many new hosts today's budget still allows. It locks the outlet's row, so that a second
 * transaction waits.
 */
async function hostsLeft(db: Queryable, outletNo: number, budget: Budget): Promise<number> {
  await db.query(
    `insert into outlet_loads (outlet_no, day) values ($1, ${TODAY}) on conflict do nothing`,
    [outletNo],
  )
  const used = await readValue<number>(
    db,
    `select case when day = ${TODAY} then hosts else 0 end as used from outlet_loads where outlet_no = $1 for update`,
    [outletNo],
  )
  return Math.max(0, budget.CRAWL_OUTLET_HOSTS - (used ?? 0))
}

/** ms after which a host that today's budget had no room for is tried again. */
export const OTHER_DAY: number = 6 * 3_600_000

/**
 * Whether we may ask a host that neither the catalogue nor a feed has named. The host must be
 * known, or fit into the outlet's budget.
 */
export async function admitsHost(
  pool: Pool,
  outletNo: number,
  host: string,
  budget: Budget,
): Promise<boolean> {
  if ((await readRow(pool, 'select from hosts where host = $1', [host])) !== undefined) return true
  return transaction(
    pool,
    async client => (await admitHosts(client, outletNo, [host], budget)).size === 0,
  )
}

/** The most pages of one outlet that are examined in one go. */
const BATCH = 10_000

/**
 * Releases pages that were put off because their host was new, the oldest first, as far as the
 * outlets' budgets of today allow. Any crawler may do this; after a crash, the pages are still put
 * off. Index: pages_put_off.
 *
 * @returns the number of released pages
 */
export async function releasePutOff(pool: Pool, budget: Budget): Promise<number> {
  const outlets = await readColumn<number>(
    pool,
    `with recursive ${outletsOf("state = 'waiting' and reason = 'put off'")}
     select outlet_no from outlet o
      where not exists (select from outlet_loads l
                         where l.outlet_no = o.outlet_no and l.day = ${TODAY} and l.hosts >= $1)`,
    [budget.CRAWL_OUTLET_HOSTS],
  )
  let released = 0
  for (const outletNo of outlets) {
    released += await transaction(pool, async client => {
      const hosts = await readColumn<string>(
        client,
        `select host from (select host, page_no from pages
                            where outlet_no = $1 and state = 'waiting' and reason = 'put off' order by page_no limit $2) p
          group by host order by min(page_no)`,
        [outletNo, BATCH],
      )
      const waiting = await admitHosts(client, outletNo, hosts, budget)
      const { rowCount } = await client.query(
        `update pages p set reason = null, detail = null, next_try_at = clock_timestamp()
           from (select page_no from pages
                  where outlet_no = $1 and state = 'waiting' and reason = 'put off' and host = any($2)
                  order by crawl_key for no key update) k
          where p.page_no = k.page_no`,
        [outletNo, hosts.filter(host => !waiting.has(host))],
      )
      return rowCount ?? 0
    })
  }
  return released
}
