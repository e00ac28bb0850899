import { AMONG_WRITERS } from '../../search/removals.ts'
import type { Country } from '../articles/article.ts'
import { countOf, type Pool, PRIMARY_HISTORY, type Queryable, readRow } from '../postgres/pool.ts'
import { changeKept } from './feeds.ts'

/** How many citations a key may make. */
export const MAX_CITATIONS = 1_000

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

/** The key has already made as many citations as it may. */
export class TooManyCitations extends Error {
  override name = 'TooManyCitations'
}

/** An article of a new citation was taken out meanwhile. The caller searches again. */
export class CitedRemoved extends Error {
  override name = 'CitedRemoved'
}

// $1 seqs. Index: tombstones_seq_key.
const TAKEN_OUT = 'select from tombstones where seq = any ($1::bigint[]) limit 1'

const COLUMNS = `encode(digest, 'hex') as digest, search, countries, since, watermark, as_of as "asOf", rules, model,
  bias, cited_at as "citedAt", articles`

/**
 * Stores a citation, or finds the same citation if it exists. Null when the key does not exist or
 * was revoked.
 *
 * @throws TooManyCitations, CitedRemoved
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
    if (known !== null) return { citation: known, isNew: false }
    // Index: citations_key
    const before = await countOf(client, 'select count(*)::int from citations where key_id = $1', [
      keyId,
    ])
    if (before >= MAX_CITATIONS)
      throw new TooManyCitations(`A key may make ${MAX_CITATIONS} citations, and this one has.`)
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
      articles.map(({ seq }) => seq),
      articles.map(({ mark }) => mark),
      articles.map(({ id }) => id),
      history,
    ])
    const citation = await findCitation(client, made.digest)
    if (citation === null) throw new OtherArticles()
    return { citation, isNew: rowCount === 1 }
  })
}

// $12 seqs, $13 marks, $14 ids, $15 history: after a failover, a number may belong to another
// article. Index: the primary key of articles.
const INSERT = `
  insert into citations (digest, key_id, search, countries, since, watermark, as_of, rules, model, bias, articles, seqs, marks)
  select decode($1, 'hex'), $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::bigint[], $13::int[]
   where ${PRIMARY_HISTORY} = $15
     and (select count(*) from unnest($12::bigint[], $14::text[]) n (seq, id) join articles using (seq, id)) = cardinality($12::bigint[])
  on conflict do nothing`

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
