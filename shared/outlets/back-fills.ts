import type { Queryable } from '../postgres/pool.ts'

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

const of = (state: string) => `coalesce(sum(n) filter (where state = '${state}' and page), 0)::int`
const read = (state: string) =>
  `coalesce(sum(n) filter (where state = '${state}' and not page), 0)::int`
const reasons = (which: string) =>
  `coalesce(json_object_agg(reason, n) filter (where ${which} and state in ('refused', 'lost') and reason is not null), '{}')`

const READ = `
  select o.domain, from_day::text as from, to_day::text as to,
         case when newest_first then 'newest first' else 'oldest first' end as order, b.state, why, moved_at as "movedAt", s.*
    from back_fills b join outlets o using (outlet_no) cross join lateral (
      select coalesce(sum(n) filter (where page), 0)::int as named, ${of('fetched')} as fetched, ${of('refused')} as refused,
             ${of('lost')} as lost, ${of('waiting')} as waiting,
             json_build_object('read', ${read('fetched')}, 'waiting', ${read('waiting')},
                               'refused', ${read('refused')}, 'lost', ${read('lost')}, 'reasons', ${reasons('not page')}) as documents,
             ${reasons('page')} as reasons
        from (select depth is null as page, state, reason, count(*) as n from back_addresses a
               where a.outlet_no = b.outlet_no group by 1, 2, 3) g) s
   order by o.domain`

/** All back-fills, by domain. Reads their ledgers, which takes a moment. */
export const readBackFills = async (db: Queryable): Promise<BackFillFigures[]> =>
  (await db.query<BackFillFigures>(READ)).rows

export const backFillInWords = ({ state, from, to, why, ...of }: BackFillFigures): string =>
  [
    `${state}, ${from} to ${to}`,
    `${of.fetched} fetched, ${of.refused} refused, ${of.lost} lost of ${of.named}`,
    ...(of.documents.waiting > 0 ? [`${of.documents.waiting} sitemaps to read`] : []),
    ...(of.documents.refused + of.documents.lost > 0
      ? [
          `${of.documents.refused} sitemaps refused, ${of.documents.lost} lost (${Object.entries(
            of.documents.reasons,
          )
            .map(([reason, n]) => `${reason} ${n}`)
            .join(', ')})`,
        ]
      : []),
    ...(state === 'running' && why !== null ? [why] : []),
  ].join('; ')

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
    `select ${by === 'day' ? 'null::int' : 'outlet_no'} as "outletNo", ${by === 'day' ? 'day::text' : 'null'} as day,
            sum(named)::int as named, sum(fetched)::int as fetched, sum(refused)::int as refused, sum(lost)::int as lost
       from back_days where outlet_no = any ($1) and day between $2 and $3
      group by ${by === 'day' ? 'day' : 'outlet_no'} order by ${by === 'day' ? 'day' : 'outlet_no'}`,
    [outlets, from, to],
  )
  return rows
}
