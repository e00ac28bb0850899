import type { QdrantClient } from '@qdrant/js-client-rest'
import type pg from 'pg'
import { openVectorStore } from '../../shared/vectors/store.ts'
import type { Random } from '../search/generator.ts'

const say = (line: string) => void process.stderr.write(`${line}\n`)

const CHUNK = 500

/** The vectors of all articles embedded so far. */
export async function readVectors(qdrant: QdrantClient, name: string): Promise<number[][]> {
  const vectors: number[][] = []
  for (let offset: string | number | bigint | undefined = 0; offset !== undefined; ) {
    const page = await qdrant.scroll(name, {
      offset: Number(offset),
      limit: 1_000,
      with_vector: true,
      with_payload: false,
    })
    for (const { vector } of page.points) if (isNumbers(vector)) vectors.push(vector)
    const next: unknown = page.next_page_offset
    offset = typeof next === 'number' ? next : undefined
  }
  return vectors
}

const isNumbers = (value: unknown): value is number[] => Array.isArray(value) && typeof value[0] === 'number'

/** A mixture of two real vectors and noise, near to both, as news articles are near to others. */
export function mixture(real: number[][], random: Random): number[] {
  const [a, b] = [random.one(real), random.one(real)]
  const share = 0.5 + random.next() / 2
  const noise = 0.35 / Math.sqrt(a.length)
  const mixed = a.map((number, at) => share * number + (1 - share) * b[at]! + noise * gauss(random))
  const length = Math.hypot(...mixed)
  return mixed.map(number => number / length)
}

/** Normally distributed (Box and Muller). */
function gauss(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next())
}

/** Shares of the countries, as unequal as in reality. */
const DRAWN = ['NL', 'NL', 'NL', 'BE', 'BE', 'LU'] as const
export const FIRST_DAY = Date.UTC(2021, 0, 1)
export const FIVE_YEARS = 5 * 365 * 86_400_000

/**
 * Stores generated articles with their vectors. They have only the fields that a search by meaning
 * reads.
 */
export async function fill(
  env: { QDRANT_URL: string; QDRANT_API_KEY: string },
  database: pg.Client,
  name: string,
  rows: number,
  real: number[][],
  random: Random,
): Promise<void> {
  const vectors = openVectorStore(env, 300_000)
  const { rows: clock } = await database.query<{ first: string }>(
    'update ingest_clock set last_seq = last_seq + $1 returning (last_seq - $1 + 1)::text as first',
    [rows],
  )
  const first = BigInt(clock[0]?.first ?? 1)
  for (let at = 0; at < rows; at += CHUNK) {
    const articles = Array.from({ length: Math.min(CHUNK, rows - at) }, (_, index) => ({
      seq: first + BigInt(at + index),
      vector: mixture(real, random),
      country: random.one(DRAWN),
      coveredAt: FIRST_DAY + random.below(FIVE_YEARS),
    }))
    await database.query(INSERT, [
      articles.map(({ seq }) => String(seq)),
      articles.map(({ country }) => country),
      articles.map(({ coveredAt }) => new Date(coveredAt).toISOString()),
    ])
    await vectors.upsert(name, articles)
    if (at % 50_000 === 0) say(`${at} of ${rows} vectors`)
  }
  await database.query('vacuum analyze articles, article_texts, embeddings')
}

// $1 seqs, $2 countries, $3 times
const INSERT = `
  with given as (select * from unnest($1::bigint[], $2::text[], $3::timestamptz[]) as g (seq, country, at)),
  texts as (
    insert into article_texts (seq, title, url)
    select seq, 'Generated article ' || seq, 'https://generated.example/' || seq from given),
  promises as (
    insert into embeddings (seq, due_at, embedded_at) select seq, at, now() from given)
  insert into articles (seq, id, published_at, ingested_at, publisher_no, author_nos, country, language)
  select seq, 'generated-' || seq, at, at, (select min(publisher_no) from publishers), '{}', country, 'nl' from given`
