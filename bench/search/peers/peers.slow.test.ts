import t from 'tap'
import { openDataDirectory } from '../../../infra/embedded/data-directory.ts'
import { findJdk } from '../../../infra/embedded/java.ts'
import { startServers } from '../../../infra/embedded/servers.ts'
import { openIndex, SEARCH_SETTINGS } from '../../../search/index.ts'
import { createPool } from '../../../shared/postgres/pool.ts'
import { buildArchive } from '../build.ts'
import { queryClasses } from '../classes.ts'
import { readDocuments, readOrders } from './documents.ts'
import { comparePeers, openPeer } from './main.ts'
import type { PeerKey } from './peer.ts'

const ROWS = 1_500
/** One class in so many is asked. */
const CLASSES = 37
/** They keep their articles in files, so that opening them twice is quick. */
const INTERRUPTED: PeerKey[] = ['lucene']
const SECONDS = 1_000

const { signal } = new AbortController()
const said: string[] = []
const say = (line: string) => void said.push(line)

t.setTimeout(600 * SECONDS)

t.test('other engines find what Perscope finds, also when their building was interrupted', async t => {
  const dataDir = await openDataDirectory(t.testdir(), 'a test')
  const servers = await startServers(dataDir, { servers: ['postgres'], report: say, throwaway: true })
  t.teardown(async () => {
    await servers.stop()
    dataDir.release()
  })
  const running = { family: servers.family, signal, report: say }
  const java = (await findJdk('Lucene', running)) !== null
  if (!java) t.comment(`Lucene is not tested: ${said.at(-1)}`)
  const engines: PeerKey[] = ['api', 'postgres', ...(java ? (['lucene'] as const) : [])]
  const { url, archive } = await buildArchive(servers.addresses.DATABASE_URL!, ROWS, signal)

  const pool = createPool(url, 'test', () => {}, { settings: SEARCH_SETTINGS })
  const index = openIndex(pool)
  const orders = await readOrders(pool)
  const documents = readDocuments(pool, index, orders, 1)
  const first = (await documents.next()).value ?? []
  for (const key of INTERRUPTED.filter(key => engines.includes(key))) {
    const peer = await openPeer(key, { dataDir, servers, url, pool, orders, running })
    if (peer === null) continue
    await peer.add(first)
    await peer.close()
  }
  await index.close()
  await pool.end()

  const classes = queryClasses(archive, 1).filter((_, number) => number % CLASSES === 0)
  const figures = await comparePeers({ peers: engines, dataDir, servers, url, classes, signal, say })
  for (const key of engines) {
    if (figures[`peer_${key}_compared`] === undefined) {
      t.comment(said.find(line => line.includes('left out')) ?? `${key} is left out.`)
      continue
    }
    t.equal(figures[`peer_${key}_compared`], classes.length, key)
    t.equal(
      figures[`peer_${key}_mismatches`],
      0,
      said.filter(line => line.startsWith('  {')).join('\n') || `${key}: all the same`,
    )
  }
})
