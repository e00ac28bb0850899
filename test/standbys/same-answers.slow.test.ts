import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { startTestCluster } from './servers.ts'

t.setTimeout(880_000)

/** The tests of pages, polls, totals, matching and visibility, as they stand. */
const FILES = [
  'test/contract/articles.test.ts',
  'test/contract/pages.test.ts',
  'test/contract/poll.test.ts',
  'test/contract/totals.test.ts',
  'test/contract/matching.test.ts',
  'test/contract/kept-answers.test.ts',
  'test/contract/explore.test.ts',
  'test/contract/feed.test.ts',
  'test/contract/search-feeds.test.ts',
  'test/search/visibility.test.ts',
  'test/search/counts.test.ts',
  'test/search/oracle.test.ts',
]

const cluster = await startTestCluster(1)
t.teardown(() => cluster.stop())
const standby = cluster.standbys[0]!
const run = promisify(execFile)

for (const file of FILES) {
  t.test(`${file} with reads on a standby`, async t => {
    const before = await standby.statements()
    const env = {
      ...process.env,
      TEST_READ_URL: standby.in(cluster.url),
      DATABASE_URL: cluster.url,
      TEST_SUPERUSER_URL: cluster.primary.in(cluster.url),
      TAP_TIMEOUT: '600',
    }
    const options = { env, cwd: fileURLToPath(new URL('../..', import.meta.url)), maxBuffer: 64 * 1024 * 1024 }
    const failure = await run(process.execPath, [file], options).then(
      () => null,
      (error: { stdout: string }) => error.stdout.slice(-4_000),
    )
    t.equal(failure, null)
    const counted = (await standby.statements()) - before
    t.ok(counted > 0, `${counted} statements on the standby`)
    t.comment(`${counted} statements on the standby`)
  })
}
