import { randomBytes } from 'node:crypto'
import type { Config } from '#shared/config/config'
import { slugOf } from '#shared/embeddings/bias'
import { type Embeddings, openEmbeddings, sourceOf } from '#shared/embeddings/embeddings'
import { RECIPE } from '#shared/embeddings/recipe'
import type { Source } from '#shared/embeddings/source'
import type { Logger } from '#shared/log/logger'
import { createOutageLog } from '#shared/log/outage'
import { type Pool, type Queryable, readColumn } from '#shared/postgres/pool'
import { repeatEvery } from '#shared/process/repeat'
import { withTimeLimit } from '#shared/resilience/time-limit'
import {
  beginAnew,
  type Collection,
  readCollections,
  registerServing,
} from '#shared/vectors/registry'
import type { VectorStore } from '#shared/vectors/store'
import { auditCollection } from './audit.ts'

/*
 * Postgres lists the collections, and the vector store holds them. An embedder opens the serving
 * collection and the one that is being filled. It rebuilds what the vector store has lost.
 */

/** A collection and the model whose vectors it holds. */
export interface EmbeddingCollection {
  collection: Collection
  embeddings: Embeddings
  portion: Portion
}

export interface EmbeddingCollections {
  /**
   * The collections that get a new vector: the serving one first, then one that is being filled.
   * Registers and creates them when they do not exist yet.
   */
  current(): Promise<EmbeddingCollection[]>
  /** Creates lost collections again, and has their articles embedded. */
  restore(): Promise<void>
  /** Why a model cannot be used now; null: all models can. */
  obstacle(): string | null
}

/**
 * The most texts in one request, because a search that comes meanwhile waits until they are
 * embedded.
 */
const TEXTS = 4

type EmbeddingCollectionSettings = Parameters<typeof sourceOf>[0] &
  Pick<Config, 'EMBEDDINGS_TIMEOUT' | 'QDRANT_COLLECTION'>

/** The settings, connections and open collections of one embedder. */
interface State {
  config: EmbeddingCollectionSettings
  /** The model and endpoint that the settings name. */
  configured: Source
  pool: Pool
  vectors: VectorStore
  log: Logger
  /** By the name of the collection. */
  opened: Map<string, EmbeddingCollection>
  /** The collection to which this process last pointed the alias. */
  pointed: string
}

export function openEmbeddingCollections(
  config: EmbeddingCollectionSettings,
  pool: Pool,
  vectors: VectorStore,
  log: Logger,
): EmbeddingCollections {
  const state: State = {
    config,
    configured: sourceOf(config),
    pool,
    vectors,
    log,
    opened: new Map(),
    pointed: '',
  }
  return {
    current: () => openAll(state),

    async restore() {
      state.opened.clear()
      await openAll(state)
    },

    obstacle() {
      const obstacles = [...state.opened.values()].map(({ embeddings }) => embeddings.obstacle())
      return obstacles.find(obstacle => obstacle !== null) ?? null
    },
  }
}

async function openAll(state: State): Promise<EmbeddingCollection[]> {
  const collections = await readCollections(state.pool)
  if (!collections.some(({ state }) => state === 'serving'))
    collections.unshift(await registerConfigured(state))
  const targets: EmbeddingCollection[] = []
  for (const collection of collections) {
    targets.push(await open(state, collection))
    if (collection.state === 'serving') await pointTo(state, collection)
  }
  return targets
}

/** Registers a serving collection for the configured model. */
async function registerConfigured({ config, configured, pool }: State): Promise<Collection> {
  const { name: model } = configured.model
  const dimensions =
    configured.model.dimensions ?? (await measureDimensions(configured, config.EMBEDDINGS_TIMEOUT))
  const name = collectionName(config.QDRANT_COLLECTION, model)
  return registerServing(pool, { name, model, recipe: RECIPE, dimensions })
}

/**
 * Measures the dimensions of a model that `modelNamed` does not know, by the length of its first
 * vector.
 */
async function measureDimensions(source: Source, timeout: number): Promise<number> {
  const embeddings = openEmbeddings(source, { passageTimeout: timeout })
  const [vector] = await embeddings.embedPassages(['Perscope'], AbortSignal.timeout(timeout))
  return vector!.length
}

async function open(state: State, registered: Collection): Promise<EmbeddingCollection> {
  const { config, pool, vectors, log, opened } = state
  const known = opened.get(registered.name)
  // Its state may have changed from `filling` to `serving`. Its vectors and model stay the same.
  if (known) return { ...known, collection: registered }
  const isNew = await vectors.ensure(registered.name, registered.dimensions)
  if (!isNew) await warnOfLayout(state, registered.name)
  if (isNew && registered.state === 'serving') await auditCollection(pool, vectors, registered, log)
  const collection =
    isNew && registered.state === 'filling' ? await beginAnew(pool, registered) : registered
  const target = {
    collection,
    embeddings: openEmbeddings(sourceOf(config, collection), {
      passageTimeout: config.EMBEDDINGS_TIMEOUT,
      dimensions: collection.dimensions,
    }),
    portion: createPortion(TEXTS),
  }
  opened.set(collection.name, target)
  return target
}

async function warnOfLayout({ vectors, log }: State, collection: string): Promise<void> {
  const warning = await vectors.layoutWarning(collection)
  if (warning !== null) log.warn(warning)
}

/** Points the alias to the serving collection. */
async function pointTo(state: State, { name, model }: Collection): Promise<void> {
  const { config, configured, vectors, log } = state
  if (state.pointed === name) return
  await vectors.point(config.QDRANT_COLLECTION, name)
  state.pointed = name
  const wanted = configured.model.name
  if (model === wanted) return
  log.warn(
    `The articles are embedded by ${model}, EMBEDDINGS_MODEL says ${wanted}; \`npm run reembed -- --model ${wanted}\` changes that.`,
  )
}

/**
 * A new name that was never used before. Under an old name, the vector store may still hold a
 * collection of another database.
 */
export const collectionName = (prefix: string, model: string): string =>
  `${prefix}-${slugOf(model).slice(0, 60)}-${RECIPE}-${randomBytes(3).toString('hex')}`

/**
 * The number of texts that a model gets in one request. A slow model gets fewer, so that each
 * request ends within its time limit.
 */
interface Portion {
  texts(): number
  /** Records a request that was answered in time. */
  inTime(): void
  /** Records a request that took too long. */
  late(): void
}

/** The number of requests answered in time, in a row, after which the model gets more texts. */
const TRUST = 20

function createPortion(most: number): Portion {
  let texts = most
  let inTime = 0
  return {
    texts: () => texts,
    inTime() {
      inTime += 1
      if (inTime < TRUST) return
      inTime = 0
      texts = Math.min(most, texts * 2)
    },
    late() {
      inTime = 0
      texts = Math.max(1, Math.floor(texts / 2))
    },
  }
}

/** Removes collections that were retired 30 s ago. By then no API process searches in them. */
async function dropRetired(db: Queryable, vectors: VectorStore, log: Logger): Promise<void> {
  const names = await readColumn<string>(
    db,
    `select name from vector_collections
     where state = 'retired' and changed_at < clock_timestamp() - interval '30 seconds'`,
  )
  for (const name of names) {
    await vectors.drop(name)
    await db.query('delete from vector_collections where name = $1', [name])
    log.info({ collection: name }, 'removed a collection that was replaced')
  }
}

const LOOK = 10_000
const AUDIT = 3_600_000
const LAST_WORDS = 2_000

/**
 * Checks the collections every ten seconds. It removes retired ones, and restores the serving one
 * when the vector store has lost it. Every hour, and soon after the start, it compares the serving
 * collection with Postgres.
 */
export function watchCollections(
  pool: Pool,
  vectors: VectorStore,
  embeddingCollections: EmbeddingCollections,
  log: Logger,
): { close(): Promise<void> } {
  let nextAudit = 0
  let isOpen = false

  async function look(closing: AbortSignal): Promise<void> {
    await dropRetired(pool, vectors, log)
    const serving = (await readCollections(pool)).find(({ state }) => state === 'serving')
    if (!serving) return
    if ((await vectors.count(serving.name)) === null) {
      log.warn({ collection: serving.name }, 'the vector store has lost a collection')
      await embeddingCollections.restore()
    }
    // Opens the collections at the start, before the first article. If their shards differ from the
    // settings, this logs a warning.
    if (!isOpen) await embeddingCollections.current()
    isOpen = true
    if (Date.now() < nextAudit) return
    await auditCollection(pool, vectors, serving, log, closing)
    nextAudit = Date.now() + AUDIT
  }

  const outage = createOutageLog(
    log,
    'could not check the vector store',
    'the vector store is checked again',
  )
  const looks = repeatEvery(LOOK, look, { outage })
  return {
    // Waits for a running check, but at most `LAST_WORDS`, because the vector store may hang.
    close: () => withTimeLimit(looks.close(), LAST_WORDS, () => {}),
  }
}
