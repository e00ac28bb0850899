import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SearchIndex } from '../../../search/index.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import { type Orders, readDocuments } from './documents.ts'
import type { Peer } from './peer.ts'

/** Where the articles come from, and who waits for them. */
export interface Building {
  pool: Pool
  index: SearchIndex
  orders: Orders
  signal: AbortSignal
  say: (line: string) => void
}

/** How long building took, over all runs that had a part in it. */
export interface BuildTimes {
  /** Seconds; null: unknown. */
  read(peer: Peer): Promise<number | null>
  write(peer: Peer, seconds: number): Promise<void>
}

/** @param names of the peers' indexes */
export function openBuildTimes(dataDir: string, names: Map<Peer, string>): BuildTimes {
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
export async function buildPeers(building: Building, peers: Peer[], times: BuildTimes): Promise<void> {
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
