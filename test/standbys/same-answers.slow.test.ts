import t from 'tap'
import { failureOf } from '#test/script'
import { startTestCluster } from './servers.ts'

/** Tests as they stand. `writing` asks all kinds of questions, of a naive oracle too. */
const CONTRACT =
  'pages poll.slow totals matching kept-answers explore explore-counts feed search-feeds'.split(' ')
const OTHERS =
  'search/visibility.slow search/writing.slow search/counts search/removals semantic/related.slow'.split(
    ' ',
  )

const cluster = await startTestCluster(1)
t.teardown(() => cluster.stop())
const standby = cluster.standbys[0]!
const env = {
  TEST_READ_URL: standby.in(cluster.url),
  DATABASE_URL: cluster.url,
  TEST_SUPERUSER_URL: cluster.primary.in(cluster.url),
  TAP_TIMEOUT: '600',
}

for (const file of [...CONTRACT.map(name => `contract/${name}`), ...OTHERS]) {
  t.test(`${file} with reads on a standby`, async t => {
    const before = await standby.statements()
    t.equal(await failureOf(file, env), null)
    const counted = (await standby.statements()) - before
    t.ok(counted > 0, `${counted} statements on the standby`)
  })
}
