import type { Manners, OutletCompleteness, OutletDay } from '#shared/figures'
import type { Queryable } from '#shared/postgres/pool'

/** The columns by which the figures of days are grouped. */
const KEYS = { day: 'day', outlet: 'outlet_no', 'outlet and day': 'outlet_no, day' } as const

/** The columns of `outlet_days` that are summed. */
const FIGURES =
  'polls sitemaps requests errors unchanged bytes rolled feeds second named indexed alone refused lost unfetched waiting'.split(
    ' ',
  )

interface Wanted {
  by: keyof typeof KEYS
  /** Null: all outlets that are crawled. */
  outlets: number[] | null
  /** Days in UTC as `2026-11-25`. Both are included. */
  from: string
  to: string
}

/**
 * The sum of a day, of an outlet, or of a day of an outlet. A sum of an outlet has `day` null, a
 * sum of a day has `outletNo` null.
 */
export type DaySum = { outletNo: number | null; day: string | null } & OutletCompleteness & Manners

/**
 * Sums the days of outlets, the oldest first. Leaves out days without figures. A day on which an
 * outlet answered no poll stays, because it may be a gap.
 */
export async function readDays(
  db: Queryable,
  { by, outlets, from, to }: Wanted,
): Promise<DaySum[]> {
  const { rows } = await db.query<Row>(sumsBy(KEYS[by]), [outlets, from, to])
  return rows.map(({ reasons, seconded, sitemaps, days, ...row }) => {
    const second = seconded === false || (seconded === null && sitemaps === 0) ? null : row.second
    const share =
      second === null || row.named === 0
        ? null
        : Math.floor((1_000 * row.indexed) / row.named) / 1_000
    return { ...row, second, refused: reasons, share, gap: isGap(row, days) }
  })
}

interface Row extends Omit<DaySum, 'second' | 'refused' | 'share' | 'gap'> {
  sitemaps: number
  second: number
  /** How many days of outlets the sum has. */
  days: number
  /** False: some addresses have no second count. Null: there are no addresses. */
  seconded: boolean | null
  /** Refused pages in our languages. */
  refused: number
  reasons: Record<string, number>
}

/**
 * Up to this share of the named addresses may be missing without a gap. A single missing address is
 * never a gap: it may be, for instance, a video.
 */
const USUAL = 0.05

/**
 * Whether more is missing than usual. Addresses that still wait are not missing. Among hundreds of
 * outlets one always fails, and that alone makes no gap in the sum of all outlets.
 */
const isGap = (
  row: Pick<Row, 'named' | 'refused' | 'lost' | 'unfetched' | 'unread' | 'rolled'>,
  days: number,
) =>
  row.unread > days * USUAL ||
  row.rolled > days * USUAL ||
  row.refused + row.lost + row.unfetched > Math.max(1, row.named * USUAL)

// $1 outlets, $2 and $3 days. A day is unread if no poll of an outlet in the catalogue was answered
// on it. Days before the outlet's first answer do not count. Index: the primary key of outlet_days.
const sumsBy = (key: string) => `
  with outlet as materialized (
    select outlet_no, active,
           (select min(day) from outlet_days d where d.outlet_no = o.outlet_no and polls + sitemaps > 0) as first_day
      from outlets o where case when $1::int[] is null then active else outlet_no = any ($1) end
  ), one as materialized (
    select o.outlet_no, g.at::date as day, ${FIGURES.map(name => `f.${name}`).join()}, f.reasons, f.day is not null as known,
           active and g.at > first_day and g.at < (now() at time zone 'UTC')::date
             and coalesce(f.polls + f.sitemaps, 0) = 0 as unread
      from outlet o cross join generate_series($2::date, $3::date, interval '1 day') as g (at)
      left join outlet_days f on f.outlet_no = o.outlet_no and f.day = g.at::date
  ), sums as (
    select ${key}, ${FIGURES.map(name => `coalesce(sum(${name}), 0)::float8 as ${name}`).join()},
           bool_and(polls > 0 and sitemaps > 0) filter (where feeds + second > 0) as seconded,
           (count(*) filter (where unread))::int as unread, (count(*) filter (where known or unread))::int as days
      from one group by ${key} having bool_or(known or unread)
  ), reason as (
    select ${key}, jsonb_object_agg(reason, n) as reasons
      from (select ${key}, reason, sum(n::int) as n from one, jsonb_each_text(reasons) as r (reason, n)
             group by ${key}, reason) r
     group by ${key}
  )
  select ${key === 'day' ? 'null::int' : 'outlet_no'} as "outletNo", ${key === 'outlet_no' ? 'null' : 'day::text'} as day,
         ${FIGURES.join()}, seconded, unread, days, coalesce(reasons, '{}') as reasons
    from sums left join reason using (${key}) order by ${key}`

const DAY = 86_400_000

/** The UTC date of `days` days ago. */
export const dayAgo = (days: number): string =>
  new Date(Date.now() - days * DAY).toISOString().slice(0, 10)

/** Today and yesterday for each outlet, by its number. The latest day comes first. */
export async function readLatestDays(db: Queryable): Promise<Map<number, OutletDay[]>> {
  const byOutlet = new Map<number, OutletDay[]>()
  const days = await readDays(db, {
    by: 'outlet and day',
    outlets: null,
    from: dayAgo(1),
    to: dayAgo(0),
  })
  for (const { outletNo, day, ...sum } of days.reverse()) {
    if (outletNo === null || day === null) continue
    byOutlet.set(outletNo, [...(byOutlet.get(outletNo) ?? []), { day, ...sum }])
  }
  return byOutlet
}
