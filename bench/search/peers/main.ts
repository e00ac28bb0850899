import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import type { DataDirectory } from '../../../infra/embedded/data-directory/open.ts'
import type { EmbeddedServers } from '../../../infra/embedded/servers.ts'
import { openIndex, SEARCH_SETTINGS } from '../../../search/index.ts'
import { createPool, type Pool } from '../../../shared/postgres/pool.ts'
import type { QueryClass } from '../classes.ts'
import { type Orders, readDocuments, readOrders } from './documents.ts'
import { openMariadb } from './mariadb.ts'
import { type ComparedClass, compareClass } from './measure.ts'
import type { Peer } from './peer.ts'
import { openPostgres } from './postgres.ts'
import { figuresOf, report } from './report.ts'
import { openSqlite } from './sqlite.ts'
import { openTantivy } from './tantivy.ts'

/** The inputs of the comparison. */
export interface PeerBench {
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
  const { url, classes, signal, say } = bench
  const pool = createPool(url, 'bench', () => {}, { settings: SEARCH_SETTINGS })
  const index = openIndex(pool)
  const peers: Peer[] = []
  try {
    say('Reading the orders of the archive …')
    const orders = await readOrders(pool)
    await openPeers(bench, orders, peers)
    await build(bench, pool, orders, peers)
    const results: ComparedClass[] = []
    for (const one of classes) {
      const result = await compareClass({ pool, index }, peers, orders, one).catch(error => {
        if (!signal.aborted) throw error
      })
      if (signal.aborted || !result) break
      results.push(result)
      if (results.length % 50 === 0) say(`${results.length} of ${classes.length} classes`)
    }
    // A run that is interrupted reports its results so far.
    if (results.length === 0) signal.throwIfAborted()
    report(results, peers, say)
    const load = loadavg().map(minutes => minutes.toFixed(1))
    say(`${cpus().length} processors; load ${load.join(', ')} over 1, 5, 15 minutes`)
    signal.throwIfAborted()
    return figuresOf(results)
  } finally {
    for (const peer of peers) await peer.close().catch(error => say(`${peer.title}: ${error.message}`))
    await pool.end()
  }
}

async function openPeers(bench: PeerBench, orders: Orders, peers: Peer[]): Promise<void> {
  const { dataDir, servers, url, signal, say } = bench
  // Another archive, or another way to store it, gets another database.
  const name = `peer_${new URL(url).pathname.slice(7)}_${await recipe()}`
  const running = { family: servers.family, signal, report: say }
  peers.push(await openPostgres(servers.addresses.DATABASE_URL!, name))
  peers.push(await openSqlite(join(dataDir.path, `${name}.sqlite`)))
  const mariadb = await openMariadb(join(dataDir.path, 'mariadb'), name, orders, servers, running)
  if (mariadb !== null) peers.push(mariadb)
  const tantivy = await openTantivy(join(dataDir.path, 'tantivy'), name, orders, running)
  if (tantivy !== null) peers.push(tantivy)
}

/** Gives the articles to all peers that lack them. */
async function build({ signal, say }: PeerBench, pool: Pool, orders: Orders, peers: Peer[]): Promise<void> {
  const unbuilt = peers.filter(peer => !peer.built)
  if (unbuilt.length === 0) return
  const seconds = new Map(unbuilt.map(peer => [peer, 0]))
  const timed = async (peer: Peer, work: () => Promise<void>) => {
    const start = performance.now()
    await work()
    seconds.set(peer, seconds.get(peer)! + (performance.now() - start) / 1_000)
  }
  let count = 0
  for await (const documents of readDocuments(pool, orders)) {
    signal.throwIfAborted()
    // One peer after the other, so that they do not slow each other down.
    for (const peer of unbuilt) await timed(peer, () => peer.add(documents))
    count += documents.length
    if (count % 20_000 < documents.length) say(`${count} of ${orders.rows} articles given to the peers`)
  }
  for (const peer of unbuilt) {
    signal.throwIfAborted()
    await timed(peer, () => peer.finish())
    say(`${peer.title}: built in ${Math.round(seconds.get(peer)!)} s`)
  }
}

/** Changes with everything that affects the peers' data. */
async function recipe(): Promise<string> {
  const hash = createHash('sha256')
  for (const file of ['documents', 'postgres', 'sqlite', 'mariadb']) {
    const text = await readFile(new URL(`./${file}.ts`, import.meta.url), 'utf8')
    // Covers the tables and the data in them, not the queries.
    hash.update(text.replace(/\n(?:async )?function (?:ask|pageOf|conditionsOf)\b[\s\S]*$/, ''))
  }
  hash.update(await readFile(new URL('./tantivy.py', import.meta.url)))
  return hash.digest('hex').slice(0, 8)
}
