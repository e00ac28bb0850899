import t from 'tap'
import { failureOf } from '../script.ts'
import { startTestCluster } from './servers.ts'

/** The tests of pages, polls, totals, matching and visibility, as they stand. */
const CONTRACT = 'pages poll totals matching kept-answers explore explore-counts feed search-feeds'.split(' ')
const SEARCH = ['visibility', 'writing', 'counts', 'oracle']

const cluster = await startTestCluster(1)
t.teardown(() => cluster.stop())
const standby = cluster.standbys[0]!
const env = {
  TEST_READ_URL: standby.in(cluster.url),
  DATABASE_URL: cluster.url,
  TEST_SUPERUSER_URL: cluster.primary.in(cluster.url),
  TAP_TIMEOUT: '600',
}

const FILES = [...CONTRACT.map(name => `contract/${name}`), ...SEARCH.map(name => `search/${name}`), 'semantic/related']
for (const file of FILES) {
  t.test(`${file} with reads on a standby`, async t => {
    const before = await standby.statements()
    t.equal(await failureOf(file, env), null)
    const counted = (await standby.statements()) - before
    t.ok(counted > 0, `${counted} statements on the standby`)
  })
}
