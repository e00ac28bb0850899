import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import type { DataDirectory } from '../../../infra/embedded/data-directory.ts'
import type { EmbeddedServers } from '../../../infra/embedded/servers.ts'
import { openIndex, SEARCH_SETTINGS, type SearchIndex } from '../../../search/index.ts'
import { createPool, type Pool } from '../../../shared/postgres/pool.ts'
import type { QueryClass } from '../classes.ts'
import { shuffled } from '../generator.ts'
import { databaseMb, openApi } from './api.ts'
import { type Orders, readDocuments, readOrders } from './documents.ts'
import type { Running } from './line-program.ts'
import { openLucene } from './lucene/lucene.ts'
import { type Compared, type ComparedClass, compareClass, warmUp } from './measure.ts'
import type { Peer, PeerKey } from './peer.ts'
import { openPostgres } from './postgres.ts'
import { type EngineSize, figuresOf, report } from './report.ts'
import { memoryMb } from './usage.ts'

/** The inputs of the comparison. */
interface PeerBench {
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

interface Opening {
  dataDir: DataDirectory
  servers: EmbeddedServers
  /** Address of Perscope's archive, and a pool on it. */
  url: string
  pool: Pool
  orders: Orders
  running: Running
}

/** @returns null, with a sentence to `running.report`, where the engine cannot run here */
export async function openPeer(key: PeerKey, opening: Opening): Promise<Peer | null> {
  const { dataDir, servers, url, pool, orders, running } = opening
  const name = await nameOf(key, url)
  switch (key) {
    case 'api':
      return openApi(servers, dataDir, url, pool)
    case 'postgres':
      return openPostgres(servers.addresses.DATABASE_URL!, name)
    case 'lucene':
      return openLucene(join(dataDir.path, 'lucene'), name, orders, running)
  }
}

/** Files that decide what a peer's index holds, beside `documents.ts`. */
const RECIPES: Record<PeerKey, string[]> = {
  api: [],
  postgres: ['postgres.ts'],
  lucene: ['lucene/Lucene.java'],
}

/** Where the queries of such a file begin; all that follows is about them. */
const QUERIES = /\n(?:(?:async )?function (?:ask|pageOf|conditionsOf)|def compile| *static void serve)\b[\s\S]*$/

/** Another archive, or another way to store it, gets another name. */
async function nameOf(key: PeerKey, url: string): Promise<string> {
  const hash = createHash('sha256')
  for (const file of ['documents.ts', ...RECIPES[key]]) {
    const text = await readFile(new URL(`./${file}`, import.meta.url), 'utf8')
    // Covers the tables and the data in them, not the queries.
    hash.update(text.replace(QUERIES, ''))
  }
  return `peer_${new URL(url).pathname.slice(7)}_${hash.digest('hex').slice(0, 8)}`
}

/** Where the articles come from, and who waits for them. */
interface Building {
  pool: Pool
  index: SearchIndex
  orders: Orders
  signal: AbortSignal
  say: (line: string) => void
}

/** How long building took, over all runs that had a part in it. */
interface BuildTimes {
  /** Seconds; null: unknown. */
  read(peer: Peer): Promise<number | null>
  write(peer: Peer, seconds: number): Promise<void>
}

/** @param names of the peers' indexes */
function openBuildTimes(dataDir: string, names: Map<Peer, string>): BuildTimes {
  const folder = join(dataDir, 'peers')
  const file = (peer: Peer) => join(folder, `${peer.key}-${names.get(peer)}.json`)
  return {
    async read(peer) {
      const text = await readFile(file(peer), 'utf8').catch(() => null)
      return text === null ? null : JSON.parse(text).seconds
    },
    async write(peer, seconds) {
      await mkdir(folder, { recursive: true })
      await writeFile(file(peer), JSON.stringify({ seconds }))
    },
  }
}

const SAID_EVERY = 20_000

/**
 * Gives the articles to all peers that lack them. An interrupted run leaves what it gave, and the
 * next one goes on from there.
 */
async function buildPeers(building: Building, peers: Peer[], times: BuildTimes): Promise<void> {
  const { pool, index, orders, signal, say } = building
  const unbuilt = peers.filter(peer => !peer.built)
  if (unbuilt.length === 0) return
  const seconds = new Map<Peer, number>()
  for (const peer of unbuilt) seconds.set(peer, peer.present === 0 ? 0 : ((await times.read(peer)) ?? 0))
  const timed = async (peer: Peer, work: () => Promise<void>) => {
    const start = performance.now()
    await work()
    seconds.set(peer, seconds.get(peer)! + (performance.now() - start) / 1_000)
    await times.write(peer, seconds.get(peer)!)
  }
  const first = 1 + Math.min(...unbuilt.map(peer => peer.present))
  if (first > 1) say(`Building goes on at article ${first} of ${orders.rows}`)
  for await (const documents of readDocuments(pool, index, orders, first)) {
    signal.throwIfAborted()
    // One peer after the other, so that they do not slow each other down.
    for (const peer of unbuilt) {
      const lacking = documents.filter(one => one.place > peer.present)
      if (lacking.length > 0) await timed(peer, () => peer.add(lacking))
    }
    const count = documents.at(-1)!.place
    if (count % SAID_EVERY < documents.length) say(`${count} of ${orders.rows} articles given to the peers`)
  }
  for (const peer of unbuilt) {
    signal.throwIfAborted()
    await timed(peer, () => peer.finish())
    say(`${peer.title}: built in ${Math.round(seconds.get(peer)!)} s`)
  }
}
