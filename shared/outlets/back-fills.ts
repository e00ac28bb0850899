import { counted } from '#shared/log/printable'
import type { Queryable } from '#shared/postgres/pool'

/** How far a back-fill is (services/crawler/back-fill.ts). */
export interface BackFillFigures {
  domain: string
  /** Days as `2019-01-01`. */
  from: string
  to: string
  order: 'oldest first' | 'newest first'
  state: 'running' | 'stopped' | 'done'
  /** Why the last try brought nothing; null: it brought something. */
  why: string | null
  /** When an address was last settled. */
  movedAt: Date
  /** Addresses of pages that its sitemaps named, and what became of them. */
  named: number
  fetched: number
  refused: number
  lost: number
  waiting: number
  /** Its robots.txt, sitemaps and indexes. */
  documents: {
    read: number
    waiting: number
    refused: number
    lost: number
    reasons: Record<string, number>
  }
  /** Addresses of pages by the reason why they were refused or lost. */
  reasons: Record<string, number>
}

/** SQL: columns with the sums of addresses by their states. */
const STATES = ['fetched', 'refused', 'lost']
  .map(state => `count(*) filter (where state = '${state}')::int as ${state}`)
  .join()
/** SQL: those that are refused or lost, by reason, of rows that have each reason once. */
const REASONS = `coalesce(jsonb_object_agg(reason, refused + lost) filter (where reason is not null and refused + lost > 0), '{}')`
const SUMS = ['named', 'fetched', 'refused', 'lost']
  .map(column => `coalesce(sum(${column}), 0)::int as ${column}`)
  .join()

/** SQL: the days of ledgers, as `back_days` has them. Pages without a day count on -infinity. */
export const LEDGER_DAYS: string = `
  select outlet_no, day, ${SUMS}, ${REASONS} as reasons
    from (select outlet_no, coalesce(day, '-infinity') as day, reason, count(*) as named, ${STATES}
            from back_addresses where depth is null group by 1, 2, 3) g group by 1, 2`

// Indexes: the primary key of back_days, back_addresses_documents.
const READ = `
  select o.domain, from_day::text as from, to_day::text as to,
         case when newest_first then 'newest first' else 'oldest first' end as order, b.state, why, moved_at as "movedAt",
         s.*, named - fetched - refused - lost as waiting, r.reasons, d.documents
    from back_fills b join outlets o using (outlet_no)
   cross join lateral (
      select ${SUMS} from back_days where outlet_no = b.outlet_no) s
   cross join lateral (
      select coalesce(json_object_agg(key, n), '{}') as reasons
        from (select key, sum(value::int)::int as n from back_days, jsonb_each(reasons) where outlet_no = b.outlet_no group by 1) e) r
   cross join lateral (
      select json_build_object('read', coalesce(sum(fetched), 0), 'waiting', coalesce(sum(named - fetched - refused - lost), 0),
                               'refused', coalesce(sum(refused), 0), 'lost', coalesce(sum(lost), 0), 'reasons', ${REASONS}) as documents
        from (select reason, count(*) as named, ${STATES}
                from back_addresses where outlet_no = b.outlet_no and depth is not null group by 1) g) d
   order by o.domain`

/** All back-fills, by domain. Before one is `done`, its sums of pages may be a minute old. */
export const readBackFills = async (db: Queryable): Promise<BackFillFigures[]> =>
  (await db.query<BackFillFigures>(READ)).rows

export const backFillInWords = ({ state, from, to, why, ...of }: BackFillFigures): string =>
  [
    `${state}, ${from} to ${to}`,
    `${of.fetched} fetched, ${of.refused} refused, ${of.lost} lost of ${of.named}`,
    of.documents.waiting > 0 && `${counted(of.documents.waiting, 'sitemap')} to read`,
    of.documents.refused + of.documents.lost > 0 &&
      `${counted(of.documents.refused, 'sitemap')} refused, ${of.documents.lost} lost (${Object.entries(
        of.documents.reasons,
      )
        .map(([reason, n]) => `${reason} ${n}`)
        .join(', ')})`,
    state === 'running' && why,
  ]
    .filter(Boolean)
    .join('; ')

/** The sums of a day or an outlet; `day` null: of all its days. */
interface BackSum {
  outletNo: number | null
  day: string | null
  named: number
  fetched: number
  refused: number
  lost: number
}

/** What the past of outlets named in some days, by day or outlet. Index: the primary key. */
export async function readBackDays(
  db: Queryable,
  { by, outlets, from, to }: { by: 'day' | 'outlet'; outlets: number[]; from: string; to: string },
): Promise<BackSum[]> {
  const { rows } = await db.query<BackSum>(
    `select ${by === 'day' ? 'null::int' : 'outlet_no'} as "outletNo", ${by === 'day' ? 'day::text' : 'null::text'} as day,
            ${SUMS}
       from back_days where outlet_no = any ($1) and day between $2 and $3
      group by 1, 2 order by 1, 2`,
    [outlets, from, to],
  )
  return rows
}
