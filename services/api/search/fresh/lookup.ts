import type { Queryable } from '../../../../shared/postgres/pool.ts'
import { quote } from '../../../../shared/text/tsvector.ts'
import type { Span } from '../bounds.ts'
import type { Hit } from '../hits.ts'
import type { Probe, Recheck } from '../matching.ts'
import type { Axis } from '../query.ts'
import { expectVersion } from '../segments/catalogue.ts'

/** One look into the index of fresh articles: every condition spelled out, nothing left to the planner. */
export interface Lookup {
  /** Of the catalogue of segments: when another is found, articles may have moved on into a segment. */
  version: bigint
  /** Articles up to here are in segments. */
  covered: bigint
  axis: Axis
  order: 'asc' | 'desc'
  /** `tsquery` over `fresh_articles.terms`; everything that GIN can decide. null: there is nothing to decide. */
  query: string | null
  watermark: bigint
  /** Published in the stretch, or, with `undatedSince`, without a date and ingested since then. */
  published: Span
  undatedSince: number | null
  /** null: whenever, or never known. */
  ingested: Span | null
  publisherNos: number[] | null
  authorNos: number[] | null
  recheck: Recheck | null
  probes: Probe[]
  /** The article after which to go on. Only articles with the same sort value are compared with it. */
  after: { value: number | null; rank: number; id: string } | null
}

/** The first `limit` matches in order and, with `counting`, how many there are in all. */
export async function lookUp(
  db: Queryable,
  lookup: Lookup,
  limit: number,
  counting: boolean,
): Promise<{ hits: Hit[]; count: number }> {
  const everything = lookup.query === null
  const form: Form = { axis: lookup.axis, order: lookup.order, ranked: lookup.probes.length > 0, counting, everything }
  const { rows } = await db.query<PageRow>({
    name: `search-page-${form.axis}-${form.order}-${form.ranked}-${form.counting}-${everything}`,
    text: pageStatement(form),
    values: [
      ...conditionValues(lookup),
      limit,
      lookup.after !== null,
      timestamp(lookup.after?.value ?? null),
      lookup.after?.rank ?? null,
      lookup.after?.id ?? null,
      ...(form.ranked ? [written(lookup.probes)] : []),
    ],
  })
  expectVersion(lookup.version, rows[0]?.version)
  return {
    hits: rows.flatMap(({ seq, id, value, rank }) =>
      seq === null ? [] : [{ seq, id, value: value === null ? null : value.getTime(), rank, at: null }],
    ),
    count: rows[0]?.count ?? 0,
  }
}

interface PageRow {
  seq: bigint | null
  id: string
  value: Date | null
  rank: number | null
  count: number
  version: bigint
}

/** How many matches there are, counted to `limit`. */
export async function countUp(db: Queryable, lookup: Lookup, limit: number): Promise<number> {
  const { rows } = await db.query<{ count: number; version: bigint }>({
    name: `search-count-${lookup.query === null}`,
    text: countStatement(lookup.query === null),
    values: [...conditionValues(lookup), limit],
  })
  expectVersion(lookup.version, rows[0]?.version)
  return rows[0]!.count
}

/** How closely each of some fresh articles matches, in their order. */
export async function rankFresh(db: Queryable, seqs: bigint[], probes: Probe[], version: bigint): Promise<number[]> {
  const { rows } = await db.query<{ rank: number; version: bigint }>({
    name: 'search-rank',
    text: RANKS,
    values: [seqs, written(probes)],
  })
  expectVersion(version, rows[0]?.version)
  return rows.map(row => row.rank)
}

const written = (probes: Probe[]) => JSON.stringify(probes.map(probe => ({ ...probe, query: quote(probe.lexeme) })))

function conditionValues(lookup: Lookup): unknown[] {
  const { published, ingested, recheck } = lookup
  return [
    lookup.query,
    lookup.covered,
    lookup.watermark,
    timestamp(published.from),
    timestamp(published.to),
    timestamp(lookup.undatedSince),
    timestamp(ingested?.from ?? null),
    timestamp(ingested?.to ?? null),
    keysOf(lookup.publisherNos),
    keysOf(lookup.authorNos),
    recheck === null ? null : JSON.stringify(recheck),
  ]
}

/** An object with the numbers as keys: found by bisection, where an array would be gone through for every row. */
function keysOf(numbers: number[] | null): string | null {
  return numbers === null ? null : JSON.stringify(Object.fromEntries(numbers.map(no => [no, 0])))
}

/** As Postgres writes it, so that no time zone of the session or of this process has a say. */
function timestamp(ms: number | null): string | null {
  if (ms === null) return null
  if (ms === Infinity) return 'infinity'
  if (ms === -Infinity) return '-infinity'
  return new Date(ms).toISOString()
}

// $1 tsquery, $2 covered, $3 watermark, $4 $5 published from and to, $6 ingested since, of articles without a date,
// $7 $8 ingested from and to, $9 outlets and $10 authors (JSON of `keysOf`), $11 recheck (JSON of `Recheck`).
// Index: fresh_articles_terms; the primary key when there is no tsquery. There is none on the times, and no other one could
// serve `terms @@`: the planner has no choice.
const conditions = (everything: boolean) => `
    ${everything ? '$1::text is null' : 'a.terms @@ $1::tsquery'}
    and a.seq > $2::bigint and a.seq <= $3::bigint
    and (a.published_at >= $4::timestamptz and a.published_at < $5::timestamptz
         or a.published_at is null and a.ingested_at >= $6::timestamptz)
    and ($7::timestamptz is null or a.ingested_at >= $7::timestamptz and a.ingested_at < $8::timestamptz)
    and ($9::jsonb is null or $9::jsonb ? a.publisher_no::text)
    and ($10::jsonb is null or $10::jsonb ?| a.author_nos::text[])
    and (a.limits = 0 or $11::jsonb is null or exists (
      select from article_words w
      where w.seq = a.seq
        and not exists (select from jsonb_array_elements_text($11::jsonb->'required') as r (list)
                        where not (strpos(w.title, list) > 0 or ($11::jsonb->>'whole')::boolean and strpos(w.body, list) > 0))
        and not exists (select from jsonb_array_elements_text($11::jsonb->'excluded') as e (list)
                        where strpos(w.title, list) > 0 or ($11::jsonb->>'whole')::boolean and strpos(w.body, list) > 0)
        and (jsonb_array_length($11::jsonb->'any') = 0 or exists (
          select from jsonb_to_recordset($11::jsonb->'any') as o (language text, stem boolean, list text)
          where o.language = a.language
            and (strpos(case when o.stem then w.title_stems else w.title end, list) > 0
                 or ($11::jsonb->>'whole')::boolean
                    and strpos(case when o.stem then w.body_stems else w.body end, list) > 0)))))`

interface Form {
  axis: Axis
  order: 'asc' | 'desc'
  ranked: boolean
  counting: boolean
  /** There is no tsquery. */
  everything: boolean
}

// $12 limit, $13 whether to go on after an article, $14 $15 $16 its value, rank and id, $17 probes (JSON of `Probe[]`).
// Ranks cost a reading of `terms`: they are taken only of articles equal in the sort value; others have none (null).
function pageStatement({ axis, order, ranked, counting, everything }: Form): string {
  const beyond = order === 'asc' ? '>' : '<'
  const rank = ranked ? rankOf('$17') : '0'
  return `
  with found as materialized (
    select a.seq, a.id, a.${axis} as value
    from fresh_articles a
    where ${conditions(everything)}
  ), ahead as (
    select * from found f
    where not $13::boolean or f.value is distinct from $14::timestamptz
      or ${rank} < $15::int or ${rank} = $15::int and f.id collate "C" ${beyond} $16::text
  ), first as materialized (
    select * from ahead
    order by value ${order} nulls last${ranked ? '' : `, id collate "C" ${order}`}
    fetch first ($12::int) rows ${ranked ? 'with ties' : 'only'}
  ), ranked as (
    select *, ${ranked ? `case when count(*) over (partition by value) > 1 then ${rank} end` : '0'} as rank
    from first f
  ), page as (
    select seq, id, value, rank from ranked
    order by value ${order} nulls last, rank desc, id collate "C" ${order}
    limit $12::int
  )
  select p.seq, p.id, p.value, p.rank::int, c.count::int, (select version from segments_version) as version
  from (select ${counting ? 'count(*) from found' : '0 as count'}) c left join page p on true
  order by p.value ${order} nulls last, p.rank desc, p.id collate "C" ${order}`
}

// Of the article f.seq; the probes as JSON of `Probe[]`. Stems and words of an article without them are in `article_words`.
const rankOf = (probes: string) => `(
      select coalesce(sum(p.weight), 0)::int
      from fresh_articles a,
        jsonb_to_recordset(${probes}::jsonb) as p (language text, query text, weight int, list text, stem boolean, whole boolean)
      where a.seq = f.seq and p.language = a.language
        and case when a.limits < 2 then a.terms @@ p.query::tsquery else exists (
          select from article_words w
          where w.seq = a.seq
            and (strpos(case when p.stem then w.title_stems else w.title end, p.list) > 0
                 or p.whole and strpos(case when p.stem then w.body_stems else w.body end, p.list) > 0)) end)`

// $1 seqs, $2 probes
const RANKS = `
  select ${rankOf('$2')} as rank, (select version from segments_version) as version
  from unnest($1::bigint[]) with ordinality as f (seq, place)
  order by place`

// $12 limit
const countStatement = (everything: boolean) => `
  select count(*)::int as count, (select version from segments_version) as version
  from (select from fresh_articles a where ${conditions(everything)} limit $12::int) as found`
