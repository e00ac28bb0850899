import { articleVector, passagesOf } from '#shared/embeddings/recipe'
import { EmbeddingFailure } from '#shared/embeddings/source'
import { columnsOf, type Pool, transaction } from '#shared/postgres/pool'
import { holdCollections } from '#shared/vectors/registry'
import type { VectorStore } from '#shared/vectors/store'
import type { EmbeddableArticle } from './articles.ts'
import { removeStray } from './audit.ts'
import type { EmbeddingCollection, EmbeddingCollections } from './collections.ts'

/**
 * Embeds articles with the model of a collection. A slow model gets fewer texts at a time.
 * @throws EmbeddingFailure
 */
async function vectorsOf(
  { embeddings, portion }: EmbeddingCollection,
  articles: Pick<EmbeddableArticle, 'title' | 'body'>[],
  signal: AbortSignal,
): Promise<number[][]> {
  const passages = articles.map(article => passagesOf(article))
  const texts = passages.flat().map(({ text }) => text)
  const vectors: number[][] = []
  while (vectors.length < texts.length) {
    const some = texts.slice(vectors.length, vectors.length + portion.texts())
    try {
      vectors.push(...(await embeddings.embedPassages(some, signal)))
      portion.inTime()
    } catch (error) {
      if (
        signal.aborted ||
        !(error instanceof EmbeddingFailure) ||
        error.late === null ||
        some.length === 1
      )
        throw error
      portion.late()
    }
  }
  return passages.map(parts => articleVector(parts, vectors.splice(0, parts.length)))
}

/**
 * Embeds articles and stores their vectors in one collection.
 * @throws EmbeddingFailure, VectorFailure
 */
export async function storeIn(
  target: EmbeddingCollection,
  vectors: VectorStore,
  articles: EmbeddableArticle[],
  signal: AbortSignal,
): Promise<void> {
  const made = await vectorsOf(target, articles, signal)
  await vectors.upsert(
    target.collection.name,
    articles.map(({ seq, id, country, coveredAt }, index) => ({
      seq,
      id,
      country,
      coveredAt,
      vector: made[index]!,
    })),
  )
}

/**
 * Stores the vectors of articles in every collection, then records that they are embedded.
 * @throws EmbeddingFailure, VectorFailure
 */
export async function storeEverywhere(
  pool: Pool,
  embeddingCollections: EmbeddingCollections,
  vectors: VectorStore,
  articles: EmbeddableArticle[],
  signal: AbortSignal,
): Promise<void> {
  const done = new Set<string>()
  do {
    for (const target of await embeddingCollections.current()) {
      if (done.has(target.collection.name)) continue
      await storeIn(target, vectors, articles, signal)
      done.add(target.collection.name)
    }
  } while (!(await noteEmbedded(pool, articles, done)))
  for (const name of done) await removeStray(pool, vectors, name, articles)
}

/**
 * Records that the articles are embedded, except those that a failover has undone. Returns false
 * and records nothing when a new collection was registered meanwhile, which lacks them.
 */
const noteEmbedded = (
  pool: Pool,
  articles: EmbeddableArticle[],
  done: Set<string>,
): Promise<boolean> =>
  transaction(pool, async client => {
    const collections = await holdCollections(client)
    if (collections.some(({ name }) => !done.has(name))) return false
    // $1 seqs, $2 ids. Indexes: the primary keys.
    await client.query({
      name: 'embed-note',
      text: `update embeddings e set embedded_at = clock_timestamp(), claimed_until = null, error = null
             from unnest($1::bigint[], $2::text[]) as v (seq, id) join articles a using (seq, id)
             where e.seq = v.seq and e.embedded_at is null`,
      values: columnsOf(articles, 'seq', 'id'),
    })
    return true
  })
