import { QdrantClient } from '@qdrant/js-client-rest'
import { COUNTRIES, type Country } from '../articles/article.ts'
import { createCircuit } from '../circuit/circuit.ts'
import type { Config } from '../config/config.ts'
import type { Candidate } from './candidate.ts'
import { COLLECTION, PAYLOAD_INDEXES, searchParameters } from './collection.ts'
import { type AskNearest, openNearest, type QdrantAddress } from './nearest.ts'
import { VectorFailure, vectorFailure } from './vector-failure.ts'

/** An article's vector and what plans limit. */
export interface ArticleVector {
  seq: bigint
  vector: number[]
  country: Country
  /**
   * `published_at`, else `ingested_at`, in ms since 1970; null: it has neither and is never served.
   */
  coveredAt: number | null
}

/** What a plan covers (decision 26). */
export interface Coverage {
  countries: Country[]
  /** Inclusive, ms since 1970. */
  since: number
}

/** Collections of vectors in Qdrant. Everything throws `VectorFailure`. */
export interface VectorStore {
  /**
   * Makes the collection with its indexes if it is not there; true: it was not. Safe from several
   * processes at once.
   */
  ensure(collection: string, dimensions: number): Promise<boolean>
  /** Stores vectors, waiting until they are searchable; an article's earlier vector is replaced. */
  upsert(collection: string, vectors: ArticleVector[]): Promise<void>
  /**
   * The articles nearest to a vector, best first. All of them when the coverage holds no more than
   * `limit`.
   */
  search(collection: string, vector: number[], coverage: Coverage, limit: number): Promise<Candidate[]>
  /** How many vectors there are, to the last one; null: no such collection. */
  count(collection: string): Promise<number | null>
  /**
   * Numbers of articles that have a vector, ascending, from a number on; and where to go on, null
   * at the end.
   */
  seqs(collection: string, from: bigint, limit: number): Promise<{ seqs: bigint[]; next: bigint | null }>
  remove(collection: string, seqs: bigint[]): Promise<void>
  /** Points an alias at a collection, in one step. */
  point(alias: string, collection: string): Promise<void>
  drop(collection: string): Promise<void>
  /** Throws when it does not answer. */
  ping(): Promise<void>
  /** Why it is not asked at present, and for how many ms more; null: it is. */
  obstacle(): { reason: string; wait: number } | null
}

/** @param timeout ms that a request may take */
export function openVectorStore(config: Pick<Config, 'QDRANT_URL' | 'QDRANT_API_KEY'>, timeout: number): VectorStore {
  const server =
    config.QDRANT_URL === ''
      ? null
      : { client: createClient(config, timeout), nearest: openNearest(config, addressOf(config), timeout) }
  const circuit = createCircuit('Qdrant', {
    counts: error => error instanceof VectorFailure && error.kind === 'unavailable',
  })

  const ask = async <T>(work: (client: QdrantClient, nearest: AskNearest) => Promise<T>): Promise<T> => {
    if (!server) throw new VectorFailure('unavailable', 'There is no vector store; set QDRANT_URL.')
    try {
      return await circuit.run(() =>
        work(server.client, server.nearest).catch(error => Promise.reject(vectorFailure(error))),
      )
    } catch (error) {
      throw vectorFailure(error)
    }
  }

  return {
    obstacle: () => (server ? circuit.obstacle() : { reason: 'QDRANT_URL is not set', wait: 60_000 }),
    ping: () => ask(async client => void (await client.getCollections())),

    async ensure(collection, dimensions) {
      const exists = async () => (await ask(client => client.collectionExists(collection))).exists
      const isNew = !(await exists())
      if (isNew) {
        try {
          await ask(client => client.createCollection(collection, COLLECTION(dimensions)))
        } catch (error) {
          // Another process was quicker.
          if (!(error instanceof VectorFailure) || error.kind !== 'refused' || !(await exists())) throw error
        }
      }
      // Whoever made it may have died before this; an index that is there stays as it is.
      for (const [field, schema] of PAYLOAD_INDEXES) {
        await ask(client =>
          client.createPayloadIndex(collection, { field_name: field, field_schema: schema, wait: true }),
        )
      }
      return isNew
    },

    upsert: (collection, vectors) =>
      ask(async client => {
        if (vectors.length === 0) return
        await client.upsert(collection, {
          wait: true,
          points: vectors.map(({ seq, vector, country, coveredAt }) => ({
            id: Number(seq),
            vector,
            payload: { country, ...(coveredAt === null ? {} : { covered_at: coveredAt }) },
          })),
        })
      }),

    search: (collection, vector, coverage, limit) =>
      ask(async (_client, nearest) => {
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
        // A graph may lose its way among few that match; then few are also looked at one by one.
        return found.length < limit ? find(true) : found
      }),

    async count(collection) {
      try {
        return (await ask(client => client.count(collection, { exact: true }))).count
      } catch (error) {
        if (error instanceof VectorFailure && error.kind === 'missing') return null
        throw error
      }
    },

    seqs: (collection, from, limit) =>
      ask(async client => {
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
      }),

    remove: (collection, seqs) =>
      ask(async client => {
        if (seqs.length > 0) await client.delete(collection, { wait: true, points: seqs.map(Number) })
      }),

    point: (alias, collection) =>
      ask(async client => {
        const { aliases } = await client.getAliases()
        if (aliases.some(one => one.alias_name === alias && one.collection_name === collection)) return
        await client.updateCollectionAliases({
          actions: [
            ...(aliases.some(one => one.alias_name === alias) ? [{ delete_alias: { alias_name: alias } }] : []),
            { create_alias: { alias_name: alias, collection_name: collection } },
          ],
        })
      }),

    drop: collection => ask(async client => void (await client.deleteCollection(collection))),
  }
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
      // Given as `apiKey` it makes the client write a warning among the lines of the log.
      ...(config.QDRANT_API_KEY === '' ? {} : { 'api-key': config.QDRANT_API_KEY }),
    },
    // It warns of the pinned server's version, and asks for it before anybody needs it.
    checkCompatibility: false,
  })
}

/** Where Qdrant is: 6333 is its own port, also where a plain address means 80. */
function addressOf({ QDRANT_URL }: Pick<Config, 'QDRANT_URL'>): QdrantAddress {
  const url = new URL(QDRANT_URL)
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 6333)
  return { origin: `${url.protocol}//${url.hostname}`, port, prefix: url.pathname.replace(/\/+$/, '') }
}

/** Every vector has one of the countries. */
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
