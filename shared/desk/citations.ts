import { AMONG_WRITERS } from '#search/removals'
import type { Country } from '#shared/articles/article'
import {
  columnsOf,
  type Pool,
  PRIMARY_HISTORY,
  type Queryable,
  readRow,
  readValue,
} from '#shared/postgres/pool'
import { changeKept, DeskRefusal } from './feeds.ts'

/** How many citations a key may make, and how many articles all of them may have together. */
export const CITED_BY_KEY = { citations: 1_000, articles: 5_000_000 } as const

/** A search with its frozen result (docs/citations.md). */
export interface NewCitation {
  /** 64 hex digits. */
  digest: string
  /** A query string in the one spelling of its search. */
  search: string
  /** The countries in the plan of the key that cited the search first. */
  countries: Country[]
  since: Date
  /** The `seq` of the newest article that was searched, and the time of that search. */
  watermark: bigint
  asOf: Date
  /** The version of the rules of words (`WORD_RULES`). */
  rules: number
  /** The model of a search by meaning; null: it is a search by words. */
  model: string | null
  bias: string | null
}

export interface Citation extends NewCitation {
  citedAt: Date
  /** How many articles the citation has. */
  articles: number
  /** The key that made it has been revoked or deleted. */
  keyEnded: boolean
  /** When an operator removed it, with its search and articles; null: it is there. */
  removedAt: Date | null
}

/** An article of a citation: its `seq`, and a mark that is computed from its line. */
export interface CitedNumber {
  seq: bigint
  mark: number
}

/** The articles of a new citation, and the history of the primary from which they were read. */
export interface CitedArticles {
  /** In ascending order of `seq`. */
  articles: (CitedNumber & { id: string })[]
  history: string
}

/** Articles were read that the database does not have any more. The work may be tried again. */
class OtherArticles extends Error {
  override name = 'OtherArticles'
  /** The code that Postgres gives for such a conflict: serialization_failure. */
  code = '40001'
}

/** An article of a new citation was taken out meanwhile. The caller searches again. */
export class CitedRemoved extends Error {
  override name = 'CitedRemoved'
}

// $1 seqs. Index: tombstones_seq_key.
const TAKEN_OUT = 'select from tombstones where seq = any ($1::bigint[]) limit 1'

const COLUMNS = `encode(digest, 'hex') as digest, search, countries, since, watermark, as_of as "asOf", rules, model,
  bias, cited_at as "citedAt", articles, removed_at as "removedAt",
  not exists (select from api_keys k where k.id = citations.key_id and k.revoked_at is null) as "keyEnded"`

/**
 * Stores a citation, or finds the same citation if it exists. Null when the key does not exist or
 * was revoked.
 *
 * @throws DeskRefusal when the key has cited as much as it may
 * @throws CitedRemoved
 * @throws OtherArticles when a failover has undone what was read
 */
export function keepCitation(
  pool: Pool,
  keyId: string,
  made: NewCitation,
  { articles, history }: CitedArticles,
): Promise<{ citation: Citation; isNew: boolean } | null> {
  return changeKept(pool, keyId, async client => {
    const known = await findCitation(client, made.digest)
    if (known !== null && known.removedAt === null) return { citation: known, isNew: false }
    const before = (await readRow<{ citations: number; articles: number }>(client, CITED, [keyId]))!
    if (before.citations >= CITED_BY_KEY.citations)
      throw new DeskRefusal(
        'too_many_citations',
        `A key may make ${CITED_BY_KEY.citations} citations, and this one has.`,
      )
    if (before.articles + articles.length > CITED_BY_KEY.articles)
      throw new DeskRefusal(
        'too_many_citations',
        `A key may cite ${CITED_BY_KEY.articles} articles; this one has cited ${before.articles}, and would cite ${articles.length} more.`,
      )
    // A removal keeps a hash of each article that is cited. So it comes later, or is seen here.
    await client.query(`select ${AMONG_WRITERS}`)
    if ((await client.query(TAKEN_OUT, [articles.map(({ seq }) => seq)])).rowCount !== 0)
      throw new CitedRemoved()
    // Another key may cite the same search at this moment. The insert then waits for that row, and
    // the row is found below.
    const { rowCount } = await client.query(INSERT, [
      made.digest,
      keyId,
      made.search,
      made.countries,
      made.since,
      made.watermark,
      made.asOf,
      made.rules,
      made.model,
      made.bias,
      articles.length,
      ...columnsOf(articles, 'seq', 'mark', 'id'),
      history,
    ])
    const citation = await findCitation(client, made.digest)
    if (citation === null) throw new OtherArticles()
    return { citation, isNew: rowCount === 1 }
  })
}

// $1 key. Index: citations_key
const CITED = `
  select count(*)::int as citations, coalesce(sum(articles), 0)::float8 as articles from citations
   where key_id = $1 and removed_at is null`

// One that an operator removed is made anew. $12 seqs, $13 marks, $14 ids, $15 history: after a
// failover, a number may belong to another article. Index: the primary key of articles.
const INSERT = `
  insert into citations (digest, key_id, search, countries, since, watermark, as_of, rules, model, bias, articles, seqs, marks)
  select decode($1, 'hex'), $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::bigint[], $13::int[]
   where ${PRIMARY_HISTORY} = $15
     and (select count(*) from unnest($12::bigint[], $14::text[]) n (seq, id) join articles using (seq, id)) = cardinality($12::bigint[])
  on conflict (digest) do update set key_id = excluded.key_id, search = excluded.search, countries = excluded.countries,
    since = excluded.since, watermark = excluded.watermark, as_of = excluded.as_of, rules = excluded.rules,
    model = excluded.model, bias = excluded.bias, articles = excluded.articles, seqs = excluded.seqs,
    marks = excluded.marks, cited_at = now(), removed_at = null
   where citations.removed_at is not null`

/**
 * Removes a citation for good, with its search and its articles. Its address stays, and says so.
 *
 * @returns when it was removed; null: there is no such citation
 */
export function removeCitation(db: Queryable, digest: string): Promise<Date | null> {
  return readValue<Date>(
    db,
    `update citations set search = '', seqs = '{}', marks = '{}', articles = 0, removed_at = coalesce(removed_at, now())
      where digest = decode($1, 'hex') returning removed_at`,
    [digest],
  )
}

/** What a page and a command say of a citation that an operator removed. */
export const removedOn = (at: Date): string =>
  `An operator removed this citation on ${at.toISOString().slice(0, 10)}.`

/** @param digest 64 hex digits. Index: the primary key. */
export async function findCitation(db: Queryable, digest: string): Promise<Citation | null> {
  const statement = `select ${COLUMNS} from citations where digest = decode($1, 'hex')`
  return (await readRow<Citation>(db, statement, [digest])) ?? null
}

/** How many articles one statement reads. */
const PART = 500

/** The articles of a citation in ascending order of `seq`, at most `PART` at a time. */
export async function* readCited(
  db: Queryable,
  { digest, articles }: Citation,
): AsyncGenerator<CitedNumber[]> {
  for (let from = 1; from <= articles; from += PART) {
    const { rows } = await db.query<CitedNumber>(
      `select unnest(seqs[$2:$3]) as seq, unnest(marks[$2:$3]) as mark from citations where digest = decode($1, 'hex')`,
      [digest, from, from + PART - 1],
    )
    yield rows
  }
}
