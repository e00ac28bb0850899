import type { Queryable } from '../../shared/postgres/pool.ts'
import { foldName } from '../analysis/folding.ts'
import type { Axis } from '../query/article-query.ts'
import type { NamedPeople } from '../query/filters.ts'
import type { Span } from '../query/time-bounds.ts'

/** What a search reads before it looks for articles. */
export interface Prelude extends NamedPeople {
  /** The newest article's number: on a first page, the watermark (decision 22). */
  lastSeq: bigint
  /** Of the catalogue of segments (`store/catalogue.ts`). */
  version: bigint
  /** Of the words of fresh articles (`memory/store.ts`). */
  wordsVersion: bigint
  /** From the first day that has articles to the end of the last; null: there are none. */
  days: Record<Axis, Span | null>
}

/**
 * Reads the clock, and the numbers of the outlets and authors whose names hold a part (decision 15). Names are registered
 * before their articles become visible, so none is missing.
 */
export async function readPrelude(db: Queryable, outlet: string | null, author: string | null): Promise<Prelude> {
  const { rows } = await db.query<PreludeRow>({
    ...(outlet === null && author === null
      ? { name: 'search-prelude', text: preludeStatement(false) }
      : {
          name: 'search-prelude-names',
          text: preludeStatement(true),
          values: [containing(outlet), containing(author)],
        }),
  })
  const row = rows[0]!
  return {
    lastSeq: row.last_seq,
    version: row.version,
    wordsVersion: row.words_version,
    days: await daysUpTo(db, row.last_seq),
    publisherNos: row.publisher_nos,
    authorNos: row.author_nos,
  }
}

interface PreludeRow {
  last_seq: bigint
  version: bigint
  words_version: bigint
  publisher_nos: number[] | null
  author_nos: number[] | null
}

/** The days of all articles up to `lastSeq`, and perhaps of later ones. */
interface KnownDays {
  lastSeq: bigint
  days: Prelude['days']
}

const knownDays = new WeakMap<Queryable, KnownDays>()

/** Days only ever come, so those that are known do until there is a newer article: most searches need not ask. */
async function daysUpTo(db: Queryable, lastSeq: bigint): Promise<Prelude['days']> {
  const known = knownDays.get(db)
  if (known !== undefined && known.lastSeq >= lastSeq) return known.days
  const { rows } = await db.query<DaysRow>({ name: 'search-days', text: DAYS })
  const row = rows[0]!
  const days = {
    published_at: spanOfDays(row.first_published, row.last_published),
    ingested_at: spanOfDays(row.first_ingested, row.last_ingested),
  }
  // Another search may have read later ones meanwhile.
  if ((knownDays.get(db)?.lastSeq ?? -1n) < row.last_seq) knownDays.set(db, { lastSeq: row.last_seq, days })
  return days
}

interface DaysRow {
  last_seq: bigint
  first_published: number | null
  last_published: number | null
  first_ingested: number | null
  last_ingested: number | null
}

/** @param first days since 1970 */
function spanOfDays(first: number | null, last: number | null): Span | null {
  return first === null || last === null ? null : { from: first * 86_400_000, to: (last + 1) * 86_400_000 }
}

/** A pattern for LIKE in which `%`, `_` and `\` are ordinary characters. */
function containing(part: string | null): string | null {
  return part === null ? null : `%${foldName(part).replace(/[\\%_]/g, '\\$&')}%`
}

// $1 pattern of outlets, $2 pattern of authors, if names are asked for. Index: authors_folded_name (from three characters on).
const preludeStatement = (names: boolean) => `
  select last_seq, segments_version.version, segments_version.words_version,
    ${names ? 'case when $1::text is not null then array(select publisher_no from publishers where folded_name like $1 or folded_domain like $1) end' : 'null::int[]'} as publisher_nos,
    ${names ? 'case when $2::text is not null then array(select author_no from authors where folded_name like $2) end' : 'null::int[]'} as author_nos
  from ingest_clock, segments_version`

// Index: the primary key of article_days. One statement, one snapshot: no article up to `last_seq` lies outside of the days.
const DAYS = `
  select last_seq,
    (select min(day) from article_days where axis = 'published_at') - date '1970-01-01' as first_published,
    (select max(day) from article_days where axis = 'published_at') - date '1970-01-01' as last_published,
    (select min(day) from article_days where axis = 'ingested_at') - date '1970-01-01' as first_ingested,
    (select max(day) from article_days where axis = 'ingested_at') - date '1970-01-01' as last_ingested
  from ingest_clock`
