import type { Client, Queryable } from '../postgres/pool.ts'

/** A collection of the vector store, as Postgres knows it. */
export interface Collection {
  name: string
  state: 'serving' | 'filling'
  model: string
  /** The recipe of its vectors (`shared/embeddings/recipe.ts`). */
  recipe: number
  dimensions: number
  /** The model's endpoint, when it differs from the settings. */
  api: string | null
  url: string | null
  /** While filling: articles up to here are done. */
  filledTo: bigint
  registeredAt: Date
}

/**
 * The collections that every new vector goes to: the serving one first, then one that is being
 * filled.
 */
export async function readCollections(db: Queryable): Promise<Collection[]> {
  const { rows } = await db.query<Stored>({
    name: 'vector-collections',
    text: `${SELECT} where state <> 'retired' order by state desc`,
  })
  return rows.map(collectionOf)
}

/**
 * Registers the collection that serves, if none does yet. Returns the one that does. When several
 * processes try, one registers its collection.
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
  const { rows } = await db.query<Stored>(`${SELECT} where state = 'serving'`)
  return collectionOf(rows[0]!)
}

/**
 * Begins the filling of a collection again, because the collection is empty. Returns the collection
 * as it is registered then.
 */
export async function beginAnew(db: Queryable, collection: Collection): Promise<Collection> {
  const { name, registeredAt } = collection
  await db.query(
    `update vector_collections set filled_to = 0, registered_at = clock_timestamp()
     where name = $1 and state = 'filling' and registered_at = $2`,
    [name, registeredAt],
  )
  const { rows } = await db.query<Stored>(`${SELECT} where name = $1`, [name])
  return rows[0] === undefined ? collection : collectionOf(rows[0])
}

// Any number. Processes that note articles as embedded hold this lock shared; a process that
// changes the collections holds it exclusively. So no article is noted as embedded while it is
// missing from a collection registered meanwhile.
const REGISTRY_LOCK = 7_211_004_231n

/** Prevents changes of the collections until the transaction ends. */
export async function holdCollections(client: Client): Promise<Collection[]> {
  await client.query('select pg_advisory_xact_lock_shared($1)', [REGISTRY_LOCK])
  return readCollections(client)
}

/** Waits until no other transaction holds the collections, and locks them for this one. */
export async function changeCollections(client: Client): Promise<Collection[]> {
  await client.query('select pg_advisory_xact_lock($1)', [REGISTRY_LOCK])
  return readCollections(client)
}

const SELECT = `
  select name, state, model, recipe, dimensions, api, url, filled_to, registered_at from vector_collections`

interface Stored {
  name: string
  state: 'serving' | 'filling'
  model: string
  recipe: number
  dimensions: number
  api: string | null
  url: string | null
  filled_to: bigint
  registered_at: Date
}

const collectionOf = ({ filled_to, registered_at, ...rest }: Stored): Collection => ({
  ...rest,
  filledTo: filled_to,
  registeredAt: registered_at,
})
