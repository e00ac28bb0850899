import type { VectorNodes, VectorShard } from '#shared/figures'
import { openQdrant, type QdrantSettings, type Server } from './qdrant.ts'

/** Qdrant reports this state for a copy of a shard that answers searches. */
export const ACTIVE = 'Active'

const TIMEOUT = 3_000

/**
 * Reads the nodes of Qdrant.
 *
 * @param collection the collection whose shards are read; null: no shards
 * @returns null: there is no Qdrant
 */
export async function readVectorNodes(
  config: QdrantSettings,
  collection: string | null,
): Promise<VectorNodes | null> {
  if (config.QDRANT_URL === '') return null
  const { ask } = openQdrant(config, TIMEOUT)
  return ask(async ({ api, via }) => {
    const { result: cluster } = (await api.clusterStatus({}, via)).data
    if (cluster?.status !== 'enabled') return { nodes: [], unreachable: [], shards: [] }
    // Ids are larger than JavaScript numbers can represent. As text they stay exact.
    const hosts = new Map(
      Object.entries(cluster.peers).map(([id, peer]) => [id, hostOf(peer?.uri ?? '')]),
    )
    return {
      nodes: [...hosts.values()].sort(),
      unreachable: Object.keys(cluster.message_send_failures).map(hostOf).sort(),
      shards: collection === null ? [] : await readShards({ api, via }, collection, hosts),
    }
  })
}

/** Reads the copies of a collection's shards. Empty if the collection does not exist yet. */
async function readShards(
  { api, via }: Pick<Server, 'api' | 'via'>,
  collection: string,
  hosts: ReadonlyMap<string, string>,
): Promise<VectorShard[]> {
  const name = { collection_name: collection }
  if (!(await api.collectionExists(name, via)).data.result?.exists) return []
  const { result: placed } = (await api.collectionClusterInfo(name, via)).data
  if (placed === undefined) return []
  const { peer_id, local_shards, remote_shards } = placed
  const copies = [...local_shards.map(shard => ({ ...shard, peer_id })), ...remote_shards]
  return [...Map.groupBy(copies, ({ shard_id }) => shard_id)]
    .map(([shard, all]) => ({
      shard,
      copies: all.map(({ peer_id, state }) => ({
        node: hosts.get(String(peer_id)) ?? 'a node that left',
        state,
      })),
    }))
    .sort((a, b) => a.shard - b.shard)
}

const hostOf = (uri: string): string => URL.parse(uri)?.hostname ?? uri
