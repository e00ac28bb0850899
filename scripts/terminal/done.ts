import { type Queryable, readRow } from '#shared/postgres/pool'

/** The pages and embeddings that a command changed, or would change. */
export interface Done {
  count: number
  /** `page:12`, `embedding:7`; null: the command named none, and may have changed very many. */
  ids: string[] | null
}

/** @param statement has a row with an `id` for each thing; it may write */
export async function readDone(
  db: Queryable,
  statement: string,
  values: unknown[],
  isNamed: boolean,
): Promise<Done> {
  const ids = isNamed ? "coalesce(array_agg(id), '{}')" : 'null::text[]'
  const counted = `with done as (${statement}) select count(*)::int as count, ${ids} as ids from done`
  return (await readRow<Done>(db, counted, values)) ?? { count: 0, ids: null }
}

export const together = (one: Done, other: Done): Done => ({
  count: one.count + other.count,
  ids: one.ids === null || other.ids === null ? null : [...one.ids, ...other.ids],
})

/** An id for which a command did nothing, and the reason, as the end of a sentence. */
export interface Left {
  id: string
  why: string
}

/**
 * Returns what a command left of the ids that it was given.
 *
 * @param isTried whether the command has things tried again; false: it gives them up
 */
export async function readLeft(
  db: Queryable,
  named: string[],
  { ids }: Done,
  isTried = true,
): Promise<Left[]> {
  const changed = new Set(ids)
  const left = named.filter(id => !changed.has(id))
  if (left.length === 0) return []
  return (await db.query<Left>(WHY, [left, isTried])).rows
}

// $1 ids, $2 isTried. Indexes: the primary keys.
const WHY = `
  select id, case when kind = 'embedding' then case
           when e.seq is null then 'is unknown'
           when e.embedded_at is not null then 'has its vector'
           when e.failed_at is null then 'has not failed: it waits for the embedder'
           else 'has failed' end
         else case
           when p.page_no is null then 'is unknown'
           when p.state = 'done' then 'is indexed'
           when p.reason = 'put off' then 'is put off until tomorrow'
           when $2::bool and not o.active and not exists (select from page_sources s where s.page_no = p.page_no)
             then 'is of ' || o.domain || ', which left the catalogue'
           when p.state = 'stored' then 'waits for a normaliser, or is with one'
           when p.state = 'waiting' and p.next_try_at <= now() then 'is due, or being fetched'
           else 'is ' || p.state || ' and of ' || o.domain || ', so it was not chosen' end
         end as why
    from unnest($1::text[]) with ordinality as named (id, place)
   cross join lateral (select split_part(id, ':', 1) as kind, split_part(id, ':', 2)::bigint as number) as parts
    left join pages p on kind = 'page' and p.page_no = number
    left join outlets o using (outlet_no)
    left join embeddings e on kind = 'embedding' and e.seq = number
   order by place`

/** The most ids that a sentence names, and the most lines about ids that were left. */
const NAMED = 10
const LINES = 100

/** The end of a sentence that names what was changed, where that is little. */
export const namedIn = ({ ids }: Done): string =>
  ids === null || ids.length === 0 || ids.length > NAMED ? '' : `: ${ids.join(', ')}`

/** Says of each id why nothing was done for it. */
export function sayLeft(left: Left[], say: (line: string) => void): void {
  for (const { id, why } of left.slice(0, LINES)) say(`${id} ${why}.`)
  if (left.length > LINES) say(`${left.length - LINES} ids more were left.`)
}

/** An id as the lists print it. */
export const plainId = (id: string): string => id.replace(/:0+(?=\d)/, ':')
