import t from 'tap'
import { removeOldSources } from '#services/crawler/crawler'
import { lookAround } from '#services/crawler/visits'
import { outletHealth } from '#status/health'
import { addresses, html, manyPages, rss, startScene, type TestCrawl } from './crawl.ts'
import { redirect, type Site } from './site.ts'

const states = async (run: TestCrawl) =>
  Object.entries(
    Object.groupBy(await run.pages(), ({ state, reason }) =>
      reason === 'put off' ? reason : state,
    ),
  )
    .map(([state, pages]) => `${pages?.length} ${state}`)
    .sort()
const links = (sites: Site[]) => sites.map(({ origin }) => `${origin}/a`)
const nextDay = async (run: TestCrawl) => {
  await run.pool.query('update outlet_loads set day = day - 1')
  await lookAround(run.crawl)
}
t.test(
  'an outlet may name so many new hosts in a day; pages on others wait, and none is lost',
  async t => {
    const { run, sites, site } = await startScene(t, addresses(8), { CRAWL_OUTLET_HOSTS: '3' })
    for (const one of sites) one.on('/a', html('a'))
    await run.fetch(site, links(sites))
    t.same(
      await states(run),
      ['4 put off', '4 stored'],
      'its own host, which the catalogue names, and three',
    )
    t.match(await outletHealth(run.pool), [{ today: { hosts: 3, pages: 4 }, putOff: 4 }])
    const held = await run.pool.query("select from hosts where host like '127.0.7.%'")
    t.equal(held.rowCount, 4, 'the others are not even known')

    await run.pool.query("update pages set discovered_at = now() - interval '9 days'")
    await removeOldSources(run.pool, 86_400_000, new AbortController().signal)
    t.same(await states(run), ['4 put off', '4 stored'], 'nor given up')

    await nextDay(run)
    await run.workOff()
    t.same(await states(run), ['1 put off', '7 stored'])
    await nextDay(run)
    await run.workOff()
    t.same(await states(run), ['8 stored'])
    for (const one of sites) t.equal(one.to('/a').length, 1)
  },
)

t.test('hosts that redirects lead to are counted too', async t => {
  const { run, sites, site } = await startScene(t, addresses(5), { CRAWL_OUTLET_HOSTS: '2' })
  const ways = sites.slice(1).map((one, at) => {
    one.on('/end', html('end'))
    site.on(`/to/${at}`, redirect(`${one.origin}/end`))
    return `${site.origin}/to/${at}`
  })
  await run.fetch(site, ways)
  t.same(await states(run), ['2 stored', '2 waiting'])
  t.equal(sites.filter(one => one.to('/end').length > 0).length, 2)
  await nextDay(run)
  await run.again('pages')
  t.same(await states(run), ['4 stored'])
})

t.test('an outlet has so many pages in a day; the others wait for the next', async t => {
  const { run, site } = await startScene(t, ['127.0.7.1'], { CRAWL_OUTLET_PAGES: '5' })
  await run.fetch(site, manyPages(site, 12), 2_000)
  t.same(await states(run), ['5 stored', '7 waiting'])
  await nextDay(run)
  await run.workOff(2_000)
  t.same(await states(run), ['10 stored', '2 waiting'])
})

t.test('an outlet brings so many bytes in a day; then its feeds wait as well', async t => {
  const { run, site } = await startScene(t, ['127.0.7.1'], {
    CRAWL_OUTLET_BYTES: '1000000',
    CRAWL_MAX_BYTES: '2000000',
  })
  const noise = Array.from({ length: 650_000 }, () =>
    String.fromCharCode(33 + Math.random() * 90),
  ).join('')
  await run.fetch(site, manyPages(site, 6, noise), 2_000)
  t.same(await states(run), ['2 stored', '4 waiting'], 'half a megabyte each, compressed')
  await run.hurry('feeds')
  await run.workOff(2_000)
  t.equal(site.to('/feed-1.xml').length, 1)
  const [health] = await outletHealth(run.pool)
  t.ok((health?.today.bytes ?? 0) > 1_000_000)
  await nextDay(run)
  await run.workOff(2_000)
  t.equal(site.to('/feed-1.xml').length, 2)
  t.same(await states(run), ['2 waiting', '4 stored'])
})

t.test('an outlet of which too much waits is not polled', async t => {
  const { run, site } = await startScene(t, ['127.0.7.1'], { CRAWL_OUTLET_PAGES: '2' })
  await run.fetch(site, manyPages(site, 12), 1_500)
  await run.hurry('feeds')
  await run.workOff(1_500)
  t.equal(site.to('/feed-1.xml').length, 1, 'ten wait, and two are fetched in a day')
  await run.pool.query(
    "delete from pages where page_no in (select page_no from pages where state = 'waiting' limit 5)",
  )
  await run.workOff(1_500)
  t.equal(site.to('/feed-1.xml').length, 2)
})

t.test(
  'an outlet whose pages hang rests, longer and longer, and goes on by itself when they answer',
  async t => {
    const { run, site, sites } = await startScene(t, ['127.0.7.1', ...addresses(9).slice(1)], {
      CRAWL_TIMEOUT: '600ms',
    })
    const [, ...others] = sites
    let hangs = true
    for (const one of others) {
      one.on('/robots.txt', '')
      one.on('/a', () => hangs || html('at last'))
    }
    await run.fetch(site, links(others), 4_000)
    const asked = () => others.filter(one => one.to('/a').length > 0).length
    t.equal(asked(), 4, 'four at a time, then none')
    t.match(await outletHealth(run.pool), [{ late: 4, restsUntil: Date }])

    const rested = () => run.pool.query("update outlet_loads set rest_until = 'epoch'")
    await rested()
    await run.workOff(3_000)
    t.equal(asked(), 5, 'one finds out whether they answer again')
    const [{ restsUntil } = { restsUntil: null }] = await outletHealth(run.pool)
    t.ok(Number(restsUntil) - Date.now() > 180_000, 'five minutes, at least three of them left')

    hangs = false
    await rested()
    await run.hurry('pages')
    await run.pool.query("update hosts set free_at = 'epoch', failures = 0")
    await run.workOff()
    t.same(await states(run), ['8 stored'])
    t.match(await outletHealth(run.pool), [{ late: 0, restsUntil: null }])
  },
)

t.test('an outlet whose answers are slow has one host visited at a time', async t => {
  const { run, site, sites } = await startScene(t, addresses(9), { CRAWL_TIMEOUT: '3s' })
  const [, ...others] = sites
  for (const one of others)
    one.on('/a', (_request, response) => setTimeout(() => response.end(html('slow')), 1_700))
  await run.fetch(site, links(others), 12_000)
  const seen = others.flatMap(one => one.to('/a')).sort((a, b) => a.from - b.from)
  t.ok(seen.length > 5, `${seen.length} were asked`)
  const slow = seen.slice(4)
  for (const [at, one] of slow.entries()) {
    t.ok(one.from >= Math.max(0, ...seen.slice(0, at + 4).map(({ until }) => until)))
  }
  t.match(await outletHealth(run.pool), [{ restsUntil: null }])
})

t.test('who never answers robots.txt is late too', async t => {
  const { run, site, sites } = await startScene(t, addresses(9), { CRAWL_TIMEOUT: '600ms' })
  const [, ...others] = sites
  for (const one of others) one.on('/robots.txt', () => {})
  await run.fetch(site, links(others), 4_000)
  t.equal(others.filter(one => one.seen.length > 0).length, 4)
  t.match(await outletHealth(run.pool), [{ late: 4, restsUntil: Date }])
})

t.test('an outlet that fills the store stops itself and nobody else', async t => {
  const { run, site, sites } = await startScene(t, addresses(2))
  site.on('/feed.xml', rss(...manyPages(site, 3)))
  sites[1]?.on('/feed.xml', rss(...manyPages(sites[1], 3)))
  await run.outlets({
    'full.example': [`${site.origin}/feed.xml`],
    'y.example': [`${sites[1]?.origin}/feed.xml`],
  })
  await run.pool.query(
    `insert into pages (outlet_no, url, crawl_key, host, state)
     select outlet_no, 'http://f/' || n, 'f/' || n, 'f', 'stored' from outlets, generate_series(1, 500) n where domain = 'full.example'`,
  )
  await run.workOff(2_000)
  const own = async () => (await run.pages()).filter(({ url }) => url.includes('/p/'))
  t.same((await own()).map(({ domain, state }) => `${domain} ${state}`).sort(), [
    ...Array(3).fill('full.example waiting'),
    ...Array(3).fill('y.example stored'),
  ])
  await run.pool.query("update pages set state = 'done' where host = 'f'")
  await run.workOff()
  t.same(new Set((await own()).map(({ state }) => state)), new Set(['stored']))
})
