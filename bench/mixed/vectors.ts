import pg from 'pg'
import type { Config } from '../../shared/config/config.ts'
import { openEmbeddings, sourceOf } from '../../shared/embeddings/embeddings.ts'
import { RECIPE } from '../../shared/embeddings/recipe.ts'
import { registerServing } from '../../shared/vectors/registry.ts'
import { openVectorStore } from '../../shared/vectors/store.ts'
import { createRandom } from '../search/generator.ts'
import { mixture } from '../semantic/generated.ts'

const COLLECTION = 'mixed'
const REAL = 256
/** Texts to the model at a time. */
const TEXTS = 16
const CHUNK = 500
const PATIENCE = 120_000

// $1 how many. Those with the highest numbers are the latest.
const NEWEST = `
  select seq, country, coalesce(published_at, ingested_at) as covered_at
  from articles order by seq desc limit $1`

const NOTE = 'update embeddings set embedded_at = now() where seq = any ($1)'

/**
 * Gives the newest articles of an archive vectors: mixtures of some that the model made of titles,
 * with noise, so that they cluster as news does.
 *
 * @param config with addresses of the archive, of Qdrant and of the model
 */
export async function fillVectors(
  config: Config,
  titles: string[],
  count: number,
  say: (line: string) => void,
): Promise<void> {
  const source = sourceOf(config)
  const embeddings = openEmbeddings(source, { passageTimeout: PATIENCE })
  const real: number[][] = []
  for (let at = 0; at < Math.min(REAL, titles.length); at += TEXTS) {
    real.push(...(await embeddings.embedPassages(titles.slice(at, at + TEXTS), AbortSignal.timeout(PATIENCE))))
  }
  const dimensions = real[0]?.length ?? 0
  const vectors = openVectorStore(config, PATIENCE)
  const database = new pg.Client(config.DATABASE_URL)
  await database.connect()
  try {
    await vectors.drop(COLLECTION).catch(() => {})
    await vectors.ensure(COLLECTION, dimensions)
    await registerServing(database, { name: COLLECTION, model: source.model.name, recipe: RECIPE, dimensions })
    const random = createRandom(7)
    const { rows } = await database.query(NEWEST, [count])
    for (let at = 0; at < rows.length; at += CHUNK) {
      const some = rows.slice(at, at + CHUNK)
      await vectors.upsert(
        COLLECTION,
        some.map(({ seq, country, covered_at }) => ({
          seq: BigInt(seq),
          vector: mixture(real, random),
          country,
          coveredAt: covered_at.getTime(),
        })),
      )
      await database.query(NOTE, [some.map(({ seq }) => seq)])
      if (at % 20_000 === 0) say(`${at} of ${rows.length} vectors`)
    }
  } finally {
    await database.end()
  }
}
