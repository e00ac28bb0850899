import type pg from 'pg'
import { openVectorStore } from '#shared/vectors/qdrant-store'
import { createRandom, type Random } from './search/generator.ts'

const CHUNK = 500
const PATIENCE = 300_000

/**
 * A mixture of two real vectors and noise. It is near to both, as a news article is near to others.
 */
export function mixture(real: number[][], random: Random): number[] {
  const a = random.one(real)
  const b = random.one(real)
  const share = 0.5 + random.next() / 2
  const noise = 0.35 / Math.sqrt(a.length)
  // Normally distributed numbers (Box and Muller).
  const gauss = () =>
    Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next())
  const mixed = a.map((number, at) => share * number + (1 - share) * b[at]! + noise * gauss())
  const length = Math.hypot(...mixed)
  return mixed.map(number => number / length)
}

// $1 number of articles. The newest articles have the highest numbers.
const NEWEST = `
  select seq, country, coalesce(published_at, ingested_at) as covered_at
  from articles order by seq desc limit $1`

/**
 * Gives the newest articles vectors that cluster as those of news do. They are mixtures of real
 * vectors.
 */
export async function fillVectors(
  settings: Parameters<typeof openVectorStore>[0],
  database: pg.Client,
  collection: string,
  real: number[][],
  count: number,
): Promise<void> {
  const vectors = openVectorStore(settings, PATIENCE)
  const random = createRandom(7)
  const { rows } = await database.query(NEWEST, [count])
  for (let at = 0; at < rows.length; at += CHUNK) {
    const some = rows.slice(at, at + CHUNK)
    const articles = some.map(({ seq, country, covered_at }) => ({
      seq: BigInt(seq),
      vector: mixture(real, random),
      country,
      coveredAt: covered_at.getTime(),
    }))
    await vectors.upsert(collection, articles)
    await database.query('update embeddings set embedded_at = now() where seq = any ($1)', [
      some.map(one => one.seq),
    ])
  }
}
