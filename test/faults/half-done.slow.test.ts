import pg from 'pg'
import t from 'tap'
import { readConfig } from '#shared/config/config'
import { createLogger } from '#shared/log/logger'
import { isTransient, readValue } from '#shared/postgres/pool'
import { openWorker } from '#status/cause-watch'
import { type Member, QUICK_CRAWL, startFleet, until } from '#test/fleet'
import { SITE_OUTLETS } from './site/outlets.ts'
import { startSite } from './site/site.ts'

/*
 * Promise 1 at the worst moments. A lock that the test holds stops a process exactly between two
 * steps of the way of an article; there it is killed or paused.
 */

const site = await startSite(1)
t.teardown(() => site.close())
const { database, fleet } = await startFleet(t, QUICK_CRAWL)
const holder = new pg.Client({ connectionString: database.url })
holder.on('error', () => {})
await holder.connect()
t.teardown(() => holder.end().catch(() => {}))

const [forgetful] = SITE_OUTLETS.filter(({ feeds }) => feeds.every(feed => feed.forgetful))
if (!forgetful) throw new Error('No outlet of the site forgets.')
await fleet.sync({
  outlets: site.catalogue.outlets.filter(({ domain }) => domain === forgetful.domain),
})

const { count } = database
/** Somebody waits for a lock that the test holds. */
const isWaiting = async () =>
  (await count("pg_locks where not granted and locktype in ('tuple', 'transactionid')")) > 0
const kill = async (member: Member) => {
  member.process.kill('SIGKILL')
  await member.exited
}

t.test(
  'a crawler that dies between reading a feed and saving it loses none of its addresses',
  async t => {
    site.print(5, forgetful)
    // It has parsed the feed, and noted that it would, when it comes to the outlet's row.
    await holder.query('begin; select from outlets for update')
    const crawler = await fleet.start('crawler')
    await until(isWaiting, 60_000)
    t.equal(await count('pages'), 0)
    await kill(crawler)
    await holder.query('rollback')

    const next = await fleet.start('crawler')
    await until(async () => (await count("pages where state = 'stored'")) === 5, 60_000, next.log)
    t.equal(await count('feeds where etag is not null'), 1)
  },
)

t.test('a normaliser that dies before its articles are visible leaves nothing half', async t => {
  await holder.query('begin; select from ingest_clock for update')
  const normaliser = await fleet.start('normaliser')
  await until(isWaiting, 60_000)
  await kill(normaliser)
  await holder.query('rollback')
  t.equal(await count('articles'), 0)
  t.equal(await count("pages where state = 'stored'"), 5)

  await fleet.start('normaliser')
  await until(async () => (await count('articles')) === 5, 90_000)
  t.equal(await count('embeddings'), 5)
  t.equal(await count("pages where state = 'done'"), 5)
})

t.test(
  'a paused holder of the clock halts nobody for long, and doubles nothing (promise 2)',
  async t => {
    const [normaliser] = fleet.members.filter(
      ({ service, process }) =>
        service === 'normaliser' && process.exitCode === null && !process.killed,
    )
    if (!normaliser) throw new Error('No normaliser runs.')
    await holder.query('begin; select from ingest_clock for update')
    site.print(3, forgetful)
    await until(isWaiting, 60_000)
    normaliser.process.kill('SIGSTOP')
    // Its backend is given the clock now, and nobody tells it to commit.
    await holder.query('rollback')
    await fleet.start('normaliser')
    site.print(2, forgetful)
    await until(async () => (await count('articles')) >= 7, 60_000)
    normaliser.process.kill('SIGCONT')
    await until(async () => (await count('articles')) === 10, 90_000)
    await until(async () => (await count("pages where state = 'done'")) === 10, 60_000)
    t.equal(await count('embeddings'), 10)
    t.equal(
      await count('(select from article_texts group by url having count(*) > 1) as doubled'),
      0,
    )
  },
)

t.test('who waits for a lock is not to blame: the wait ends before the statement does', async t => {
  const config = readConfig({ DATABASE_URL: database.url, REDIS_URL: '' })
  const { pool } = openWorker('normaliser', { config, log: createLogger('test', 'silent') })
  t.teardown(() => pool.end())
  t.ok(
    await readValue(
      pool,
      "select current_setting('lock_timeout')::interval between '46 s' and '55 s'",
    ),
  )
  await holder.query('begin; lock table articles')
  const error = await pool
    .query('set lock_timeout = 10; select from articles')
    .catch((reason: unknown) => reason)
  t.ok(isTransient(error), 'the work is tried again, and uses up no attempt')
  await holder.query('rollback')
})
