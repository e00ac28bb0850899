import t from 'tap'
import { openDataDirectory } from '../../../infra/embedded/data-directory.ts'
import { startServers } from '../../../infra/embedded/servers.ts'
import { findJdk } from '../../../test/java.ts'
import { buildArchive } from '../build.ts'
import { queryClasses } from '../classes.ts'
import { comparePeers } from './main.ts'
import type { PeerKey } from './peer.ts'

const ROWS = 1_500
/** One class in so many is asked. */
const CLASSES = 37
const SECONDS = 1_000

const { signal } = new AbortController()
const said: string[] = []
const say = (line: string) => void said.push(line)

t.setTimeout(600 * SECONDS)

t.test('other engines find what Perscope finds', async t => {
  const dataDir = await openDataDirectory(t.testdir(), 'a test')
  const servers = await startServers(dataDir, { servers: ['postgres'], report: say, throwaway: true })
  t.teardown(async () => {
    await servers.stop()
    dataDir.release()
  })
  const running = { family: servers.family, signal, report: say }
  const java = (await findJdk('Lucene', running)) !== null
  if (!java) t.comment(`Lucene is not tested: ${said.at(-1)}`)
  const engines: PeerKey[] = ['postgres', ...(java ? (['lucene'] as const) : [])]
  const { url, archive } = await buildArchive(servers.addresses.DATABASE_URL!, ROWS, signal)

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
