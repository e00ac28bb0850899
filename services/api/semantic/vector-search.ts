import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Config } from '#shared/config/config'
import {
  type EmbeddingOptions,
  type Embeddings,
  openEmbeddings,
  sourceOf,
} from '#shared/embeddings/embeddings'
import { questionText } from '#shared/embeddings/recipe'
import { EmbeddingFailure } from '#shared/embeddings/source'
import { noteWait } from '#shared/log/context'
import { histogram } from '#shared/metrics'
import { type Pool, readRow } from '#shared/postgres/pool'
import { reasonOf } from '#shared/process/health'
import { createSharedWork } from '#shared/resilience/shared-work'
import { unlessAborted, withTimeLimit } from '#shared/resilience/time-limit'
import { openVectorStore } from '#shared/vectors/qdrant-store'
import { type Collection, readCollections } from '#shared/vectors/registry'
import { AROUND, AROUND_LIMIT, leastOf } from '#shared/vectors/related'
import { type NearArticle, ofTheirArticles, type Reach, VectorFailure } from '#shared/vectors/store'
import type { Around, AroundQuery } from './query.ts'

/*
 * A question needs two servers, the model and the vector store, and an answer within two seconds.
 * The two servers share one time budget. Vectors of questions are kept, and the code handles a
 * change of the collection meanwhile.
 */

/** The set of a question holds this many articles at most (contract, "Limits"). */
const CANDIDATES = 500
/**
 * ms for model and vector store together. With this limit, a client that waits for no permit gets
 * the answer or a 503 within two seconds.
 */
export const BUDGET = 1_500
const VECTOR_TIMEOUT = 1_200
/** ms. `/readyz` answers within a second, whatever is missing. */
const READY_TIMEOUT = 900
/** ms of those for the name of the collection. Without Postgres, the rest is enough for a model. */
const SERVING_TIMEOUT = 250

export interface VectorSearch {
  /** null: nothing was ever embedded. */
  serving(): Promise<ServingCollection | null>
  /**
   * The nearest articles of a reach, best first; empty when nothing is embedded yet.
   *
   * @param ms how long it may take, at most `BUDGET`
   * @param ends aborts when nobody waits for the answer any more. The promise settles when the
   *   servers have nothing left to do, or after `ms`
   * @throws EmbeddingFailure or VectorFailure
   */
  nearest(text: string, reach: Reach, ms: number, ends: AbortSignal): Promise<NearArticle[]>
  /**
   * The articles nearest to an article, from some days around it, and how close articles about
   * the same event must be.
   *
   * @returns null: the article has no vector
   * @throws VectorFailure
   */
  around(query: AroundQuery): Promise<Around | null>
  missing(): Promise<Record<string, string>>
}

/** The model and the vector store, as the API asks them. */
export function openVectorSearch(config: Config, pool: Pool): VectorSearch {
  const vectors = openVectorStore(config, VECTOR_TIMEOUT)
  const options = { passageTimeout: BUDGET }
  const vectorOf = createQuestionVectors(QUESTION_MEMORY)
  // This checks the settings at the start. This model is also used while nothing is embedded.
  const configured = openEmbeddings(sourceOf(config), options)
  const findServing = openServing(config, pool, options)

  async function search(
    { collection, embeddings }: ServingCollection,
    text: string,
    reach: Reach,
    limit: AbortSignal,
    ends: AbortSignal,
  ) {
    const signal = AbortSignal.any([ends, limit])
    const vector = await vectorOf(collection.name, text, signal, unused =>
      timed('model', () => twice(unused, () => embeddings.embedQuery(text, unused))),
    ).catch(error => {
      if (error !== signal.reason) throw error
      throw new EmbeddingFailure('unavailable', 'The embedding endpoint does not answer in time.')
    })
    const near = await timed('vectors', () =>
      twice(signal, () =>
        within(limit, vectors.search(collection.name, vector, reach, CANDIDATES)),
      ),
    )
    return ofTheirArticles(pool, near)
  }

  return {
    serving: () => findServing(),

    async nearest(text, reach, ms, ends) {
      const limit = AbortSignal.timeout(ms)
      const serving = await findServing()
      if (!serving) {
        // Nothing can be found yet, but a failure of the model or the vector store must become
        // visible.
        const signal = AbortSignal.any([ends, limit])
        await Promise.all([configured.embedQuery(text, signal), within(limit, vectors.ping())])
        return []
      }
      const ask = (now: ServingCollection) => search(now, text, reach, limit, ends)
      return orAnother(pool, findServing, serving, ask, [])
    },

    async around({ seq, id, at, since, countries }) {
      const signal = AbortSignal.timeout(BUDGET)
      const serving = await findServing()
      if (!serving) return null
      const days = { countries, since: Math.max(since.getTime(), at - AROUND), until: at + AROUND }
      const ask = async ({ collection, embeddings: { model } }: ServingCollection) => {
        const near = await timed('vectors', () =>
          twice(signal, () =>
            within(
              signal,
              vectors.around(collection.name, { seq, id }, days, AROUND_LIMIT, leastOf(model.same)),
            ),
          ),
        )
        return near && { near: await ofTheirArticles(pool, near), same: model.same }
      }
      return orAnother(pool, findServing, serving, ask, null)
    },

    async missing() {
      const signal = AbortSignal.timeout(READY_TIMEOUT)
      const serving = findServing().catch(() => null)
      const known = await withTimeLimit(serving, SERVING_TIMEOUT, () => null)
      const [model, store] = await Promise.allSettled([
        (known?.embeddings ?? configured).embedQuery('ready', signal),
        within(signal, vectors.ping()),
      ])
      return {
        ...(model.status === 'rejected' ? { model: reasonOf(model.reason) } : {}),
        ...(store.status === 'rejected' ? { vectors: reasonOf(store.reason) } : {}),
      }
    },
  }
}

/**
 * Asks the serving collection. If it is missing, another collection has taken its place, or it was
 * lost and is being rebuilt.
 *
 * @param nothing the answer while nothing is embedded
 */
async function orAnother<T>(
  pool: Pool,
  findServing: FindServing,
  serving: ServingCollection,
  ask: (serving: ServingCollection) => Promise<T>,
  nothing: T,
): Promise<T> {
  try {
    return await ask(serving)
  } catch (error) {
    if (!(error instanceof VectorFailure) || error.kind !== 'missing') throw error
    const now = await findServing(0)
    if (now && now.collection.name !== serving.collection.name) return ask(now)
    if (
      (await readRow(pool, 'select from embeddings where embedded_at is not null limit 1')) !==
      undefined
    )
      throw error
    return nothing
  }
}

/** ms. A request on a kept connection that the server has closed fails within this time. */
const AT_ONCE = 200

/**
 * Tries again after an immediate failure. The server may have closed a kept connection just before
 * it was used, and may itself be well.
 */
async function twice<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const began = Date.now()
  try {
    return await work()
  } catch (error) {
    const isAway =
      (error instanceof EmbeddingFailure || error instanceof VectorFailure) &&
      error.kind === 'unavailable'
    if (!isAway || signal.aborted || Date.now() - began > AT_ONCE) throw error
    return work()
  }
}

/**
 * The client of the vector store cannot be aborted. At the limit the caller goes on, and the
 * request ends by its own time limit.
 */
function within<T>(limit: AbortSignal, work: Promise<T>): Promise<T> {
  return unlessAborted(work, limit).catch(error => {
    throw error === limit.reason
      ? new VectorFailure('unavailable', 'Qdrant does not answer in time.')
      : error
  })
}

/** ms after which this process notices a switch to another collection. */
const FRESH = 1_000

/** The serving collection, and the model that made its vectors. */
interface ServingCollection {
  collection: Collection
  embeddings: Embeddings
}

/**
 * Returns the serving collection, read again at most once a second; null: nothing was ever
 * embedded.
 *
 * @param fresh ms; a result that is older is read again
 */
type FindServing = (fresh?: number) => Promise<ServingCollection | null>

function openServing(config: Config, pool: Pool, options: EmbeddingOptions): FindServing {
  let present: { at: number; collection: Promise<ServingCollection | null> } | null = null
  // The collection that was read last. While its name is the same, its circuit breaker and its
  // connections are kept.
  let known: ServingCollection | null = null

  async function readServing(): Promise<ServingCollection | null> {
    const collection = (await readCollections(pool)).find(one => one.state === 'serving')
    if (!collection) return null
    if (known?.collection.name !== collection.name) {
      const source = sourceOf(config, collection)
      known = {
        collection,
        embeddings: openEmbeddings(source, { ...options, dimensions: collection.dimensions }),
      }
    }
    return known
  }

  return (fresh = FRESH) => {
    if (!present || present.at + fresh < Date.now()) {
      const mine = { at: Date.now(), collection: readServing() }
      present = mine
      mine.collection.catch(() => {
        if (present === mine) present = null
      })
    }
    return present.collection
  }
}

/** The most bytes that the vectors of questions take in all. One vector takes about 2,000. */
const QUESTION_MEMORY = 16 * 2 ** 20
const HOUR = 3_600_000
/** Bytes of an entry without the vector: its digest, the array, the entries of the cache. */
const ENTRY_BYTES = 500

/**
 * The vector of a question for one collection. Calls `embed` when it is not known.
 *
 * @param leaves aborts when the caller leaves. `embed` ends with the last caller
 */
export type VectorOf = (
  collection: string,
  text: string,
  leaves: AbortSignal,
  embed: (ends: AbortSignal) => Promise<number[]>,
) => Promise<number[]>

/**
 * Keeps the vectors of the questions of the last hour. The returned function gives the vector of a
 * question for one collection, and calls `embed` when it has none. Equal questions that come
 * meanwhile wait for that call, or fail with it. The name of a collection includes model, endpoint
 * and recipe, so vectors of two models never mix.
 *
 * @param maxSize most bytes of the vectors
 */
export function createQuestionVectors(maxSize: number): VectorOf {
  const kept = new LRUCache<string, Float32Array>({
    maxSize,
    ttl: HOUR,
    sizeCalculation: vector => vector.byteLength + ENTRY_BYTES,
  })
  const asking = createSharedWork<Float32Array>()
  return async (collection, text, leaves, embed) => {
    const key = keyOf(collection, text)
    const ask = async (ends: AbortSignal) => {
      // Qdrant computes with 32 bits. So a kept vector and a new one give exactly the same results.
      const vector = Float32Array.from(await embed(ends))
      kept.set(key, vector)
      return vector
    }
    return [...(kept.get(key) ?? (await asking.run(key, leaves, ask)))]
  }
}

/** The key is a digest, so that the memory does not hold for an hour what people asked. */
function keyOf(collection: string, text: string): string {
  return createHash('sha256')
    .update(JSON.stringify([collection, questionText(text)]))
    .digest('base64url')
}

const steps = histogram(
  'semantic_seconds',
  'Time of the steps of a semantic search: set (looked up, kept), model, vectors, page (filters, order, articles).',
  [
    0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.04, 0.055, 0.075, 0.1, 0.2, 0.5,
    1, 2,
  ],
  ['step'],
)

/** Measures a step, also when it fails. */
export async function timed<T>(
  step: 'set' | 'model' | 'vectors' | 'page',
  work: () => Promise<T>,
): Promise<T> {
  const start = performance.now()
  try {
    return await work()
  } finally {
    const ms = performance.now() - start
    steps.observe({ step }, ms / 1_000)
    noteWait(step, ms)
  }
}
