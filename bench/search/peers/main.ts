import { cpus, loadavg } from 'node:os'
import type { DataDirectory } from '../../../infra/embedded/data-directory.ts'
import type { EmbeddedServers } from '../../../infra/embedded/servers.ts'
import { openIndex, SEARCH_SETTINGS } from '../../../search/index.ts'
import { createPool } from '../../../shared/postgres/pool.ts'
import type { QueryClass } from '../classes.ts'
import { shuffled } from '../shuffled.ts'
import { databaseMb } from './api.ts'
import { type BuildTimes, buildPeers, openBuildTimes } from './build.ts'
import { type Orders, readOrders } from './documents.ts'
import { type Compared, type ComparedClass, compareClass, warmUp } from './measure.ts'
import { nameOf, type Opening, openPeer } from './open.ts'
import type { Peer, PeerKey } from './peer.ts'
import { type EngineSize, figuresOf, report } from './report.ts'
import { memoryMb } from './usage.ts'

/** The inputs of the comparison. */
export interface PeerBench {
  /** The engines to ask. */
  peers: readonly PeerKey[]
  dataDir: DataDirectory
  servers: EmbeddedServers
  /** Address of Perscope's archive. */
  url: string
  classes: QueryClass[]
  signal: AbortSignal
  say: (line: string) => void
}

/**
 * Asks Perscope and other engines the same questions of the same articles, cut into the same words,
 * and compares every answer with Perscope's. The indexes of the peers are kept for the next run, as
 * the archive is.
 *
 * @returns figures of Perscope under their usual names, of a peer as `peer_KEY_p50_ms` …
 */
export async function comparePeers(bench: PeerBench): Promise<Record<string, number>> {
  const { url, signal, say, dataDir, servers } = bench
  const pool = createPool(url, 'bench', () => {}, { settings: SEARCH_SETTINGS })
  const index = openIndex(pool)
  const peers: Peer[] = []
  const names = new Map<Peer, string>()
  try {
    say('Reading the orders of the archive …')
    const orders = await readOrders(pool)
    const running = { family: servers.family, signal, report: say }
    for (const key of bench.peers) {
      const peer = await openPeer(key, { dataDir, servers, url, pool, orders, running } satisfies Opening)
      if (peer === null) continue
      peers.push(peer)
      names.set(peer, await nameOf(key, url))
    }
    const times = openBuildTimes(dataDir.path, names)
    await buildPeers({ pool, index, orders, signal, say }, peers, times)
    const results = await compareClasses(bench, { pool, index }, peers, orders)
    const sizes = await sizesOf(peers, times)
    sizes.set('perscope', { memory: memoryMb([process.pid]), disk: await databaseMb(pool), built: null })
    report(results, peers, sizes, say)
    const load = loadavg().map(minutes => minutes.toFixed(1))
    say(`${cpus().length} processors; load ${load.join(', ')} over 1, 5, 15 minutes`)
    signal.throwIfAborted()
    return figuresOf(results, sizes)
  } finally {
    for (const peer of peers) await peer.close().catch(error => say(`${peer.title}: ${error.message}`))
    await index.close()
    await pool.end()
  }
}

/**
 * A run that is interrupted reports its results so far. They are of all kinds, because the classes
 * come in random order.
 */
async function compareClasses(
  { classes, signal, say }: PeerBench,
  perscope: Compared,
  peers: Peer[],
  orders: Orders,
): Promise<ComparedClass[]> {
  const results: ComparedClass[] = []
  const mixed = shuffled(classes)
  for (const one of mixed) {
    signal.throwIfAborted()
    await warmUp(perscope, peers, orders, one)
  }
  for (const one of mixed) {
    const result = await compareClass(perscope, peers, orders, one).catch(error => {
      if (!signal.aborted) throw error
    })
    if (signal.aborted || !result) break
    results.push(result)
    if (results.length % 50 === 0) say(`${results.length} of ${classes.length} classes`)
  }
  if (results.length === 0) signal.throwIfAborted()
  return results
}

async function sizesOf(peers: Peer[], times: BuildTimes): Promise<Map<string, EngineSize>> {
  const sizes = new Map<string, EngineSize>()
  for (const peer of peers) sizes.set(peer.key, { ...(await peer.size()), built: await times.read(peer) })
  return sizes
}
