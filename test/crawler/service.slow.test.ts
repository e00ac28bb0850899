import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { removeOldSources } from '../../services/crawler/crawler.ts'
import { createTestDatabase } from '../database.ts'
import { createFleet, until } from '../fleet.ts'
import { html, rss, startCrawl } from './crawl.ts'
import { startSite } from './site.ts'

t.setTimeout(240_000)

t.test(
  'a crawler ends within 20 s of SIGTERM, at once on a second one, and its page is fetched by the next',
  async t => {
    const database = await createTestDatabase()
    const site = await startSite()
    const fleet = createFleet({
      DATABASE_URL: database.url,
      CRAWL_ALLOW_PRIVATE: '127.0.0.0/8',
      CRAWL_HOST_DELAY: '50ms',
    })
    const client = new pg.Client(database.url)
    await client.connect()
    t.teardown(async () => {
      await fleet.stop()
      await client.end()
      await site.close()
      await database.drop()
    })
    let answering = false
    site.on('/slow', (_request, response) => {
      if (answering) response.writeHead(200, { 'content-type': 'text/html' }).end(html('at last'))
    })
    site.on('/feed.xml', rss(`${site.origin}/slow`))
    const file = join(t.testdir(), 'outlets.json')
    const outlet = {
      name: 'X',
      domain: 'x.example',
      country: 'NL',
      languages: ['nl'],
      timeZone: 'Europe/Amsterdam',
      feeds: [`${site.origin}/feed.xml`],
    }
    await writeFile(file, JSON.stringify({ outlets: [outlet] }))
    await fleet.script('outlets', 'sync', file)

    const first = await fleet.start('crawler')
    await until(() => site.to('/slow').length === 1, 60_000)
    const started = performance.now()
    first.process.kill('SIGTERM')
    t.equal(await first.exited, 0)
    t.ok(performance.now() - started < 15_000, 'gives the request up after a while')
    const { rows } = await client.query('select state, attempts, holder, permit from pages join hosts using (host)')
    t.same(rows, [{ state: 'waiting', attempts: 0, holder: null, permit: null }], 'put back untouched')

    const second = await fleet.start('crawler')
    await until(() => site.to('/slow').length === 2, 60_000)
    second.process.kill('SIGTERM')
    await new Promise(resolve => setTimeout(resolve, 300))
    const again = performance.now()
    second.process.kill('SIGTERM')
    t.equal(await second.exited, 143)
    t.ok(performance.now() - again < 5_000, 'at once')

    answering = true
    await fleet.start('crawler')
    await until(async () => (await client.query("select from pages where state = 'stored'")).rowCount === 1, 60_000)
    t.equal(site.to('/slow').length, 3)
  },
)

t.test('maintenance removes the sources of finished pages after PAGES_KEEP, and keeps crawl memory', async t => {
  const run = await startCrawl()
  const site = await startSite()
  t.teardown(() => Promise.all([run.close(), site.close()]))
  site.on('/feed.xml', rss(...['/done', '/open', '/fresh'].map(path => site.origin + path)))
  for (const path of ['/done', '/open', '/fresh']) site.on(path, html(path))
  await run.outlets({ 'x.example': [`${site.origin}/feed.xml`] })
  await run.workOff()
  await run.pool.query(
    "update pages set state = 'done', finished_at = now() - interval '2 days' where url like '%/done'",
  )
  await run.pool.query("update pages set state = 'done', finished_at = now() where url like '%/fresh'")
  await run.pool.query("update page_sources set fetched_at = now() - interval '3 days'")
  const day = 86_400_000
  t.equal(await removeOldSources(run.pool, day, new AbortController().signal), 1)
  t.match(await run.pages(), [
    { url: /done/, state: 'done', status: null, entry: null },
    { url: /fresh/, state: 'done', hasBody: true },
    { url: /open/, state: 'stored', hasBody: true },
  ])
  await run.hurry('feeds')
  await run.workOff()
  t.equal(site.to('/done').length, 1, 'a URL is taken once')
})
