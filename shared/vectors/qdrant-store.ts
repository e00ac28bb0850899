import { isDeepStrictEqual } from 'node:util'
import { COUNTRIES } from '#shared/articles/article'
import { idIn } from './nearest.ts'
import { type Ask, openQdrant, type QdrantSettings, type Server } from './qdrant.ts'
import {
  COLLECTION,
  type Layout,
  type LayoutSettings,
  layoutOf,
  layoutWarning,
  PAYLOAD_INDEXES,
  searchParameters,
} from './registry.ts'
import {
  type ArticleVector,
  type NearArticle,
  type Reach,
  type StoredPoint,
  VectorFailure,
  type VectorStore,
} from './store.ts'

/** @param timeout ms that a request may take. Use a short time if a user waits. */
export function openVectorStore(
  config: QdrantSettings & LayoutSettings,
  timeout = 15_000,
): VectorStore {
  const { ask, obstacle } = openQdrant(config, timeout)
  const layout = layoutOf(config)
  return {
    obstacle,
    ping: () => ask(async ({ api, via }) => void (await api.getCollections({}, via))),
    ensure: (collection, dimensions) => ensureCollection(ask, collection, dimensions, layout),
    layoutWarning: collection => compareLayout(ask, collection, layout),
    async unindexed(collection) {
      const name = { collection_name: collection }
      const { data } = await ask(({ api, via }) => api.getCollection(name, via))
      const indexed = resultOf(data.result).payload_schema
      const lacks = ([field, schema]: (typeof PAYLOAD_INDEXES)[number]) =>
        indexed[field]?.data_type !== (typeof schema === 'string' ? schema : schema.type)
      return PAYLOAD_INDEXES.filter(lacks).map(([field]) => field)
    },
    count: collection => countVectors(ask, collection),
    upsert: (collection, vectors) => ask(server => upsertVectors(server, collection, vectors)),
    search: (collection, vector, reach, limit) =>
      ask(server => findNearest(server, collection, { vector, reach, limit })),
    around: (collection, { seq, id }, reach, limit, least) =>
      ask(async server => {
        const [own] = await readVectors(server, collection, [seq])
        if (own === undefined || !['', id].includes(own.id)) return null
        const filter = { ...reachFilter(reach), must_not: [{ has_id: [Number(seq)] }] }
        return server.nearest(collection, {
          query: own.vector,
          limit,
          filter,
          // Qdrant's graph has links of its own between vectors of near days. So the walk misses
          // few vectors without ACORN, which takes several times as long. With one country alone it
          // would miss too many.
          params: searchParameters(limit, { exact: false, part: reach.countries.length === 1 }),
          ...(least === null ? {} : { score_threshold: least }),
        })
      }),
    list: (collection, from, limit) => ask(server => listPoints(server, collection, from, limit)),
    read: (collection, seqs) => ask(server => readVectors(server, collection, seqs)),
    finds: (collection, seq, vector) =>
      ask(async ({ nearest }) => {
        const own = { must: [{ has_id: [Number(seq)] }] }
        return (await nearest(collection, { query: vector, limit: 1, filter: own })).length === 1
      }),
    async remove(collection, seqs) {
      if (seqs.length === 0) return
      const points = seqs.map(Number)
      await unlessMissing(
        ask(({ api, via }) =>
          api.deletePoints({ collection_name: collection, wait: true, points }, via),
        ),
      )
    },
    point: (alias, collection) => ask(server => pointAlias(server, alias, collection)),
    drop: collection =>
      ask(
        async ({ api, via }) =>
          void (await api.deleteCollection({ collection_name: collection }, via)),
      ),
  }
}

/**
 * Seconds that Qdrant waits for all nodes of its cluster. A node that is away does not block it
 * longer.
 */
const CREATION = 5

async function ensureCollection(
  ask: Ask,
  collection: string,
  dimensions: number,
  layout: Layout,
): Promise<boolean> {
  const name = { collection_name: collection }
  const exists = () =>
    ask(
      async ({ api, via }) => (await api.collectionExists(name, via)).data.result?.exists === true,
    )
  const isNew = !(await exists())
  if (isNew) {
    try {
      await ask(({ api, via }) =>
        api.createCollection(
          { ...name, ...COLLECTION(dimensions), ...layout, timeout: CREATION },
          via,
        ),
      )
    } catch (error) {
      // Another process has made the collection meanwhile.
      if (!(error instanceof VectorFailure) || error.kind !== 'refused' || !(await exists()))
        throw error
    }
  }
  // The process that made the collection may have died before it made the indexes. An existing
  // index stays as it is.
  for (const [field, schema] of PAYLOAD_INDEXES) {
    await ask(({ api, via }) =>
      api.createFieldIndex({ ...name, field_name: field, field_schema: schema, wait: true }, via),
    )
  }
  return isNew
}

async function compareLayout(ask: Ask, collection: string, wanted: Layout): Promise<string | null> {
  const read = ask(({ api, via }) => api.getCollection({ collection_name: collection }, via))
  const params = (await unlessMissing(read))?.data.result?.config.params
  if (params === undefined) return null
  const present: Layout = {
    shard_number: params.shard_number ?? 1,
    replication_factor: params.replication_factor ?? 1,
    write_consistency_factor: params.write_consistency_factor ?? 1,
  }
  return isDeepStrictEqual(present, wanted) ? null : layoutWarning(collection, present, wanted)
}

async function countVectors(ask: Ask, collection: string): Promise<number | null> {
  const counted = ask(({ api, via }) =>
    api.countPoints({ collection_name: collection, exact: true }, via),
  )
  const answer = await unlessMissing(counted)
  return answer === null ? null : resultOf(answer.data.result).count
}

/** Waits for an answer; null: the collection does not exist. */
async function unlessMissing<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof VectorFailure && error.kind === 'missing') return null
    throw error
  }
}

async function upsertVectors(
  { api, via }: Server,
  collection: string,
  vectors: ArticleVector[],
): Promise<void> {
  if (vectors.length === 0) return
  await api.upsertPoints(
    {
      collection_name: collection,
      wait: true,
      points: vectors.map(({ seq, id, vector, country, coveredAt }) => ({
        id: Number(seq),
        vector,
        payload: { id, country, ...(coveredAt === null ? {} : { covered_at: coveredAt }) },
      })),
    },
    via,
  )
}

async function findNearest(
  { nearest }: Server,
  collection: string,
  { vector, reach, limit }: { vector: number[]; reach: Reach; limit: number },
): Promise<NearArticle[]> {
  const find = (exact: boolean) =>
    nearest(collection, {
      query: vector,
      limit,
      filter: reachFilter(reach),
      params: searchParameters(limit, { exact, part: !isWhole(reach) }),
    })
  const found = await find(false)
  // If few articles match the filter, the walk through the graph may miss some of them. An exact
  // search then looks at each article.
  return found.length < limit ? find(true) : found
}

async function listPoints({ api, via }: Server, collection: string, from: bigint, limit: number) {
  const { data } = await api.scrollPoints(
    {
      collection_name: collection,
      offset: Number(from),
      limit,
      with_payload: ['id', 'country', 'covered_at'],
      with_vector: false,
    },
    via,
  )
  const page = resultOf(data.result)
  const next = page.next_page_offset
  return {
    points: page.points.map(
      ({ id, payload }): StoredPoint => ({
        seq: BigInt(id),
        id: idIn(payload),
        country: String(payload?.country ?? ''),
        coveredAt: typeof payload?.covered_at === 'number' ? payload.covered_at : null,
      }),
    ),
    next: typeof next === 'number' || typeof next === 'bigint' ? BigInt(next) : null,
  }
}

async function readVectors({ api, via }: Server, collection: string, seqs: bigint[]) {
  const { data } = await api.getPoints(
    { collection_name: collection, ids: seqs.map(Number), with_payload: ['id'], with_vector: true },
    via,
  )
  return resultOf(data.result).flatMap(({ id, vector, payload }) =>
    Array.isArray(vector) && vector.every(one => typeof one === 'number')
      ? [{ seq: BigInt(id), id: idIn(payload), vector }]
      : [],
  )
}

async function pointAlias({ api, via }: Server, alias: string, collection: string): Promise<void> {
  const { aliases } = resultOf((await api.getCollectionsAliases({}, via)).data.result)
  if (aliases.some(one => one.alias_name === alias && one.collection_name === collection)) return
  await api.updateAliases(
    {
      actions: [
        ...(aliases.some(one => one.alias_name === alias)
          ? [{ delete_alias: { alias_name: alias } }]
          : []),
        { create_alias: { alias_name: alias, collection_name: collection } },
      ],
    },
    via,
  )
}

/** The result of an answer. By Qdrant's description of its API, the result may be missing. */
function resultOf<T>(result: T | undefined): T {
  if (result === undefined)
    throw new VectorFailure('unavailable', 'Qdrant answers without a result.')
  return result
}

/**
 * Whether the reach has all countries. Such a reach needs no filter by country, because every
 * vector belongs to one of our countries.
 */
const isWhole = ({ countries }: Reach) => countries.length === COUNTRIES.length

function reachFilter(reach: Reach) {
  const { countries, since, until } = reach
  return {
    must: [
      ...(isWhole(reach) ? [] : [{ key: 'country', match: { any: countries } }]),
      { key: 'covered_at', range: { gte: since, ...(until === undefined ? {} : { lte: until }) } },
    ],
  }
}
