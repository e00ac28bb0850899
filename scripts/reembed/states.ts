import { collectionName } from '../../services/embedder/collections.ts'
import { openEmbeddings } from '../../shared/embeddings/embeddings.ts'
import { RECIPE } from '../../shared/embeddings/recipe.ts'
import type { Source } from '../../shared/embeddings/source.ts'
import { type Pool, type Queryable, transaction } from '../../shared/postgres/pool.ts'
import { type Collection, changeCollections } from '../../shared/vectors/registry.ts'

const PROBE_TIMEOUT = 30_000

/**
 * Registers a collection for a model, which must answer. From then on new articles go there too.
 */
export async function registerFilling(
  pool: Pool,
  prefix: string,
  source: Source,
  endpoint: { model: string; api: string | null; url: string | null },
): Promise<Collection> {
  const probe = openEmbeddings(source, { passageTimeout: PROBE_TIMEOUT })
  const [vector] = await probe.embedPassages(['Perscope'], AbortSignal.timeout(PROBE_TIMEOUT))
  const name = collectionName(prefix, endpoint.model)
  return transaction(pool, async client => {
    await changeCollections(client)
    await client.query(
      `insert into vector_collections (name, state, model, recipe, dimensions, api, url)
       values ($1, 'filling', $2, $3, $4, $5, $6)`,
      [name, endpoint.model, RECIPE, vector!.length, endpoint.api, endpoint.url],
    )
    return (await changeCollections(client)).find(one => one.name === name)!
  })
}

/**
 * The filled collection replaces the serving one, in one transaction. Returns false and changes
 * nothing when it is not complete.
 */
export async function takeOver(pool: Pool, name: string): Promise<boolean> {
  return transaction(pool, async client => {
    const collection = fillingNamed(name, await changeCollections(client))
    if ((await left(client, collection)) > 0) return false
    await client.query(
      `update vector_collections set state = 'retired', changed_at = clock_timestamp() where state = 'serving'`,
    )
    await client.query(
      `update vector_collections set state = 'serving', changed_at = clock_timestamp() where name = $1`,
      [name],
    )
    return true
  })
}

/** @throws when no collection of that name is being filled */
export function fillingNamed(name: string, collections: Collection[]): Collection {
  const collection = collections.find(one => one.name === name && one.state === 'filling')
  if (!collection) throw new Error(`${name} is not being filled any more; somebody else has ended it.`)
  return collection
}

/** The number of articles still to embed; without a collection, all that are embedded. */
export async function left(
  db: Queryable,
  collection: Pick<Collection, 'filledTo' | 'registeredAt'> | null,
): Promise<number> {
  const { rows } = await db.query<{ n: number }>(
    `select count(*)::int as n from embeddings
     where seq > $1 and embedded_at is not null and embedded_at <= coalesce($2, clock_timestamp())`,
    [collection?.filledTo ?? 0n, collection?.registeredAt ?? null],
  )
  return rows[0]?.n ?? 0
}

/** How many articles embedders still have to embed; those given up are not among them. */
export async function notEmbedded(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ n: number }>(
    'select count(*)::int as n from embeddings where embedded_at is null and failed_at is null',
  )
  return rows[0]?.n ?? 0
}

export async function cancelFilling(pool: Pool): Promise<void> {
  await transaction(pool, async client => {
    await changeCollections(client)
    await client.query(
      `update vector_collections set state = 'retired', changed_at = clock_timestamp() where state = 'filling'`,
    )
  })
}
