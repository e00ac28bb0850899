import type { Queryable } from '../../../shared/postgres/pool.ts'
import { foldName } from '../../../shared/text/folding.ts'
import type { SemanticQuery } from './query.ts'

/** What an article is ordered by. */
export interface Found {
  seq: bigint
  id: string
  publishedAt: Date | null
  ingestedAt: Date | null
}

/**
 * Those of the candidates that exist, lie within the plan's coverage and match the request's own filters, in no
 * particular order (decisions 13, 14, 26).
 */
export async function filterCandidates(db: Queryable, seqs: bigint[], query: SemanticQuery): Promise<Found[]> {
  const { historyStart, publishedAfter, publishedBefore } = query.coverage
  const { rows } = await db.query<Stored>({
    name: 'semantic-filter',
    text: FILTER,
    values: [
      seqs,
      query.countries,
      query.languages,
      query.hasAuthor,
      containing(query.outlet),
      containing(query.author),
      historyStart.toISOString(),
      (publishedAfter ?? historyStart).toISOString(),
      publishedBefore && new Date(publishedBefore.at.getTime() + (publishedBefore.exclusive ? 0 : 1)).toISOString(),
      publishedAfter === null && publishedBefore === null,
      query.ingestedAfter?.toISOString() ?? null,
      query.sort === 'ingested_at',
    ],
  })
  return rows.map(({ seq, id, published_at, ingested_at }) => ({
    seq,
    id,
    publishedAt: published_at,
    ingestedAt: ingested_at,
  }))
}

interface Stored {
  seq: bigint
  id: string
  published_at: Date | null
  ingested_at: Date | null
}

/** A pattern for LIKE in which `%`, `_` and `\` are ordinary characters (decision 15). */
function containing(part: string | null): string | null {
  return part === null ? null : `%${foldName(part).replace(/[\\%_]/g, '\\$&')}%`
}

// $1 seqs, $2 countries, $3 languages, $4 has author, $5 pattern of outlets, $6 pattern of authors, $7 history start, $8 published from
// (inclusive), $9 published to (exclusive; times have whole milliseconds), $10 whether articles without a date belong,
// $11 ingested from, $12 whether an ingestion time is needed. Indexes: the primary keys.
const FILTER = `
  select a.seq, a.id, a.published_at, a.ingested_at
  from unnest($1::bigint[]) as c (seq)
  join articles a on a.seq = c.seq
  join publishers p on p.publisher_no = a.publisher_no
  where a.country = any ($2::text[])
    and ($3::text[] is null or a.language = any ($3::text[]))
    and ($4::boolean is null or (cardinality(a.author_nos) > 0) = $4::boolean)
    and ($5::text is null or p.folded_name like $5 or p.folded_domain like $5)
    and ($6::text is null or exists (
      select from authors w where w.author_no = any (a.author_nos) and w.folded_name like $6))
    and case
      when a.published_at is not null then
        a.published_at >= greatest($7::timestamptz, $8::timestamptz)
        and ($9::timestamptz is null or a.published_at < $9::timestamptz)
      else $10::boolean and a.ingested_at >= $7::timestamptz
    end
    and ($11::timestamptz is null or a.ingested_at >= $11::timestamptz)
    and (not $12::boolean or a.ingested_at is not null)`
