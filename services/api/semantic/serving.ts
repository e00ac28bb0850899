import type { Config } from '../../../shared/config/config.ts'
import { type EmbeddingOptions, type Embeddings, openEmbeddings } from '../../../shared/embeddings/embeddings.ts'
import { sourceOf } from '../../../shared/embeddings/endpoint.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import { type Collection, readCollections } from '../../../shared/vectors/registry.ts'

/** ms after which a switch to another collection is noticed at the latest. */
const FRESH = 1_000

/** The collection that serves, and the model that its vectors were made by. */
export interface ServingCollection {
  collection: Collection
  embeddings: Embeddings
}

/**
 * Returns the collection that serves, read again at most once a second; null: nothing has ever been
 * embedded.
 *
 * @param fresh ms; what was read longer ago is read again
 */
export type FindServing = (fresh?: number) => Promise<ServingCollection | null>

export function openServing(config: Config, pool: Pool, options: EmbeddingOptions): FindServing {
  let present: { at: number; collection: Promise<ServingCollection | null> } | null = null
  // Kept while it cannot be read again: its circuit and its connections go on as long as it stays
  // the same.
  let known: ServingCollection | null = null

  async function readServing(): Promise<ServingCollection | null> {
    const collection = (await readCollections(pool)).find(one => one.state === 'serving')
    if (!collection) return null
    if (known?.collection.name !== collection.name) {
      const source = sourceOf(config, collection)
      known = { collection, embeddings: openEmbeddings(source, { ...options, dimensions: collection.dimensions }) }
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
