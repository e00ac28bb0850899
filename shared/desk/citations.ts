import type { Country } from '../articles/article.ts'
import { countOf, type Pool, type Queryable, readRow } from '../postgres/pool.ts'
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

/** The key has already made as many citations as it may. */
export class TooManyCitations extends Error {
  override name = 'TooManyCitations'
}

const COLUMNS = `encode(digest, 'hex') as digest, search, countries, since, watermark, as_of as "asOf", rules, model,
  bias, cited_at as "citedAt", articles`

/**
 * Stores a citation, or finds the same citation if it exists. Null when the key does not exist or
 * was revoked.
 *
 * @param articles in ascending order of `seq`
 * @throws TooManyCitations
 */
export function keepCitation(
  pool: Pool,
  keyId: string,
  made: NewCitation,
  articles: CitedNumber[],
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
    // Another key may cite the same search at this moment. The insert then waits for that row, and
    // the row is found below.
    const { rowCount } = await client.query(
      `insert into citations (digest, key_id, search, countries, since, watermark, as_of, rules, model, bias, articles, seqs, marks)
       values (decode($1, 'hex'), $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::bigint[], $13::int[])
       on conflict do nothing`,
      [
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
      ],
    )
    return { citation: (await findCitation(client, made.digest))!, isNew: rowCount === 1 }
  })
}

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
