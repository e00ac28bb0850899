import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { qdrantPackage } from '#infra/embedded/servers'
import { isRecord } from '#shared/encoding/is-record'
import { until } from '#test/fleet'
import type { Box } from '#test/fleet/hosts/box'
import type { Host } from '#test/fleet/hosts/host'
import { startHaproxy } from './haproxy.ts'
import { operatorsFile, operatorsSettings, unitScript } from './operators-file.ts'

const START_MS = 60_000
const ANSWER_MS = 2_000
export const QDRANT_API_KEY = 'of-the-run'

/** A copy of a shard, as a node knows it. */
export interface Copy {
  shard: number
  points: number
  state: string
}

/** One node of a cluster of Qdrant. */
export interface QdrantNode {
  host: Host
  url: string
  isReady(): Promise<boolean>
  /** The copies of a collection that lie on this node. */
  copies(collection: string): Promise<{ shard: number; points: number; state: string }[]>
  /** The states of all copies on all nodes, as this node knows them. */
  states(collection: string): Promise<string[]>
}

/** Starts a node of one cluster on each host, as its unit does (`infra/ha/qdrant`). */
export async function startQdrant(box: Box, hosts: readonly Host[]): Promise<QdrantNode[]> {
  const script = unitScript('qdrant.service')
    .replace('/usr/local/bin/qdrant', `'${join(await qdrantPackage(), 'bin', 'qdrant')}'`)
    .replace('/etc/perscope/qdrant.yml', `'${operatorsFile('qdrant/config.yml')}'`)
  const peer = (host: Host | undefined) => `http://${host?.address}:${box.network.port(6335)}`
  const nodes: QdrantNode[] = []
  for (const host of hosts) {
    // systemd gives the service a folder with its credentials.
    await writeFile(join(host.folder, 'qdrant-api-key'), `${QDRANT_API_KEY}\n`, { mode: 0o600 })
    await host.start({
      name: 'qdrant',
      command: '/bin/sh',
      args: ['-euc', script],
      env: {
        CREDENTIALS_DIRECTORY: host.folder,
        ...operatorsSettings('qdrant/qdrant-host.env'),
        QDRANT__SERVICE__HOST: host.address,
        QDRANT_URI: peer(host),
        ...(nodes.length > 0 && { QDRANT_BOOTSTRAP: peer(hosts[0]) }),
        QDRANT__SERVICE__HTTP_PORT: String(box.network.port(6333)),
        QDRANT__CLUSTER__P2P__PORT: String(box.network.port(6335)),
        QDRANT__STORAGE__STORAGE_PATH: join(host.folder, 'storage'),
        QDRANT__STORAGE__SNAPSHOTS_PATH: join(host.folder, 'snapshots'),
      },
    })
    const node = nodeAt(host, `http://${host.address}:${box.network.port(6333)}`)
    await until(node.isReady, START_MS, () => `Qdrant does not start on ${host.name}; see its log.`)
    nodes.push(node)
  }
  return nodes
}

export interface QdrantSettings {
  QDRANT_URL: string
  QDRANT_API_KEY: string
}

/**
 * Starts HAProxy before the nodes, on a host of services (`infra/ha/haproxy/qdrant.cfg`).
 * @returns QDRANT_URL and QDRANT_API_KEY
 */
export async function startQdrantProxy(
  box: Box,
  host: Host,
  nodes: readonly QdrantNode[],
): Promise<QdrantSettings> {
  const bind = `${host.address}:${box.network.port(6330)}`
  const at = (index: number) => new URL(nodes[index]?.url ?? '').host
  const own = { QDRANT_PROXY: bind, QDRANT_1: at(0), QDRANT_2: at(1), QDRANT_3: at(2) }
  await startHaproxy(host, 'qdrant.cfg', { ...operatorsSettings('haproxy/qdrant.env'), ...own })
  const answers = async () =>
    (await fetch(`http://${bind}/readyz`, { signal: AbortSignal.timeout(ANSWER_MS) })).ok
  await until(answers, START_MS, () => `HAProxy does not start on ${host.name}; see its log.`)
  return { QDRANT_URL: `http://${bind}`, QDRANT_API_KEY }
}

function nodeAt(host: Host, url: string): QdrantNode {
  async function shardsOf(collection: string, place: 'local_shards' | 'remote_shards') {
    const answer = await fetch(`${url}/collections/${collection}/cluster`, {
      headers: { 'api-key': QDRANT_API_KEY },
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    if (!answer.ok) throw new Error(`Qdrant on ${host.name} says ${answer.status}.`)
    const { [place]: shards } = resultOf(await answer.json())
    if (!Array.isArray(shards)) throw new Error(`Qdrant on ${host.name} tells no shards.`)
    return shards.map(({ shard_id, points_count, state }) => ({
      shard: Number(shard_id),
      points: Number(points_count),
      state: String(state),
    }))
  }
  return {
    host,
    url,
    isReady: async () =>
      (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(ANSWER_MS) })).ok,
    copies: collection => shardsOf(collection, 'local_shards'),
    async states(collection) {
      const all = [
        ...(await shardsOf(collection, 'local_shards')),
        ...(await shardsOf(collection, 'remote_shards')),
      ]
      return all.map(({ state }) => state)
    },
  }
}

function resultOf(answer: unknown): Record<string, unknown> {
  return isRecord(answer) && isRecord(answer.result) ? answer.result : {}
}

/** All nodes know all copies as active. */
export async function isWhole(
  nodes: readonly QdrantNode[],
  collection: string,
  copies: number,
): Promise<boolean> {
  const known = await Promise.all(nodes.map(node => node.states(collection)))
  return known.every(
    states => states.length === copies && states.every(state => state === 'Active'),
  )
}

/**
 * Reads the points that all copies of their shard hold with the same vector and payload. A point
 * that one copy lacks is not among them.
 */
export async function pointsOnAllCopies(url: string, collection: string): Promise<Set<bigint>> {
  const found = new Set<bigint>()
  for (let offset: unknown = 0; typeof offset === 'number'; ) {
    const answer = await fetch(`${url}/collections/${collection}/points/scroll?consistency=all`, {
      method: 'POST',
      headers: { 'api-key': QDRANT_API_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ offset, limit: 500, with_vector: true, with_payload: true }),
      signal: AbortSignal.timeout(START_MS),
    })
    const { points, next_page_offset: next } = resultOf(await answer.json())
    if (!Array.isArray(points))
      throw new Error(`Qdrant answers ${answer.status} to a question for all copies.`)
    for (const { id } of points) found.add(BigInt(id))
    offset = next
  }
  return found
}
