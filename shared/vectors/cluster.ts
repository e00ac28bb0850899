import { Agent, fetch } from 'undici'
import { trustOf } from '../config/tls.ts'
import { isRecord } from '../encoding/is-record.ts'
import type { VectorNodes, VectorShard } from '../status/figures.ts'
import type { QdrantSettings } from './qdrant.ts'

/** The state of a copy that answers searches. */
export const ACTIVE = 'Active'

const TIMEOUT = 3_000

/**
 * Asks Qdrant for its nodes.
 *
 * @param collection whose shards are read; null: none
 * @returns null without a Qdrant
 */
export async function readVectorNodes(
  { QDRANT_URL, QDRANT_API_KEY, TLS_CA_FILE = '' }: QdrantSettings,
  collection: string | null,
): Promise<VectorNodes | null> {
  if (QDRANT_URL === '') return null
  const url = new URL(QDRANT_URL)
  // Qdrant's own port, as its client takes it.
  if (url.port === '' && url.protocol === 'http:') url.port = '6333'
  const base = url.href.replace(/\/+$/, '')
  const headers = QDRANT_API_KEY === '' ? {} : { 'api-key': QDRANT_API_KEY }
  const dispatcher = new Agent({ connect: { timeout: TIMEOUT, ...trustOf({ TLS_CA_FILE }) } })
  const ask = async (path: string): Promise<Record<string, unknown> | null> => {
    const answer = await fetch(`${base}${path}`, { headers, dispatcher, signal: AbortSignal.timeout(TIMEOUT) })
    // The collection may not have been made yet.
    if (answer.status === 404) return null
    if (!answer.ok) throw new Error(`Qdrant answers ${answer.status}.`)
    const body: unknown = await answer.json()
    return isRecord(body) && isRecord(body.result) ? body.result : null
  }
  try {
    const cluster = await ask('/cluster')
    if (cluster?.status !== 'enabled') return { nodes: [], unreachable: [], shards: [] }
    const placed = collection === null ? null : await ask(`/collections/${encodeURIComponent(collection)}/cluster`)
    return nodesOf(cluster, placed)
  } finally {
    await dispatcher.destroy()
  }
}

function nodesOf(cluster: Record<string, unknown>, placed: Record<string, unknown> | null): VectorNodes {
  const hosts = new Map<number, string>()
  for (const [id, peer] of Object.entries(isRecord(cluster.peers) ? cluster.peers : {})) {
    // Ids are larger than numbers of JavaScript tell apart exactly, and are cut alike everywhere.
    if (isRecord(peer)) hosts.set(Number(id), hostOf(peer.uri))
  }
  const failures = isRecord(cluster.message_send_failures) ? Object.keys(cluster.message_send_failures) : []
  const shards = new Map<number, VectorShard>()
  const add = (one: unknown, peer: unknown) => {
    if (!isRecord(one)) return
    const number = Number(one.shard_id)
    const shard = shards.get(number) ?? { shard: number, copies: [] }
    shard.copies.push({ node: hosts.get(Number(peer)) ?? 'a node that left', state: String(one.state) })
    shards.set(number, shard)
  }
  for (const one of listOf(placed?.local_shards)) add(one, placed?.peer_id)
  for (const one of listOf(placed?.remote_shards)) add(one, isRecord(one) ? one.peer_id : null)
  return {
    nodes: [...hosts.values()].sort(),
    unreachable: failures.map(hostOf).sort(),
    shards: [...shards.values()].sort((a, b) => a.shard - b.shard),
  }
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

const hostOf = (uri: unknown): string => URL.parse(String(uri))?.hostname ?? String(uri)
