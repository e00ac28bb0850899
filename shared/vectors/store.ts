import { QdrantClient } from '@qdrant/js-client-rest'
import { COUNTRIES, type Country } from '../articles/article.ts'
import type { Config } from '../config/config.ts'
import { createCircuit, type Obstacle } from '../resilience/circuit.ts'
import type { Candidate } from './candidate.ts'
import { COLLECTION, PAYLOAD_INDEXES, searchParameters } from './collection.ts'
import { type AskNearest, openNearest, type QdrantAddress } from './nearest.ts'
import { VectorFailure, vectorFailure } from './vector-failure.ts'

/** An article's vector, and the values of the article that plans limit. */
export interface ArticleVector {
  seq: bigint
  vector: number[]
  country: Country
  /**
   * `published_at`, else `ingested_at`, in ms since 1970. An article without either is never
   * served.
   */
  coveredAt: number | null
}

/** The articles that a plan covers (decision 26). */
export interface Coverage {
  countries: Country[]
  /** Inclusive, ms since 1970. */
  since: number
}

/** Collections of vectors in Qdrant. Everything throws `VectorFailure`. */
export interface VectorStore {
  /**
   * Makes the collection and its indexes if it does not exist. Safe to call from several processes
   * at once.
   * @returns whether it did not exist
   */
  ensure(collection: string, dimensions: number): Promise<boolean>
  /** Stores vectors, waiting until they are searchable; an article's earlier vector is replaced. */
  upsert(collection: string, vectors: ArticleVector[]): Promise<void>
  /**
   * The articles nearest to a vector, best first. All of them when the coverage holds no more than
   * `limit`.
   */
  search(collection: string, vector: number[], coverage: Coverage, limit: number): Promise<Candidate[]>
  /** The exact number of vectors; null: no such collection. */
  count(collection: string): Promise<number | null>
  /**
   * Numbers of articles that have a vector, ascending, at least `from`.
   * @returns `next`: the number to go on from; null at the end
   */
  seqs(collection: string, from: bigint, limit: number): Promise<{ seqs: bigint[]; next: bigint | null }>
  remove(collection: string, seqs: bigint[]): Promise<void>
  /** Points an alias at a collection, in one step. */
  point(alias: string, collection: string): Promise<void>
  drop(collection: string): Promise<void>
  /** Throws when Qdrant does not answer. */
  ping(): Promise<void>
  /** Why Qdrant is not asked at present; null: it is asked. */
  obstacle(): Obstacle | null
}

/** @param timeout ms that a request may take */
export function openVectorStore(config: Pick<Config, 'QDRANT_URL' | 'QDRANT_API_KEY'>, timeout: number): VectorStore {
  const { ask, obstacle } = openQdrant(config, timeout)
  return {
    obstacle,
    ping: () => ask(async ({ client }) => void (await client.getCollections())),
    ensure: (collection, dimensions) => ensureCollection(ask, collection, dimensions),
    count: collection => countVectors(ask, collection),
    upsert: (collection, vectors) => ask(server => upsertVectors(server, collection, vectors)),
    search: (collection, vector, coverage, limit) =>
      ask(server => findNearest(server, collection, { vector, coverage, limit })),
    seqs: (collection, from, limit) => ask(server => readSeqs(server, collection, from, limit)),
    remove: (collection, seqs) =>
      ask(async ({ client }) => {
        if (seqs.length > 0) await client.delete(collection, { wait: true, points: seqs.map(Number) })
      }),
    point: (alias, collection) => ask(server => pointAlias(server, alias, collection)),
    drop: collection => ask(async ({ client }) => void (await client.deleteCollection(collection))),
  }
}

/** The two ways to ask Qdrant. */
interface Server {
  client: QdrantClient
  nearest: AskNearest
}

/** Asks Qdrant through its circuit breaker. */
type Ask = <T>(work: (server: Server) => Promise<T>) => Promise<T>

function openQdrant(
  config: Pick<Config, 'QDRANT_URL' | 'QDRANT_API_KEY'>,
  timeout: number,
): { ask: Ask } & Pick<VectorStore, 'obstacle'> {
  if (config.QDRANT_URL === '') {
    return {
      ask: () => Promise.reject(new VectorFailure('unavailable', 'There is no vector store; set QDRANT_URL.')),
      obstacle: () => ({ reason: 'QDRANT_URL is not set', wait: 60_000 }),
    }
  }
  const server = { client: createClient(config, timeout), nearest: openNearest(config, addressOf(config), timeout) }
  const circuit = createCircuit('Qdrant', {
    counts: error => error instanceof VectorFailure && error.kind === 'unavailable',
  })
  return {
    obstacle: circuit.obstacle,
    async ask(work) {
      try {
        return await circuit.run(() => work(server).catch(error => Promise.reject(vectorFailure(error))))
      } catch (error) {
        throw vectorFailure(error)
      }
    },
  }
}

async function ensureCollection(ask: Ask, collection: string, dimensions: number): Promise<boolean> {
  const exists = async () => (await ask(({ client }) => client.collectionExists(collection))).exists
  const isNew = !(await exists())
  if (isNew) {
    try {
      await ask(({ client }) => client.createCollection(collection, COLLECTION(dimensions)))
    } catch (error) {
      // Another process was quicker.
      if (!(error instanceof VectorFailure) || error.kind !== 'refused' || !(await exists())) throw error
    }
  }
  // The process that made the collection may have died before it made the indexes. An index that
  // exists stays as it is.
  for (const [field, schema] of PAYLOAD_INDEXES) {
    await ask(({ client }) =>
      client.createPayloadIndex(collection, { field_name: field, field_schema: schema, wait: true }),
    )
  }
  return isNew
}

async function countVectors(ask: Ask, collection: string): Promise<number | null> {
  try {
    return (await ask(({ client }) => client.count(collection, { exact: true }))).count
  } catch (error) {
    if (error instanceof VectorFailure && error.kind === 'missing') return null
    throw error
  }
}

async function upsertVectors({ client }: Server, collection: string, vectors: ArticleVector[]): Promise<void> {
  if (vectors.length === 0) return
  await client.upsert(collection, {
    wait: true,
    points: vectors.map(({ seq, vector, country, coveredAt }) => ({
      id: Number(seq),
      vector,
      payload: { country, ...(coveredAt === null ? {} : { covered_at: coveredAt }) },
    })),
  })
}

async function findNearest(
  { nearest }: Server,
  collection: string,
  { vector, coverage, limit }: { vector: number[]; coverage: Coverage; limit: number },
): Promise<Candidate[]> {
  const find = (exact: boolean) =>
    nearest(collection, {
      query: vector,
      limit,
      filter: coverageFilter(coverage),
      params: searchParameters(limit, { exact, part: !isWhole(coverage) }),
      with_payload: false,
      with_vector: false,
    })
  const found = await find(false)
  // The walk through the graph may miss articles when few match the filter. An exact search then
  // looks at each of them.
  return found.length < limit ? find(true) : found
}

async function readSeqs(
  { client }: Server,
  collection: string,
  from: bigint,
  limit: number,
): Promise<{ seqs: bigint[]; next: bigint | null }> {
  const page = await client.scroll(collection, {
    offset: Number(from),
    limit,
    with_payload: false,
    with_vector: false,
  })
  const next = page.next_page_offset
  return {
    seqs: page.points.map(({ id }) => BigInt(id)),
    next: typeof next === 'number' || typeof next === 'bigint' ? BigInt(next) : null,
  }
}

async function pointAlias({ client }: Server, alias: string, collection: string): Promise<void> {
  const { aliases } = await client.getAliases()
  if (aliases.some(one => one.alias_name === alias && one.collection_name === collection)) return
  await client.updateCollectionAliases({
    actions: [
      ...(aliases.some(one => one.alias_name === alias) ? [{ delete_alias: { alias_name: alias } }] : []),
      { create_alias: { alias_name: alias, collection_name: collection } },
    ],
  })
}

function createClient(config: Pick<Config, 'QDRANT_URL' | 'QDRANT_API_KEY'>, timeout: number): QdrantClient {
  const { origin, port, prefix } = addressOf(config)
  return new QdrantClient({
    url: origin,
    port,
    ...(prefix === '' ? {} : { prefix }),
    timeout,
    headers: {
      // See nearest.ts.
      'accept-encoding': 'identity',
      // As `apiKey` it would make the client write a warning between the lines of the log.
      ...(config.QDRANT_API_KEY === '' ? {} : { 'api-key': config.QDRANT_API_KEY }),
    },
    // The check asks for the version before any request, and warns of the version that we pin.
    checkCompatibility: false,
  })
}

/** Qdrant's address. Without a port in it, the port is Qdrant's own, 6333. */
function addressOf({ QDRANT_URL }: Pick<Config, 'QDRANT_URL'>): QdrantAddress {
  const url = new URL(QDRANT_URL)
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 6333)
  return { origin: `${url.protocol}//${url.hostname}`, port, prefix: url.pathname.replace(/\/+$/, '') }
}

/** A coverage of all countries needs no filter: every vector has one of them. */
const isWhole = ({ countries }: Coverage) => countries.length === COUNTRIES.length

function coverageFilter(coverage: Coverage) {
  const { countries, since } = coverage
  return {
    must: [
      ...(isWhole(coverage) ? [] : [{ key: 'country', match: { any: countries } }]),
      { key: 'covered_at', range: { gte: since } },
    ],
  }
}
