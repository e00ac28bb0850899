import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { rss } from '../crawler/crawl.ts'
import { startSite } from '../crawler/site.ts'
import { createTestDatabase } from '../database.ts'
import { createFleet, type Member, until } from '../fleet.ts'

/*
 * Looks at pages by a running fleet. The test moves their time. A lock that it holds stops a
 * process between two steps; there it is killed.
 */

t.setTimeout(280_000)

const database = await createTestDatabase()
const site = await startSite()
const fleet = createFleet({
  DATABASE_URL: database.url,
  CRAWL_ALLOW_PRIVATE: '127.0.0.0/8',
  CRAWL_HOST_DELAY: '5ms',
  POLL_INTERVAL_MIN: '10m',
})
const holder = new pg.Client({ connectionString: database.url })
holder.on('error', () => {})
await holder.connect()
t.teardown(async () => {
  await fleet.stop()
  await holder.end().catch(() => {})
  await site.close()
  await database.drop()
})

const one = async (sql: string) => (await database.query(sql))[0] ?? {}
const isWaiting = async () =>
  Number(
    (await one("select count(*) as n from pg_locks where not granted and locktype in ('tuple', 'transactionid')")).n,
  ) > 0
const kill = async (member: Member) => {
  member.process.kill('SIGKILL')
  await member.exited
}
const page = (
  amount: string,
) => `<!doctype html><html lang="nl"><head><title>Raad stemt over de brug</title></head><body>
  <article><h1>Raad stemt over de brug</h1>
  <p>De gemeenteraad heeft dinsdag urenlang gesproken over de brug, zonder dat er een besluit viel.</p>
  <p>De wethouder zei dat de brug ${amount} miljoen euro gaat kosten en voor het einde van het jaar begint.</p></article></body></html>`

t.test('the fleet looks again; who dies on the way loses nothing and doubles nothing', async t => {
  site.on('/a.html', page('twintig'))
  site.on(
    '/feed.xml',
    rss({ link: `${site.origin}/a.html`, title: 'Raad stemt over de brug', pubDate: new Date().toUTCString() }),
  )
  const catalogue = join(t.testdir({}), 'outlets.json')
  const outlet = { name: 'X', domain: 'x.example', country: 'NL', languages: ['nl'], timeZone: 'Europe/Amsterdam' }
  await writeFile(catalogue, JSON.stringify({ outlets: [{ ...outlet, feeds: [`${site.origin}/feed.xml`] }] }))
  await fleet.script('outlets', 'sync', catalogue)
  const crawler = await fleet.start('crawler')
  const normaliser = await fleet.start('normaliser')
  await until(async () => Number((await one('select count(*) as n from page_looks')).n) === 1, 60_000, crawler.log)
  await database.query('update page_looks set look_at = now()')
  await until(async () => Number((await one('select looks from page_looks')).looks) === 1, 60_000, crawler.log)
  const article = await one('select a.*, t.title, t.body from articles a join article_texts t using (seq)')
  t.match(await one('select changes, gone_at from page_looks'), { changes: 0, gone_at: null })

  // The crawler has its answer and is about to save it.
  await holder.query('begin; select from page_looks for update')
  site.on('/a.html', page('dertig'))
  const { looks } = await one('select looks from page_looks')
  const asked = site.to('/a.html').length
  await database.query('update hosts set free_at = now()')
  await holder.query('update page_looks set look_at = now(); commit; begin; select from page_looks for update')
  await until(isWaiting, 60_000, crawler.log)
  await kill(crawler)
  await holder.query('rollback')
  t.ok(site.to('/a.html').length > asked)
  t.equal((await one('select looks from page_looks')).looks, looks, 'nothing was saved')

  // The normaliser has compared and is about to save it.
  await kill(normaliser)
  const second = await fleet.start('crawler')
  await until(async () => Number((await one('select count(*) as n from look_sources')).n) === 1, 60_000, second.log)
  await kill(second)
  await holder.query('begin; select from page_looks for update')
  const comparing = await fleet.start('normaliser')
  await until(isWaiting, 60_000, comparing.log)
  await kill(comparing)
  await holder.query('rollback')
  t.equal(Number((await one('select count(*) as n from look_sources')).n), 1)

  const last = await fleet.start('normaliser')
  await until(async () => Number((await one('select count(*) as n from look_sources')).n) === 0, 120_000, last.log)
  t.match(await one('select changes, what from page_looks'), { changes: 1, what: ['text'] })
  t.strictSame(await one('select a.*, t.title, t.body from articles a join article_texts t using (seq)'), article)
  t.match(
    await one(
      'select (select count(*)::int from articles) as articles, (select count(*)::int from embeddings) as promised',
    ),
    {
      ...{ articles: 1, promised: 1 },
    },
  )
})
