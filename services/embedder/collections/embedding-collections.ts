import { randomBytes } from 'node:crypto'
import type { Config } from '../../../shared/config/config.ts'
import { type Embeddings, openEmbeddings } from '../../../shared/embeddings/embeddings.ts'
import { sourceOf } from '../../../shared/embeddings/endpoint.ts'
import { RECIPE } from '../../../shared/embeddings/recipe.ts'
import type { Logger } from '../../../shared/log/logger.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import { beginAnew, type Collection, readCollections, registerServing } from '../../../shared/vectors/registry.ts'
import type { VectorStore } from '../../../shared/vectors/store.ts'
import { createPace, type Pace } from '../batch/pace.ts'
import { auditCollection } from './audit.ts'

/** A collection and the model whose vectors it holds. */
export interface EmbeddingCollection {
  collection: Collection
  embeddings: Embeddings
  pace: Pace
}

export interface EmbeddingCollections {
  /**
   * Targets of a new vector: the serving collection first, then one that is being filled. Registers
   * and creates them when they do not exist yet.
   */
  current(): Promise<EmbeddingCollection[]>
  /**
   * Creates again the collections that the vector store has lost; their articles are embedded
   * again.
   */
  restore(): Promise<void>
  /** Why a model is not asked at present; null: all are. */
  obstacle(): { reason: string; wait: number } | null
}

/** Texts in one request at most: a search that comes meanwhile waits for no more than these. */
const TEXTS = 4

type EmbeddingCollectionSettings = Parameters<typeof sourceOf>[0] &
  Pick<Config, 'EMBEDDINGS_TIMEOUT' | 'QDRANT_COLLECTION'>

export function openEmbeddingCollections(
  config: EmbeddingCollectionSettings,
  pool: Pool,
  vectors: VectorStore,
  log: Logger,
): EmbeddingCollections {
  const configured = sourceOf(config)
  const opened = new Map<string, EmbeddingCollection>()
  let pointed = ''

  async function serving(): Promise<Collection> {
    // The card says how many numbers; of a model that we have no card of, its first answer does.
    const dimensions =
      configured.model.dimensions ??
      (
        await openEmbeddings(configured, { passageTimeout: config.EMBEDDINGS_TIMEOUT }).embedPassages(
          ['Perscope'],
          AbortSignal.timeout(config.EMBEDDINGS_TIMEOUT),
        )
      )[0]!.length
    const name = collectionName(config.QDRANT_COLLECTION, configured.model.name)
    return registerServing(pool, { name, model: configured.model.name, recipe: RECIPE, dimensions })
  }

  async function open(registered: Collection): Promise<EmbeddingCollection> {
    const known = opened.get(registered.name)
    // `filling` becomes `serving` one day: the same vectors, the same model.
    if (known) return { ...known, collection: registered }
    const isNew = await vectors.ensure(registered.name, registered.dimensions)
    if (isNew && registered.state === 'serving') await auditCollection(pool, vectors, registered, log)
    const collection = isNew && registered.state === 'filling' ? await beginAnew(pool, registered) : registered
    const source = sourceOf(config, collection)
    const target = {
      collection,
      embeddings: openEmbeddings(source, {
        passageTimeout: config.EMBEDDINGS_TIMEOUT,
        dimensions: collection.dimensions,
      }),
      pace: createPace(TEXTS),
    }
    opened.set(collection.name, target)
    return target
  }

  return {
    async current() {
      const collections = await readCollections(pool)
      if (!collections.some(({ state }) => state === 'serving')) collections.unshift(await serving())
      const targets: EmbeddingCollection[] = []
      for (const collection of collections) {
        targets.push(await open(collection))
        if (collection.state !== 'serving' || pointed === collection.name) continue
        await vectors.point(config.QDRANT_COLLECTION, collection.name)
        pointed = collection.name
        const { model } = configured
        if (collection.model !== model.name) {
          log.warn(
            `The articles are embedded by ${collection.model}, EMBEDDINGS_MODEL says ${model.name}; \`npm run reembed -- --model ${model.name}\` changes that.`,
          )
        }
      }
      return targets
    },

    async restore() {
      opened.clear()
      await this.current()
    },

    obstacle() {
      for (const { embeddings } of opened.values()) {
        const obstacle = embeddings.obstacle()
        if (obstacle) return obstacle
      }
      return null
    },
  }
}

/**
 * Never used before: a collection that is left over from another database would bring its articles
 * with it.
 */
export function collectionName(prefix: string, model: string): string {
  const slug = (model.split('/').at(-1) ?? '').toLowerCase().replace(/[^a-z0-9]+/g, '-')
  return `${prefix}-${slug.slice(0, 60)}-${RECIPE}-${randomBytes(3).toString('hex')}`
}
