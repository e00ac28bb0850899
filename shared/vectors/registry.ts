import type { Config } from '#shared/config/config'
import { type Client, type Queryable, readRow } from '#shared/postgres/pool'

/** A collection of the vector store, as Postgres has registered it. */
export interface Collection {
  name: string
  state: 'serving' | 'filling'
  model: string
  /** The recipe of its vectors (`shared/embeddings/recipe.ts`). */
  recipe: number
  dimensions: number
  /** The model's endpoint, if it is not the one in the settings; otherwise null. */
  api: string | null
  url: string | null
  /** While filling: articles up to this `seq` are done. */
  filledTo: bigint
  registeredAt: Date
}

/**
 * The collections that get every new vector: first the serving one, then one that is being filled.
 */
export async function readCollections(db: Queryable): Promise<Collection[]> {
  const text = `${SELECT} where state <> 'retired' order by state desc`
  return (await db.query<Collection>({ name: 'vector-collections', text })).rows
}

/**
 * Registers the collection that serves, unless one is already registered. Returns the serving
 * collection. If several processes try this, only one of them registers its collection.
 */
export async function registerServing(
  db: Queryable,
  collection: Pick<Collection, 'name' | 'model' | 'recipe' | 'dimensions'>,
): Promise<Collection> {
  const { name, model, recipe, dimensions } = collection
  await db.query(
    `insert into vector_collections (name, state, model, recipe, dimensions) values ($1, 'serving', $2, $3, $4)
     on conflict do nothing`,
    [name, model, recipe, dimensions],
  )
  return (await readRow<Collection>(db, `${SELECT} where state = 'serving'`))!
}

/**
 * Starts the filling of a collection again, because the collection is empty. Returns the collection
 * as it is registered afterwards.
 */
export async function beginAnew(db: Queryable, collection: Collection): Promise<Collection> {
  const { name, registeredAt } = collection
  await db.query(
    `update vector_collections set filled_to = 0, registered_at = clock_timestamp()
     where name = $1 and state = 'filling' and registered_at = $2`,
    [name, registeredAt],
  )
  return (await readRow<Collection>(db, `${SELECT} where name = $1`, [name])) ?? collection
}

// An arbitrary number. A process that notes articles as embedded holds this lock shared. A process
// that changes the collections holds it exclusively. So no article is noted as embedded while a
// collection that was just registered lacks it.
const REGISTRY_LOCK = 7_211_004_231n

/** Prevents changes of the collections until the transaction ends. Returns the collections. */
export async function holdCollections(client: Client): Promise<Collection[]> {
  await client.query('select pg_advisory_xact_lock_shared($1)', [REGISTRY_LOCK])
  return readCollections(client)
}

/** Waits until no other transaction holds the collections, and locks them for this transaction. */
export async function changeCollections(client: Client): Promise<Collection[]> {
  await client.query('select pg_advisory_xact_lock($1)', [REGISTRY_LOCK])
  return readCollections(client)
}

const SELECT = `
  select name, state, model, recipe, dimensions, api, url, filled_to as "filledTo", registered_at as "registeredAt"
  from vector_collections`

export interface CollectionParameters {
  vectors: { size: number; distance: 'Cosine'; on_disk: boolean }
  hnsw_config: { m: number; ef_construct: number; on_disk: boolean }
  quantization_config: { scalar: { type: 'int8'; quantile: number; always_ram: boolean } }
  on_disk_payload: boolean
}

/**
 * How Qdrant stores a collection. `docs/growth.md` tells what this costs for 10 million vectors.
 *
 * Full vectors are in mapped files on disk, so the page cache keeps those in use. The graph is in
 * memory, with one byte for each dimension to walk through it. The full vectors of the nearest
 * points are then compared.
 */
export const COLLECTION = (dimensions: number): CollectionParameters => ({
  vectors: { size: dimensions, distance: 'Cosine' as const, on_disk: true },
  hnsw_config: { m: 16, ef_construct: 100, on_disk: false },
  quantization_config: { scalar: { type: 'int8' as const, quantile: 0.99, always_ram: true } },
  on_disk_payload: true,
})

/** The fields with which a search filters by a plan's reach. */
export const PAYLOAD_INDEXES = [
  ['country', 'keyword'],
  ['covered_at', { type: 'integer', lookup: false, range: true }],
] as const

/**
 * Parameters of a search, as multiples of the number of wanted candidates. `inSight`: how many
 * points the walk through the graph keeps at least. Several segments share this number. `compared`:
 * how many points are compared by their full vectors. A search with a filter by country compares
 * fewer points, because ACORN (below) finds more of the closest points. We chose the numbers by
 * hand for a recall of 0.99 among 500, which `bench -- semantic --rows N` prints.
 */
const BREADTH = { whole: { inSight: 0.6, compared: 1.2 }, part: { inSight: 0.6, compared: 1 } }

/**
 * If a filter leaves at most this share of the vectors, the search uses ACORN (Qdrant 1.16). ACORN
 * also walks through vectors that do not pass the filter. Without ACORN, the walk may miss vectors
 * that pass. An older Qdrant ignores this.
 */
const SPARSE = 0.4

/** Parameters of a search, under Qdrant's names. */
export interface SearchParameters {
  exact?: boolean
  hnsw_ef?: number
  quantization?: { rescore: boolean; oversampling: number }
  acorn?: { enable: boolean; max_selectivity: number }
}

/** @param part whether the search has a filter by country */
export function searchParameters(
  limit: number,
  { exact, part }: { exact: boolean; part: boolean },
): SearchParameters {
  if (exact) return { exact: true }
  const { inSight, compared } = part ? BREADTH.part : BREADTH.whole
  return {
    hnsw_ef: Math.ceil(limit * inSight),
    quantization: { rescore: true, oversampling: compared },
    ...(part ? { acorn: { enable: true, max_selectivity: SPARSE } } : {}),
  }
}

export type LayoutSettings = Partial<
  Pick<Config, 'QDRANT_SHARDS' | 'QDRANT_REPLICAS' | 'QDRANT_WRITE_CONSISTENCY'>
>

/** How a collection lies on the nodes of a Qdrant cluster. The names of the fields are Qdrant's. */
export interface Layout {
  shard_number: number
  replication_factor: number
  write_consistency_factor: number
}

/** The layout of new collections. */
export const layoutOf = ({
  QDRANT_SHARDS = 1,
  QDRANT_REPLICAS = 1,
  QDRANT_WRITE_CONSISTENCY = 1,
}: LayoutSettings): Layout => ({
  shard_number: QDRANT_SHARDS,
  replication_factor: QDRANT_REPLICAS,
  write_consistency_factor: QDRANT_WRITE_CONSISTENCY,
})

/** A sentence about a collection whose layout differs from the settings. */
export function layoutWarning(collection: string, present: Layout, wanted: Layout): string {
  const said = (layout: Layout) =>
    `${layout.shard_number}, ${layout.replication_factor} and ${layout.write_consistency_factor}`
  return (
    `The collection ${collection} keeps the shards, copies and write consistency that it was made with ` +
    `(${said(present)}); QDRANT_SHARDS, QDRANT_REPLICAS and QDRANT_WRITE_CONSISTENCY say ${said(wanted)}. ` +
    'Set these back, or run `npm run reembed -- --all`, which makes a new collection.'
  )
}
