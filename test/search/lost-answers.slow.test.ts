import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { openIndexer } from '../../search/indexer.ts'
import { openImporter } from '../../search/indexing/import.ts'
import { openArticleWriter } from '../../search/indexing/writer.ts'
import { createPool } from '../../shared/postgres/pool.ts'
import { SEGMENT_THREAD } from '../../shared/postgres/segment-thread.ts'
import { createTestDatabase, createTestPool, holdLock, lockWaits, PATIENT } from '../database.ts'
import { writeImport } from '../faults/site/site-article.ts'
import { openLink, openLinkTo } from '../fleet/links/link.ts'
import { until } from '../fleet.ts'
import { startScript } from '../script.ts'
import { startTestCluster, type TestPostgres } from '../standbys/servers.ts'
import { shortArticles } from './short-articles.ts'

t.test('an import that is stopped while it sends articles does not hold the clock', async t => {
  const database = await createTestDatabase(t)
  const file = join(t.testdir(), 'articles.ndjson')
  await writeFile(file, writeImport(1, 1_200))
  let [hasClock, isCut] = [false, false]
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
  const importing = startScript('import', [file, '--json'], { DATABASE_URL: link.url, EMBED_DELAY: '1d' })
  t.teardown(() => importing.child.kill('SIGKILL'))
  await until(() => isCut, 120_000, importing.err)
  await database.query("set lock_timeout = '60s'; select from ingest_clock for update")
  link.mend()
  importing.child.kill('SIGCONT')
  const { code, out, err } = await importing.ended
  t.equal(code, 0, err)
  t.same(JSON.parse(out), { indexed: 1_200, known: 0, bad: 0 })
})

t.test('an import that is interrupted tells what it has written, also what was on its way', async t => {
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
  t.same(JSON.parse(out), { indexed: there, known: 0, bad: 0 }, err)
})

t.test('a commit that no standby has is not taken for done when its number is given out again', async t => {
  const cluster = await startTestCluster(1)
  t.teardown(() => cluster.stop())
  const { primary } = cluster
  const standby = cluster.standbys[0]!
  process.env.DATABASE_URL = cluster.url
  process.env.TEST_SUPERUSER_URL = primary.in(cluster.url)
  const { url } = await createTestDatabase()
  const link = await openLinkTo(url)
  const pool = createPool(link.url, 'test', () => {}, PATIENT)
  const indexer = openIndexer(pool, SEGMENT_THREAD)
  const valueAt = async (server: TestPostgres, value: string) =>
    String((await server.query(`select (${value})::text as value`, url))[0]?.value)
  const lastSeq = (server: TestPostgres) => valueAt(server, 'select last_seq from ingest_clock')
  /** The standby takes over. It gives out the number of the lost transaction, and more. */
  const failOver = async () => {
    const lost = await valueAt(primary, 'pg_snapshot_xmax(pg_current_snapshot())')
    await Promise.all([primary.kill(), link.close()])
    await standby.promote()
    await standby.query(
      `do $$ begin while pg_current_xact_id()::text::bigint <= ${lost} loop commit; end loop; end $$`,
      url,
    )
    const there = new URL(standby.in(url))
    const next = await openLink(link, { address: there.hostname, port: Number(there.port) })
    t.teardown(async () => {
      await indexer.close()
      await pool.end()
      await next.close()
    })
  }
  let isOver = false
  const counts = { indexed: 0, known: 0 }
  const importer = openImporter({
    ...{ pool, indexer, embedDelay: 0, writer: openArticleWriter({ pool, indexer, embedDelay: 0 }) },
    sizes: { most: 250, least: 20, text: 10_000_000 },
    async patiently(work) {
      const done = await work()
      if (isOver || (await lastSeq(primary)) === '0') return done
      isOver = true
      await failOver()
      return work()
    },
    written({ indexed, known }) {
      counts.indexed += indexed
      counts.known += known
    },
  })
  // Its transaction has written nothing yet, so the standby does not know its number.
  const release = await holdLock(pool, 'lock table article_addresses in share mode')
  const importing = importer.add(shortArticles(0, 250)).then(importer.flush)
  await until(async () => (await lockWaits(pool)) > 0, 60_000)
  const at = await valueAt(primary, 'pg_current_wal_lsn()')
  const hasAll = async () => (await valueAt(standby, `pg_last_wal_replay_lsn() >= '${at}'`)) === 'true'
  await until(hasAll, 60_000)
  process.kill(Number(await valueAt(primary, 'select pid from pg_stat_replication')), 'SIGSTOP')
  await release()
  await importing
  t.ok(isOver)
  t.same([counts, await lastSeq(standby)], [{ indexed: 250, known: 0 }, '250'])
})
