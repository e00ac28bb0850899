import type { Queryable } from '../../../shared/postgres/pool.ts'
import { foldName } from '../../../shared/text/folding.ts'
import type { SemanticQuery } from './query.ts'

/** What an article is ordered by, beside its relevance. */
export interface Found {
  seq: bigint
  id: string
  /** The time that is sorted by, ms since 1970; null: it has none, or relevance decides. */
  time: number | null
}

/**
 * Those of the candidates that exist, lie within the plan's coverage and match the request's own filters, in no
 * particular order (decisions 13, 14, 26).
 */
export async function filterCandidates(db: Queryable, seqs: bigint[], query: SemanticQuery): Promise<Found[]> {
  const { historyStart, publishedAfter, publishedBefore } = query.coverage
  const outlet = containing(query.outlet)
  const { rows } = await db.query<Found>({
    name: `semantic-filter ${query.sort} ${outlet !== null}`,
    text: statement(query.sort, outlet !== null),
    values: [
      seqs,
      query.countries,
      query.languages,
      query.hasAuthor,
      containing(query.author),
      historyStart.toISOString(),
      (publishedAfter ?? historyStart).toISOString(),
      publishedBefore && new Date(publishedBefore.at.getTime() + (publishedBefore.exclusive ? 0 : 1)).toISOString(),
      publishedAfter === null && publishedBefore === null,
      query.ingestedAfter?.toISOString() ?? null,
      ...(outlet === null ? [] : [outlet]),
    ],
  })
  return rows
}

/** A pattern for LIKE in which `%`, `_` and `\` are ordinary characters (decision 15). */
function containing(part: string | null): string | null {
  return part === null ? null : `%${foldName(part).replace(/[\\%_]/g, '\\$&')}%`
}

// $1 seqs, $2 countries, $3 languages, $4 has author, $5 pattern of authors, $6 history start, $7 published from (inclusive),
// $8 published to (exclusive; times have whole milliseconds), $9 whether articles without a date belong, $10 ingested from,
// $11 pattern of outlets, if one is asked for. Indexes: the primary keys. All five hundred are read for every page: what is
// not asked for is not joined, and no time is parsed that nothing is ordered by.
const statement = (sort: SemanticQuery['sort'], outlet: boolean) => `
  select a.seq, a.id,
    ${sort === 'relevance' ? 'null' : `(extract(epoch from a.${sort}) * 1000)`}::float8 as time
  from unnest($1::bigint[]) as c (seq)
  join articles a on a.seq = c.seq
  ${outlet ? 'join publishers p on p.publisher_no = a.publisher_no and (p.folded_name like $11 or p.folded_domain like $11)' : ''}
  where a.country = any ($2::text[])
    and ($3::text[] is null or a.language = any ($3::text[]))
    and ($4::boolean is null or (cardinality(a.author_nos) > 0) = $4::boolean)
    and ($5::text is null or exists (
      select from authors w where w.author_no = any (a.author_nos) and w.folded_name like $5))
    and case
      when a.published_at is not null then
        a.published_at >= greatest($6::timestamptz, $7::timestamptz)
        and ($8::timestamptz is null or a.published_at < $8::timestamptz)
      else $9::boolean and a.ingested_at >= $6::timestamptz
    end
    and ($10::timestamptz is null or a.ingested_at >= $10::timestamptz)
    ${sort === 'ingested_at' ? 'and a.ingested_at is not null' : ''}`
