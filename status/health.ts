import type { Config } from '#shared/config/config'
import type { KeptPages, OutletDay, OutletHealth } from '#shared/figures'
import { readLatestDays } from '#shared/outlets/days'
import { SHOWN_FOR } from '#shared/outlets/rights'
import type { Pool, Queryable } from '#shared/postgres/pool'
import { NO_ORIGINS, readOutletOrigins } from './origin-shares.ts'

/** How many pages of an outlet are in each state, and the hosts where its pages may be. */
export interface OutletPages {
  /** The hosts of its pages in the catalogue, besides its domain. */
  hosts: string[]
  pages: { waiting: number; done: number; refused: number; failed: number }
}

/**
 * An outlet is silent after this many of its usual intervals between articles. But it is never
 * silent before SILENT_MIN (ms), because outlets publish little at night and on Sundays.
 */
const SILENT_INTERVALS = 8
const SILENT_MIN = 86_400_000
/** If the interval of an outlet is not known, the outlet is silent after this many ms. */
const SILENT_UNKNOWN = 7 * 86_400_000

/**
 * An outlet is failing after this many tries in a row at its pages without an answer that could be
 * read.
 */
const UNREAD_IN_A_ROW = 3

/** The health of every active outlet, by domain. */
export async function outletHealth(pool: Pool): Promise<OutletHealth[]> {
  const [rows, origins, latest] = await Promise.all([
    readRows(pool),
    readOutletOrigins(pool),
    readLatestDays(pool),
  ])
  return rows.map(({ outletNo, silence, gaps, gapFrom, gapTo, ...row }) => {
    const days = latest.get(outletNo) ?? []
    const keeps = keptOf(days, row.blocks)
    return {
      ...row,
      kept: keeps,
      origins: origins.get(row.domain) ?? NO_ORIGINS,
      days,
      health: healthOf(row, silence ?? 0, keeps),
      gaps:
        gaps === null || gapFrom === null || gapTo === null
          ? null
          : { count: gaps, from: gapFrom, to: gapTo },
    }
  })
}

/**
 * An outlet keeps pages from us when it keeps more than this share of them, and at least
 * FEWEST_KEPT. Smaller numbers are usual.
 */
const KEPT_SHARE = 0.2
const FEWEST_KEPT = 3

/**
 * The pages that an outlet keeps from us. Pages in a language that we do not index do not count.
 */
function keptOf(days: OutletDay[], blocks: OutletHealth['blocks']): KeptPages | null {
  const reasons = new Map<string, number>()
  for (const [reason, n] of days.flatMap(({ refused }) => Object.entries(refused))) {
    if (reason !== 'language') reasons.set(reason, (reasons.get(reason) ?? 0) + n)
  }
  const sum = (counts: number[]) => counts.reduce((all, n) => all + n, 0)
  const alone = sum(days.map(day => day.alone))
  const refused = sum([...reasons.values()])
  const pages = alone + refused
  const of = sum(days.map(day => day.indexed)) + refused
  if (pages < FEWEST_KEPT || pages <= of * KEPT_SHARE) return null
  const [most] = [...reasons].sort(([, a], [, b]) => b - a)
  return {
    pages,
    of,
    reason: most !== undefined && refused > alone ? most[0] : (blocks[0]?.kind ?? 'feed alone'),
  }
}

async function readRows(pool: Pool): Promise<Row[]> {
  const { rows } = await pool.query<Row>(
    `select o.outlet_no as "outletNo", o.domain, o.name, o.country, o.licence, f.*,
            extract(epoch from clock_timestamp() - coalesce(f."lastNew", f."lastSuccess"))::float8 * 1000 as silence,
            coalesce(b.blocks, '[]') as blocks, coalesce(s.rights, '[]') as rights, coalesce(p.put_off, 0) as "putOff",
            json_build_object('hosts', coalesce(l.hosts, 0), 'pages', coalesce(l.pages, 0), 'bytes', coalesce(l.bytes, 0)) as today,
            case when r.unread >= ${UNREAD_IN_A_ROW} then json_build_object('tries', r.unread, 'reason', r.unread_reason) end as unread,
            coalesce(r.failures, 0) as late, case when r.rest_until > now() then r.rest_until end as "restsUntil"
       from outlets o
       left join outlet_loads r using (outlet_no)
       left join outlet_loads l on l.outlet_no = o.outlet_no and l.day = (now() at time zone 'UTC')::date
       left join (
         select outlet_no, count(*)::int as put_off from pages where state = 'waiting' and reason = 'put off' group by outlet_no
       ) p on p.outlet_no = o.outlet_no
       left join lateral (
         select count(*)::int as feeds, count(*) filter (where failures > 0)::int as "failingFeeds",
                coalesce(max(failures), 0) as failures, max(last_success_at) as "lastSuccess", max(last_new_at) as "lastNew",
                min(rhythm) as rhythm, (array_agg(last_error order by failures desc)
                  filter (where failures > 0 or last_error like 'held:%'))[1] as error,
                sum(gaps) filter (where gap_to > now() - ${GAPS_SHOWN})::int as gaps,
                (array_agg(gap_from order by gap_to desc) filter (where gap_to > now() - ${GAPS_SHOWN}))[1] as "gapFrom",
                max(gap_to) filter (where gap_to > now() - ${GAPS_SHOWN}) as "gapTo"
           from feeds where feeds.outlet_no = o.outlet_no and feeds.active
       ) f on true
       left join lateral (
         select jsonb_agg(jsonb_build_object('kind', kind, 'pages', pages) order by pages desc, kind) as blocks
           from outlet_blocks where outlet_blocks.outlet_no = o.outlet_no and last_at > now() - interval '1 day'
       ) b on true
       left join lateral (
         select jsonb_agg(jsonb_build_object('signal', concat_ws(':', signal, value), 'source', source, 'pages', pages,
                                    'firstAt', first_at, 'lastAt', last_at)
                  order by signal, source) as rights
           from outlet_rights where outlet_rights.outlet_no = o.outlet_no and last_at > now() - interval '${SHOWN_FOR}'
       ) s on true
      where o.active order by o.domain`,
  )
  return rows
}

/** How many outlets have each state of health. */
export function outletCounts(
  outlets: Pick<OutletHealth, 'health'>[],
): Record<OutletHealth['health'], number> {
  const counts = { healthy: 0, silent: 0, blocked: 0, failing: 0 }
  for (const { health } of outlets) counts[health] += 1
  return counts
}

/**
 * The health of every active outlet, with the number of its pages in each state. This reads all of
 * crawl memory, which takes seconds with millions of pages.
 */
export async function outletHealthAndPages(pool: Pool): Promise<(OutletHealth & OutletPages)[]> {
  const [outlets, { rows }] = await Promise.all([
    outletHealth(pool),
    pool.query<OutletPages['pages'] & { domain: string; hosts: string[] }>(
      `select domain, hosts, count(*) filter (where state in ('waiting', 'stored'))::int as waiting,
              count(*) filter (where state = 'done')::int as done,
              count(*) filter (where state = 'refused')::int as refused,
              count(*) filter (where state = 'failed')::int as failed
         from outlets left join pages using (outlet_no) where active group by domain, hosts`,
    ),
  ])
  const listed = new Map(rows.map(({ domain, hosts, ...pages }) => [domain, { hosts, pages }]))
  const none = { hosts: [], pages: { waiting: 0, done: 0, refused: 0, failed: 0 } }
  return outlets.map(outlet => ({ ...outlet, ...(listed.get(outlet.domain) ?? none) }))
}

interface Row extends Omit<OutletHealth, 'health' | 'gaps' | 'kept' | 'origins' | 'days'> {
  outletNo: number
  /**
   * ms since the outlet last named a new page. If it never has: ms since its feeds were last read.
   */
  silence: number | null
  gaps: number | null
  gapFrom: Date | null
  gapTo: Date | null
}

/**
 * The health of an outlet. It is failing if none of its feeds answers, or none of its pages. A feed
 * that was never polled counts as healthy.
 */
function healthOf(
  {
    feeds,
    failingFeeds,
    blocks,
    rhythm,
    unread,
  }: Pick<OutletHealth, 'feeds' | 'failingFeeds' | 'blocks' | 'rhythm' | 'unread'>,
  silence: number,
  kept: KeptPages | null,
): OutletHealth['health'] {
  if ((feeds > 0 && failingFeeds === feeds) || unread !== null) return 'failing'
  // An outlet with a paywall sells its articles. It does not try to block us.
  if (kept !== null && kept.reason !== 'paywall' && blocks.some(({ kind }) => kind === kept.reason))
    return 'blocked'
  const bearable =
    rhythm === null ? SILENT_UNKNOWN : Math.max(rhythm * SILENT_INTERVALS, SILENT_MIN)
  return silence > bearable ? 'silent' : 'healthy'
}

/** How much of the crawl one outlet may use in a day (UTC); see the settings. */
export type Budget = Pick<
  Config,
  'CRAWL_OUTLET_HOSTS' | 'CRAWL_OUTLET_PAGES' | 'CRAWL_OUTLET_BYTES'
>

/** How much of each budget an outlet has used today; 1: all of it. */
export const budgetsUsed = (
  { today }: Pick<OutletHealth, 'today'>,
  budget: Budget,
): Record<keyof OutletHealth['today'], number> => ({
  hosts: today.hosts / budget.CRAWL_OUTLET_HOSTS,
  pages: today.pages / budget.CRAWL_OUTLET_PAGES,
  bytes: today.bytes / budget.CRAWL_OUTLET_BYTES,
})

/** SQL: how long a gap is shown. When a feed had no gap for this long, its count begins again. */
export const GAPS_SHOWN = "interval '7 days'"

/**
 * Feeds of the catalogue that rolled on between two polls in the last seven days: at the second
 * poll, all entries were new. So we may have missed articles.
 */
export interface Gaps {
  feeds: number
  outlets: number
  /** How often this happened, for all feeds together. */
  count: number
  /** When the latest gap was noticed. */
  latest: Date | null
}

export async function readGaps(db: Queryable): Promise<Gaps> {
  const { rows } = await db.query<Gaps>(
    `select count(*)::int as feeds, count(distinct outlet_no)::int as outlets, coalesce(sum(gaps), 0)::int as count,
            max(gap_to) as latest
       from feeds where active and gap_to > now() - ${GAPS_SHOWN}`,
  )
  return rows[0] ?? { feeds: 0, outlets: 0, count: 0, latest: null }
}

/**
 * Notes that an outlet kept a page from us. The outlet's health shows the kind: `forbidden`,
 * `login`, `challenge`, `cookie wall`, `paywall` and so on.
 */
export async function noteBlock(db: Queryable, outletNo: number, kind: string): Promise<void> {
  await db.query(
    `insert into outlet_blocks (outlet_no, kind) values ($1, $2)
     on conflict (outlet_no, kind) do update set pages = outlet_blocks.pages + 1, last_at = now()`,
    [outletNo, kind],
  )
}
