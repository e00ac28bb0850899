import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { createTestDatabase } from '../database.ts'
import { createFleet, freePort, until } from '../fleet.ts'
import { storePages } from '../normaliser/stored.ts'
import { startFloodSite } from './pressure/flood-site.ts'

t.setTimeout(240_000)

t.test(
  'while the normaliser is far behind with all outlets, feeds are read and pages wait; then they are fetched',
  async t => {
    const database = await createTestDatabase()
    const site = await startFloodSite(1, await freePort())
    const fleet = createFleet({
      DATABASE_URL: database.url,
      CRAWL_ALLOW_PRIVATE: '127.0.0.0/8',
      CRAWL_HOST_DELAY: '1ms',
    })
    t.teardown(async () => {
      await fleet.stop()
      await site.close()
      await database.drop()
    })
    const catalogue = join(t.testdir({}), 'outlets.json')
    await writeFile(catalogue, JSON.stringify(site.catalogue))
    await fleet.script('outlets', 'sync', catalogue)
    await storePages(database, [{ path: '/eerste', html: '<p>n</p>', title: 'Eerste' }], 'achter.example')
    await database.query(
      `insert into pages (outlet_no, url, crawl_key, host, state, next_try_at)
     select outlet_no, url || n, crawl_key || n, host, 'stored', now() + interval '1 hour'
       from pages, generate_series(1, 20000) as n where state = 'stored'`,
    )
    const crawler = await fleet.start('crawler')
    const waiting = async () =>
      Number((await database.query("select count(*)::int as n from pages where state = 'waiting'"))[0]?.n)
    await until(async () => (await waiting()) === 2_000, 120_000, crawler.log)
    await new Promise(resolve => setTimeout(resolve, 2_000))
    t.equal(site.fetched(), 0, 'no page is fetched')

    await database.query("delete from pages where host = 'www.achter.example' and url not like '%eerste'")
    await until(() => site.fetched() > 20, 90_000, crawler.log)
    t.match(crawler.log(), /too many pages wait for the normaliser[\s\S]*pages are fetched again/)
  },
)
