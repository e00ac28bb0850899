import t from 'tap'
import { buildCorpus } from '#bench/search/build'
import { queryClasses } from '#bench/search/classes'
import { openDataDirectory } from '#infra/embedded/data-directory'
import { startServers } from '#infra/embedded/servers'
import { isWhole } from '#test/script'
import { comparePeers } from './main.ts'
import { PEERS } from './peer.ts'

/** The test asks one class in every 37. */
const CLASSES = 37
/** Alone, without those that run on Java; `test/whole.long.test.ts` asks them, too. */
const ASKED = isWhole ? PEERS : (['postgres'] as const)
/** Long enough to see that the servers answer. */
const HTTP_SECONDS = 0.3

t.test('other engines find what Perscope finds', async t => {
  const { signal } = new AbortController()
  const dataDir = await openDataDirectory(t.testdir(), 'a test')
  const servers = await startServers(dataDir, {
    servers: ['postgres'],
    report: t.comment,
    throwaway: true,
  })
  t.teardown(async () => {
    await servers.stop()
    dataDir.release()
  })
  const server = servers.addresses.DATABASE_URL!
  const built = await buildCorpus(server, 1_500, signal)
  const classes = queryClasses(built.corpus, 1).filter((_, number) => number % CLASSES === 0)
  const figures = await comparePeers(
    { servers, dataDir, server, signal, ...built, classes },
    ASKED,
    HTTP_SECONDS,
  )
  t.equal(figures.kept_mismatches, 0, 'what is kept changes no answer')
  for (const [name, value] of Object.entries(figures))
    if (/^http_.*_failures$/.test(name)) t.equal(value, 0, name)
  for (const key of ASKED) {
    if (figures[`peer_${key}_compared`] === undefined) t.comment(`${key} cannot run here.`)
    else
      t.match(
        figures,
        { [`peer_${key}_compared`]: classes.length, [`peer_${key}_mismatches`]: 0 },
        key,
      )
  }
})
