import t from 'tap'
import { outletHealth } from '#status/health'
import { until } from '#test/fleet'
import { watchTurns } from '#test/turns'
import { rss, SLOWLY, sitemapIndex, startCrawl } from './crawl.ts'
import { startSite, tagged } from './site.ts'

/*
 * Feeds that keep their thread, or end it. Each outlet has a host of its own, as in life.
 */

const site = await startSite()
const honest = await startSite('127.0.0.2')
const run = await startCrawl(SLOWLY, new URL('./misbehaving-parser.ts', import.meta.url))
t.teardown(() => Promise.all([site.close(), honest.close(), run.close()]))
run.crawl.backlogged = true

const { feed, feeds } = run

t.test(
  'a feed whose parsing does not end fails alone, says why, and is tried less and less often',
  async t => {
    site.on('/hang.xml', rss(`${site.origin}/a`))
    honest.on('/feed.xml', rss(`${honest.origin}/news`))
    const hostile = { 'hostile.example': [`${site.origin}/hang.xml`] }
    await run.forget()
    await run.outlets(hostile)
    const working = run.workOff()
    await until(async () => (await feed('/hang.xml'))?.parsing === true, 60_000)
    await run.outlets({ ...hostile, 'honest.example': [`${honest.origin}/feed.xml`] })
    await run.workOff()
    t.equal((await run.pages()).length, 1)
    t.equal(
      (await feed('/hang.xml'))?.parsing,
      true,
      'the honest feed is saved while the hostile one is parsed',
    )
    await working
    t.match(await feed('/hang.xml'), {
      failures: 1,
      parsing: false,
      etag: null,
      error: 'parsing the document takes longer than 10000 ms',
    })
    const health = await outletHealth(run.pool)
    const failing = health.find(({ domain }) => domain === 'hostile.example')
    t.match(failing, { health: 'failing', error: /^parsing the document takes longer/ })
    const healthy = health.find(({ domain }) => domain === 'honest.example')
    t.match(healthy, { health: 'healthy' })
    const [first] = (await feeds())
      .filter(({ url }) => url.endsWith('/hang.xml'))
      .map(({ wait }) => wait)
    await run.pool.query("update feeds set next_poll_at = now() where url like '%/hang.xml'")
    await run.workOff()
    const second = await feed('/hang.xml')
    t.equal(second?.failures, 2)
    t.ok(first && second && second.wait > 1.5 * first, `${second?.wait} ms after ${first} ms`)
  },
)

t.test('a feed that eats memory or ends its thread fails alone', async t => {
  for (const path of ['/eat.xml', '/exit.xml']) site.on(path, rss(`${site.origin}/a`))
  honest.on('/feed.xml', rss(`${honest.origin}/more`))
  await run.forget()
  await run.outlets({
    'eats.example': [`${site.origin}/eat.xml`],
    'exits.example': [`${site.origin}/exit.xml`],
    'honest.example': [`${honest.origin}/feed.xml`],
  })
  await run.workOff()
  t.match(await feed('/eat.xml'), {
    failures: 1,
    error: /^parsing the document takes (more than 512 MB|longer)/,
  })
  t.match(await feed('/exit.xml'), { failures: 1, error: /^parsing the document failed/ })
  t.match(await feed('/feed.xml'), { failures: 0, error: null })
  t.equal((await run.pages()).length, 1)
})

t.test(
  'promise 1: a crawler that ends while it parses leaves nothing due at once, and loses nothing',
  async t => {
    const answer = tagged('"1"', rss(`${site.origin}/kept`))
    site.on('/hang.xml', answer)
    await run.forget()
    await run.outlets({ 'x.example': [`${site.origin}/hang.xml`] })
    const working = run.workOff()
    await until(async () => (await feed('/hang.xml'))?.parsing === true, 60_000)
    // A crash would leave the database as it is at this moment.
    const left = await feed('/hang.xml')
    t.ok(left && left.wait > 100_000, 'the next poll is ahead')
    t.match(left, { failures: 0, error: null, etag: null })
    t.equal((await run.pages()).length, 0)
    await working

    const crashed = () =>
      run.pool.query(
        'update feeds set failures = 0, last_error = null, parsing = true, next_poll_at = now()',
      )
    await crashed()
    await run.workOff()
    t.match(
      await feed('/hang.xml'),
      { failures: 2 },
      'the poll that was broken off counts when the next one fails too',
    )

    await run.pool.query("update feeds set url = replace(url, '/hang.xml', '/well.xml')")
    site.on('/well.xml', answer)
    await crashed()
    await run.workOff()
    t.match(await feed('/well.xml'), { failures: 0, error: null, parsing: false, etag: '"1"' })
    t.match(await run.pages(), [{ url: `${site.origin}/kept` }])
  },
)

t.test(
  'a sitemap index with a part that cannot be parsed fails as a whole, after one part',
  async t => {
    site.on('/index.xml', sitemapIndex(...[1, 2, 3].map(n => `${site.origin}/hang.xml?${n}`)))
    site.on('/hang.xml', rss(`${site.origin}/a`))
    await run.forget()
    await run.outlets({ 'x.example': [`${site.origin}/index.xml`] })
    const before = site.seen.length
    await run.workOff()
    t.match(await feed('/index.xml'), {
      failures: 1,
      error: /hang\.xml\?\d: parsing the document takes longer than 10000 ms/,
    })
    t.equal(site.seen.slice(before).filter(({ path }) => path.startsWith('/hang.xml')).length, 1)
  },
)

t.test('ten megabytes of a feed cost the event loop no half of a second', async t => {
  const item = (n: number) => ({ url: `${site.origin}/${n}`, content_html: '"\\'.repeat(1_200) })
  const large = JSON.stringify({
    version: '1',
    items: Array.from({ length: 2_000 }, (_, n) => item(n)),
  })
  t.ok(large.length > 9_500_000)
  site.on('/large.json', large)
  await run.forget()
  await run.outlets({ 'x.example': [`${site.origin}/large.json`] })
  const longestTurn = watchTurns()
  await run.workOff()
  const longest = longestTurn()
  t.equal((await run.pages()).length, 2_000)
  t.ok(longest < 500, `${longest} ms`)
})
