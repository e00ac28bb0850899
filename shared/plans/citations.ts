import type { Country } from '../articles/article.ts'
import { countOf, type Pool, type Queryable, readRow } from '../postgres/pool.ts'
import { changeKept } from './search-feeds.ts'

/** Citations that a key may make. */
export const MAX_CITATIONS = 1_000

/** A search with its result, frozen (docs/citations.md). */
export interface NewCitation {
  /** 64 hex digits. */
  digest: string
  /** A query string in its one spelling. */
  search: string
  /** The countries of the plan that cited it first. */
  countries: Country[]
  since: Date
  /** The number of the newest article that was searched, and the time of that moment. */
  watermark: bigint
  asOf: Date
  /** Version of the rules of words. */
  rules: number
  /** The model of a search by meaning; null: a search by words. */
  model: string | null
  bias: string | null
}

export interface Citation extends NewCitation {
  citedAt: Date
  /** How many articles it has. */
  articles: number
}

/** An article of a citation: its number, and a mark of its line. */
export interface CitedNumber {
  seq: bigint
  mark: number
}

/** The key has made as many citations as it may. */
export class TooManyCitations extends Error {
  override name = 'TooManyCitations'
}

const COLUMNS = `encode(digest, 'hex') as digest, search, countries, since, watermark, as_of as "asOf", rules, model,
  bias, cited_at as "citedAt", articles`

/**
 * Keeps a citation, or finds the one that is there. Null when there is no such key, or it was
 * revoked.
 *
 * @param articles in the order of their numbers
 * @throws TooManyCitations
 */
export function keepCitation(pool: Pool, keyId: string, made: NewCitation, articles: CitedNumber[]) {
  return changeKept(pool, keyId, async client => {
    const known = await findCitation(client, made.digest)
    if (known !== null) return { citation: known, isNew: false }
    // Index: citations_key
    const before = await countOf(client, 'select count(*)::int from citations where key_id = $1', [keyId])
    if (before >= MAX_CITATIONS)
      throw new TooManyCitations(`A key may make ${MAX_CITATIONS} citations, and this one has.`)
    // Another key may cite the same in this moment: then its row is waited for, and found.
    const { rowCount } = await client.query(
      `insert into citations (digest, key_id, search, countries, since, watermark, as_of, rules, model, bias, articles, seqs, marks)
       values (decode($1, 'hex'), $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::bigint[], $13::int[])
       on conflict do nothing`,
      [
        ...[made.digest, keyId, made.search, made.countries, made.since, made.watermark, made.asOf, made.rules],
        ...[made.model, made.bias, articles.length],
        ...[articles.map(({ seq }) => seq), articles.map(({ mark }) => mark)],
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

/** Articles that are read at a time. */
const PART = 500

/** The articles of a citation, in the order of their numbers, some at a time. */
export async function* readCited(db: Queryable, { digest, articles }: Citation): AsyncGenerator<CitedNumber[]> {
  for (let from = 1; from <= articles; from += PART) {
    const { rows } = await db.query<CitedNumber>(
      `select unnest(seqs[$2:$3]) as seq, unnest(marks[$2:$3]) as mark from citations where digest = decode($1, 'hex')`,
      [digest, from, from + PART - 1],
    )
    yield rows
  }
}
