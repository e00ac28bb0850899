import t from 'tap'
import { failureOf, isWhole } from '#test/script'
import { startTestCluster } from './servers.ts'

/** Tests as they stand. Alone, one of each kind of answer; `test/whole.long.test.ts` tries all. */
const FILES = [
  'contract/pages',
  'contract/kept-answers',
  'contract/search-feeds',
  'search/counts',
  'semantic/related.slow',
]
/** `writing` asks all kinds of questions, of a naive oracle too. */
const MORE = [
  'contract/totals.slow',
  'contract/poll.slow',
  'contract/matching',
  'contract/explore',
  'contract/explore-counts',
  'contract/feed',
  'search/visibility.slow',
  'search/writing.slow',
  'search/removals',
]

const cluster = await startTestCluster(1)
t.teardown(() => cluster.stop())
const standby = cluster.standbys[0]!
const env = {
  TEST_READ_URL: standby.in(cluster.url),
  DATABASE_URL: cluster.url,
  TEST_SUPERUSER_URL: cluster.primary.in(cluster.url),
  TAP_TIMEOUT: '600',
}

for (const file of isWhole ? [...FILES, ...MORE] : FILES) {
  t.test(`${file} with reads on a standby`, async t => {
    const before = await standby.statements()
    t.equal(await failureOf(file, env), null)
    const counted = (await standby.statements()) - before
    t.ok(counted > 0, `${counted} statements on the standby`)
  })
}
