import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DataDirectory } from '../../../infra/embedded/data-directory.ts'
import type { EmbeddedServers } from '../../../infra/embedded/servers.ts'
import { openIndex, SEARCH_SETTINGS } from '../../../search/index.ts'
import { createPool } from '../../../shared/postgres/pool.ts'
import type { QueryClass } from '../classes.ts'
import { shuffled } from '../generator.ts'
import { quantile } from '../measure.ts'
import { readDocuments, readOrders } from './documents.ts'
import { openLucene } from './lucene/lucene.ts'
import { type ComparedClass, compareClass, warmUp } from './measure.ts'
import type { Peer, PeerKey } from './peer.ts'
import { openPostgres } from './postgres.ts'

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
  const { url, signal, say, dataDir, servers, classes } = bench
  const pool = createPool(url, 'bench', () => {}, { settings: SEARCH_SETTINGS })
  const index = openIndex(pool)
  const peers: Peer[] = []
  try {
    const orders = await readOrders(pool)
    const running = { family: servers.family, signal, report: say }
    for (const key of bench.peers) {
      const name = await nameOf(key, url)
      const peer =
        key === 'postgres'
          ? await openPostgres(servers.addresses.DATABASE_URL!, name)
          : await openLucene(join(dataDir.path, 'lucene'), name, orders, running)
      if (peer !== null) peers.push(peer)
    }
    const unbuilt = peers.filter(peer => !peer.built)
    if (unbuilt.length > 0) {
      say(`Giving ${orders.rows} articles to ${unbuilt.map(peer => peer.title).join(' and ')} …`)
      for await (const documents of readDocuments(pool, index, orders)) {
        signal.throwIfAborted()
        for (const peer of unbuilt) await peer.add(documents)
      }
      for (const peer of unbuilt) await peer.finish()
    }
    const mixed = shuffled(classes)
    for (const one of mixed) {
      signal.throwIfAborted()
      await warmUp({ pool, index }, peers, orders, one)
    }
    const results: ComparedClass[] = []
    for (const one of mixed) {
      signal.throwIfAborted()
      results.push(await compareClass({ pool, index }, peers, orders, one))
    }
    for (const { title, settings } of peers) say(`${title}: ${settings}`)
    return figuresOf(results, say)
  } finally {
    for (const peer of peers) await peer.close().catch(error => say(`${peer.title}: ${error.message}`))
    await index.close()
    await pool.end()
  }
}

/** Files that decide what a peer's index holds, beside `documents.ts`. */
const RECIPES: Record<PeerKey, string> = { postgres: 'postgres.ts', lucene: 'lucene/Lucene.java' }

/** Another archive, or another way to store it, gets another name. */
async function nameOf(key: PeerKey, url: string): Promise<string> {
  const hash = createHash('sha256')
  for (const file of ['documents.ts', RECIPES[key]])
    hash.update(await readFile(new URL(`./${file}`, import.meta.url), 'utf8'))
  return `peer_${new URL(url).pathname.slice(7)}_${hash.digest('hex').slice(0, 8)}`
}

const MISMATCHES_SHOWN = 5

/** Perscope's figures, and the same figures of each peer with its name as a prefix. */
function figuresOf(results: ComparedClass[], say: (line: string) => void): Record<string, number> {
  const figures: Record<string, number> = { classes: results.length }
  for (const key of results[0]?.engines.keys() ?? []) {
    const own = results.map(one => one.engines.get(key)!)
    const name = key === 'perscope' ? '' : `peer_${key}_`
    const times = own.flatMap(one => one.times)
    for (const part of [0.5, 0.95, 0.99]) figures[`${name}p${part * 100}_ms`] = rounded(quantile(times, part))
    figures[`${name}worst_class_ms`] = rounded(Math.max(...own.map(one => quantile(one.times, 0.5))))
    if (key === 'perscope') continue
    const mismatches = own.flatMap(one => one.mismatches)
    for (const one of mismatches.slice(0, MISMATCHES_SHOWN)) say(`  ${one}`)
    figures[`${name}compared`] = own.reduce((sum, one) => sum + one.compared, 0)
    figures[`${name}mismatches`] = mismatches.length
    figures[`${name}over_limit`] = own.reduce((sum, one) => sum + one.overLimit, 0)
  }
  return figures
}

const rounded = (ms: number) => Math.round(ms * 100) / 100
