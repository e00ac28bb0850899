import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { createTestDatabase, createTestPool, holdLock, lockWaits } from '#test/database'
import { writeImport } from '#test/faults/site/site-article'
import { until } from '#test/fleet'
import { openLinkTo } from '#test/fleet/links/link'
import { startScript } from '#test/script'

t.test('an import that is stopped while it sends articles does not hold the clock', async t => {
  const database = await createTestDatabase(t)
  const file = join(t.testdir(), 'articles.ndjson')
  await writeFile(file, writeImport(1, 1_200))
  let hasClock = false
  let isCut = false
  // Of the first large statement that follows the clock, only a part arrives.
  const link = await openLinkTo(database.url, () => bytes => {
    if (hasClock && !isCut && bytes.length > 16_384) {
      isCut = true
      queueMicrotask(() => {
        link.silence()
        importing.child.kill('SIGSTOP')
      })
    }
    hasClock ||= bytes.includes('update ingest_clock')
  })
  t.teardown(() => link.close())
  const importing = startScript('import', [file, '--json'], {
    DATABASE_URL: link.url,
    EMBED_DELAY: '1d',
  })
  t.teardown(() => importing.child.kill('SIGKILL'))
  await until(() => isCut, 120_000, importing.err)
  await database.query("set lock_timeout = '60s'; select from ingest_clock for update")
  link.mend()
  importing.child.kill('SIGCONT')
  const { code, out, err } = await importing.ended
  t.equal(code, 0, err)
  t.match(JSON.parse(out), { indexed: 1_200, known: 0, bad: 0 })
})

t.test(
  'an import that is interrupted tells what it has written, also what was on its way',
  async t => {
    const { database, pool } = await createTestPool(t)
    const file = join(t.testdir(), 'articles.ndjson')
    await writeFile(file, writeImport(1, 6_000))
    const release = await holdLock(pool, 'select from segments_version for update')
    const env = { DATABASE_URL: database.url, EMBED_DELAY: '1d' }
    const importing = startScript('import', [file, '--json'], env)
    t.teardown(() => importing.child.kill('SIGKILL'))
    await until(async () => (await lockWaits(pool)) > 0, 120_000, importing.err)
    importing.child.kill('SIGINT')
    await setTimeout(2_000)
    await release()
    const { code, out, err } = await importing.ended
    t.equal(code, 1, err)
    const there = await database.count('articles')
    t.ok(there >= 4_096)
    t.match(JSON.parse(out), { indexed: there, known: 0, bad: 0 }, err)
  },
)
