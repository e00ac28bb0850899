import { pino } from 'pino'
import t from 'tap'
import { observeOutlets } from '#services/crawler/crawl-metrics'
import { registry } from '#shared/metrics'
import { outletHealth, readGaps } from '#status/health'
import { runScript } from '#test/script'
import { rss, SLOWLY, sitemap, startScene } from './crawl.ts'
import { reply } from './site.ts'

const { run, site, at, catalogue, only } = await startScene(t, ['127.0.0.1'], SLOWLY)
const { poll } = run

/** The gaps of all feeds, in the order of their addresses. */
const gaps = async () => (await run.feeds()).map(feed => feed.gaps)
const lastSuccess = async () => (await run.feed())?.last_success_at ?? new Date(0)

/** A feed that names these paths, with a link of one relation. */
const atom = (paths: string[], rel?: string, href?: string) =>
  `<feed xmlns="http://www.w3.org/2005/Atom"><title>x</title>${
    rel === undefined ? '' : `<link rel="${rel}" href="${href}"/>`
  }${paths.map(path => `<entry><id>${at(path)}</id><title>Over ${path}</title></entry>`).join('')}</feed>`

/** A feed in pages of two entries, newest first, the last page empty. */
function pages(path: string, all: string[]): void {
  for (let n = 0; n * 2 <= all.length; n += 1)
    site.on(
      n === 0 ? path : `${path}?page=${n + 1}`,
      n * 2 === all.length
        ? atom([])
        : atom(all.slice(n * 2, n * 2 + 2), 'next', `${path}?page=${n + 2}`),
    )
}

const show = (paths: string[]) => rss(...paths.map(at))
const map = (paths: string[]) => sitemap(...paths.map(at))

t.test(
  'a feed that shows none of the known entries has rolled on; it is logged and shown',
  async t => {
    const lines: { msg: string; feed: string; from: string; to: string }[] = []
    run.crawl.log = pino({ level: 'info' }, { write: line => void lines.push(JSON.parse(line)) })
    await only(['/feed.xml'])
    site.on('/feed.xml', show(['/c', '/b', '/a']))
    await poll()
    t.same(await gaps(), [0], 'everything is new in the first poll')
    t.match(await outletHealth(run.pool), [{ gaps: null }])
    site.on('/feed.xml', show(['/e', '/d', '/c']))
    await poll()
    t.same(await gaps(), [0], 'one known entry is enough')

    const seen = await lastSuccess()
    site.on('/feed.xml', show(['/i', '/h', '/g']))
    await poll()
    t.same(await gaps(), [1])
    const [outlet] = await outletHealth(run.pool)
    t.same(outlet?.gaps?.from, seen, 'the gap began when the feed was last read')
    t.ok(outlet?.gaps && outlet.gaps.to > seen && outlet.gaps.to <= (await lastSuccess()))
    t.equal(outlet?.health, 'healthy')
    await poll()
    t.same(await gaps(), [1], 'the same entries are known now')
    site.on('/feed.xml', show(['/m', '/l']))
    await poll()
    t.same(await gaps(), [2])

    observeOutlets(run.pool, run.crawl.config)
    const [age] =
      (await registry().getSingleMetric('perscope_outlet_gap_age_seconds')?.get())?.values ?? []
    t.match(age, { labels: { outlet: 'x.example' }, value: Number })
    const said = lines.filter(({ msg }) => msg.startsWith('a feed rolled on'))
    t.equal(said.length, 2)
    t.match(said[0], {
      feed: at('/feed.xml'),
      from: seen.toISOString(),
      to: outlet?.gaps?.to.toISOString(),
    })
  },
)

t.test('npm run outlets -- list and npm run status show it; it is told for seven days', async t => {
  await run.pool.query("update feeds set gap_to = now() - interval '3 hours'")
  t.match(await command('outlets', 'list'), /a feed rolled on unseen 2×, last 3(\.0)? h ago/)
  t.match(
    await command('status'),
    /gaps +in the last seven days 1 feed of 1 outlet rolled on unseen, 2×, last at 20/,
  )
  t.match(await readGaps(run.pool), { feeds: 1, outlets: 1, count: 2, latest: Date })

  await run.pool.query("update feeds set gap_to = now() - interval '8 days'")
  t.match(await outletHealth(run.pool), [{ gaps: null }])
  t.match(await readGaps(run.pool), { feeds: 0, outlets: 0, count: 0, latest: null })
  site.on('/feed.xml', show(['/q', '/p']))
  await poll()
  t.same(await gaps(), [1], 'counted anew')
})

/** Standard output of `npm run NAME`, on the database of this test. */
async function command(name: string, ...words: string[]): Promise<string> {
  const { DATABASE_URL } = run.crawl.config
  return (await runScript(name, words, { DATABASE_URL, QDRANT_URL: '', OPENSEARCH_URL: '' })).out
}

t.test(
  'known articles at new addresses are a gap only where one may be younger than the poll before',
  async t => {
    await only(['/feed.xml'])
    const dated = (paths: string[], days: number) => {
      const pubDate = new Date(Date.now() - days * 86_400_000).toUTCString()
      return rss(...paths.map(path => ({ link: at(path), title: `Over ${path}`, pubDate })))
    }
    for (const [paths, days, expected] of [
      [['/m/1', '/m/2'], 3, 0],
      [['/n/1', '/n/2'], 3, 0],
      [['/o/1', '/o/2'], 0.5, 1],
      [['/p/1', '/p/2'], 3, 1],
    ] as const) {
      site.on('/feed.xml', dated([...paths], days))
      await poll()
      t.same(await gaps(), [expected], paths.join())
    }
  },
)

t.test('one entry, an empty feed, a feed that comes back and a sitemap prove no gap', async t => {
  await only(['/one.xml', '/empty.xml', '/left.xml', '/map.xml'])
  site.on('/one.xml', show(['/one-1']))
  site.on('/empty.xml', show([]))
  site.on('/left.xml', show(['/left-1', '/left-2']))
  site.on('/map.xml', map(['/map-1', '/map-2']))
  await poll()
  await catalogue(['/one.xml', '/empty.xml', '/map.xml'])
  await catalogue(['/one.xml', '/empty.xml', '/left.xml', '/map.xml'])
  site.on('/one.xml', show(['/one-2']))
  site.on('/empty.xml', show(['/no-longer-1', '/no-longer-2']))
  site.on('/left.xml', show(['/left-3', '/left-4']))
  site.on('/map.xml', map(['/map-3', '/map-4']))
  await poll()
  t.same(await gaps(), [0, 0, 0, 0])
  site.on('/empty.xml', show(['/no-longer-3', '/no-longer-4']))
  site.on('/left.xml', show(['/left-5', '/left-6']))
  await poll()
  t.same(await gaps(), [1, 1, 0, 0], 'from the next poll on they may')
})

t.test('a sitemap that names the pages in time leaves no gap', async t => {
  await only(['/feed.xml'], ['/map.xml'])
  site.on('/feed.xml', show(['/a-2', '/a-1']))
  site.on('/map.xml', map(['/a-2', '/a-1']))
  await poll()
  site.on('/map.xml', map(['/a-6', '/a-5', '/a-4', '/a-3', '/a-2', '/a-1']))
  await poll()
  site.on('/feed.xml', show(['/a-6', '/a-5']))
  await poll()
  t.same(await gaps(), [0, 0])
})

t.test('promise 1: a crash before the commit loses neither the entries nor the gap', async t => {
  await only(['/feed.xml'])
  site.on('/feed.xml', show(['/k-1', '/k-2']))
  await poll()
  site.on('/feed.xml', show(['/k-8', '/k-9']))
  await run.crashing(poll)
  t.same(await gaps(), [0])
  await poll()
  t.same(await gaps(), [1])
  await poll()
  t.same(await gaps(), [1])
})

t.test(
  'a feed in pages closes its gap where an older page overlaps, and has one where none does',
  async t => {
    await only(['/paged.xml'])
    pages('/paged.xml', ['/b', '/a'])
    await poll()
    t.equal(site.to('/paged.xml?page=2').length, 0, 'without a gap no older page is read')
    pages('/paged.xml', ['/f', '/e', '/d', '/c', '/b', '/a'])
    await poll()
    t.equal((await run.pages()).length, 6)
    t.same(await gaps(), [0], 'the third page held a known entry')

    pages('/paged.xml', ['/z-4', '/z-3', '/z-2', '/z-1'])
    await poll()
    t.same(await gaps(), [1], 'the last page was reached, and nothing of it was known')

    const endless = Array.from({ length: 60 }, (_, n) => `/n-${n}`)
    pages('/paged.xml', endless)
    await poll()
    t.same(await gaps(), [2])
    t.equal((await run.pages()).length, 6 + 4 + 42, 'the feed and twenty older pages')
  },
)

t.test(
  'entries that were found since a gap do not close it, and a page that failed is read again',
  async t => {
    await only(['/moving.xml'])
    const all = (newest: string, count: number) =>
      Array.from({ length: count }, (_, n) => `/${newest}-${count - n}`)
    pages('/moving.xml', all('a', 2))
    await poll()
    pages('/moving.xml', [...all('b', 8), ...all('a', 2)])
    site.on('/moving.xml?page=4', reply(503))
    await poll()
    t.same(await gaps(), [0])
    const { rows } = await run.pool.query<{ wait: number }>(
      'select extract(epoch from next_poll_at - last_polled_at)::float8 as wait from feeds',
    )
    t.equal(Math.round(rows[0]?.wait ?? 0), 60, 'the next poll comes soon')
    // Two new entries push the others on: the pages that come next show what was found meanwhile.
    pages('/moving.xml', [...all('c', 2), ...all('b', 8), ...all('a', 2)])
    await poll()
    t.same(await gaps(), [0], 'the last page reaches back before the gap')
    t.equal((await run.pages()).length, 12)
    pages('/moving.xml', [...all('d', 2), ...all('c', 2)])
    const before = site.to('/moving.xml?page=2').length
    await poll()
    t.equal(site.to('/moving.xml?page=2').length, before + 1, 'a new gap: the old one is closed')
  },
)

t.test('one gap has each page read once, also where pages lead in a circle', async t => {
  await only(['/circle.xml'])
  site.on('/circle.xml', atom(['/b', '/a']))
  await poll()
  site.on('/circle.xml?page=2', atom(['/f', '/e'], 'next', '/circle.xml?page=3'))
  site.on('/circle.xml?page=3', atom([], 'next', '/circle.xml?page=2'))
  site.on('/circle.xml', atom(['/d', '/c'], 'next', '/circle.xml?page=2'))
  for (let n = 0; n < 3; n += 1) await poll()
  t.same(await gaps(), [1], 'nothing after the circle can close it')
  t.equal(site.to('/circle.xml?page=2').length, 1)
  t.equal(site.to('/circle.xml?page=3').length, 1)

  const seen = await lastSuccess()
  site.on('/circle.xml?page=2', atom(['/h', '/g'], 'next', '/circle.xml?page=3'))
  site.on('/circle.xml', atom(['/j', '/i'], 'next', '/circle.xml?page=2'))
  await poll()
  t.same(await gaps(), [2])
  t.same((await outletHealth(run.pool))[0]?.gaps?.from, seen, 'the times are those of the new gap')
  t.equal(site.to('/circle.xml?page=2').length, 2, 'another gap has it read again')
  t.equal(site.to('/circle.xml?page=3').length, 2)
})

t.test(
  'JSON Feed: next_url closes a gap, a page that is given up does not, and never fails its feed',
  async t => {
    await only(['/live.json'])
    const json = (paths: string[], next?: string) =>
      JSON.stringify({
        version: 'https://jsonfeed.org/version/1',
        items: paths.map(path => ({ id: at(path) })),
        next_url: next,
      })
    site.on('/live.json', json(['/o-2', '/o-1']))
    await poll()
    site.on('/live.json', json(['/o-6', '/o-5'], '/older.json'))
    site.on('/older.json', json(['/o-4', '/o-3', '/o-2']))
    await poll()
    t.same(await gaps(), [0])
    t.ok(await run.page(at('/o-3')))

    site.on('/live.json', json(['/p-2', '/p-1'], '/broken.json'))
    site.on('/broken.json', 'no feed')
    for (let n = 0; n < 4; n += 1) await poll()
    t.same(await gaps(), [0], 'it may be read yet')
    t.match(await run.feeds(), [{ failures: 0, parsing: false }])
    await poll()
    t.same(await gaps(), [1])
    t.equal(site.to('/broken.json').length, 5)

    site.on('/live.json', json(['/q-2', '/q-1'], '/broken.json'))
    await poll()
    t.same(await gaps(), [1])
    site.on('/live.json', json(['/q-2', '/q-1']))
    await poll()
    t.same(await gaps(), [2], 'nor does a feed that leads to no older page any more')
  },
)
