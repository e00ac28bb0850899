import t from 'tap'
import { startFleet, until } from '#test/fleet'
import { storePages } from '#test/normaliser/stored'
import { FLOODED, startFloodSite } from './pressure/flood-site.ts'

t.test(
  'while the normaliser is far behind, feeds are read and pages wait; then they are fetched',
  async t => {
    const site = await startFloodSite(1)
    t.teardown(site.close)
    const { database, fleet } = await startFleet(t, FLOODED)
    await fleet.sync(site.catalogue)
    await storePages(
      database,
      [{ path: '/eerste', html: '<p>n</p>', title: 'Eerste' }],
      'achter.example',
    )
    await database.query(
      `insert into pages (outlet_no, url, crawl_key, host, state, next_try_at)
   select outlet_no, url || n, crawl_key || n, host, 'stored', now() + interval '1 hour'
     from pages, generate_series(1, 20000) as n where state = 'stored'`,
    )
    const crawler = await fleet.start('crawler')
    await until(
      async () => (await database.count("pages where state = 'waiting'")) === 2_000,
      120_000,
      crawler.log,
    )
    await new Promise(resolve => setTimeout(resolve, 2_000))
    t.equal(site.fetched(), 0, 'no page is fetched')

    await database.query(
      "delete from pages where host = 'www.achter.example' and url not like '%eerste'",
    )
    await until(() => site.fetched() > 20, 90_000, crawler.log)
    t.match(crawler.log(), /too many pages wait for the normaliser[\s\S]*pages are fetched again/)
  },
)
