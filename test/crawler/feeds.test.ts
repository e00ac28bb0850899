import { gzipSync } from 'node:zlib'
import t from 'tap'
import { syncOutlets } from '#scripts/outlets/sync'
import { outletHealth } from '#status/health'
import {
  html,
  newsSitemap,
  outletOf,
  rss,
  SLOWLY,
  sitemap,
  sitemapIndex,
  startScene,
} from './crawl.ts'
import { cutShort, MODIFIED, reply, tagged } from './site.ts'

const scene = await startScene(t, ['127.0.0.1', '127.0.0.2'], SLOWLY)
const { run, site, at, catalogue, only } = scene
const { poll } = run
const published = async () => (await run.pages()).map(({ url }) => url.slice(site.origin.length))

t.test('an unchanged feed is not sent again', async t => {
  await only(['/feed.xml'])
  site.on('/feed.xml', tagged('"1"', rss(at('/a'), at('/b'))))
  await poll()
  t.same(await published(), ['/a', '/b'])
  t.equal(site.to('/feed.xml')[0]?.headers['if-none-match'], undefined)
  await poll()
  t.match(site.to('/feed.xml')[1]?.headers, {
    'if-none-match': '"1"',
    'if-modified-since': MODIFIED,
  })
  site.on('/feed.xml', tagged('"2"', rss(at('/c'), at('/a'))))
  await poll()
  t.same(await published(), ['/a', '/b', '/c'])
  t.match(await outletHealth(run.pool), [{ health: 'healthy', failures: 0 }])
})

t.test('promise 1: an ETag is never kept without the addresses that came with it', async t => {
  await only(['/feed.xml'])
  site.on('/feed.xml', tagged('"1"', rss(at('/lost-1'), at('/lost-2'))))
  await run.crashing(poll)
  t.same(await published(), [])
  await poll()
  t.equal(site.to('/feed.xml').at(-1)?.headers['if-none-match'], undefined)
  t.same(await published(), ['/lost-1', '/lost-2'])
})

t.test(
  'decision 37: one address by several ways is one page, with the entry that says most',
  async t => {
    await run.forget()
    await run.outlets({
      'x.example': [at('/main.xml'), at('/full.xml')],
      'y.example': [at('/main.xml')],
    })
    site.on(
      '/main.xml',
      rss(
        { link: at('/a/?utm_source=rss'), title: 'A' },
        { link: at('/b?id=1'), title: 'B' },
        { link: at('/b?id=2'), title: 'B' },
      ),
    )
    site.on(
      '/full.xml',
      rss({
        link: at('/a#top'),
        title: 'A',
        description: 'kort',
        'content:encoded': '<p>lang</p>',
      }),
    )
    await poll()
    await poll()
    const pages = await run.pages()
    t.same(pages.map(({ url, domain }) => [domain, url.slice(site.origin.length)]).sort(), [
      ['x.example', '/a/?utm_source=rss'],
      ['x.example', '/b?id=1'],
      ['x.example', '/b?id=2'],
      ['y.example', '/a/?utm_source=rss'],
      ['y.example', '/b?id=1'],
      ['y.example', '/b?id=2'],
    ])
    const ofX = pages.find(({ url, domain }) => domain === 'x.example' && url.includes('/a/'))
    t.match(ofX, { entry: { content: '<p>lang</p>', title: 'A' } })
    site.on('/map.xml', sitemap(at('/c')))
    await run.outlets({ 'x.example': [at('/map.xml')] })
    await poll()
    site.on('/main.xml', rss({ link: at('/c'), title: 'C' }))
    await run.outlets({ 'x.example': [at('/main.xml')] })
    await poll()
    t.match(await run.page(at('/c')), { entry: { title: 'C' } }, 'a title is more than none')
    const ofY = pages.find(({ url, domain }) => domain === 'y.example' && url.includes('/a/'))
    t.match(ofY, { entry: { content: null } })
  },
)

t.test(
  'distinct articles with one GUID are several; one article with a new GUID is one',
  async t => {
    await only(['/feed.xml'])
    site.on(
      '/feed.xml',
      rss(
        { link: at('/1'), guid: 'same' },
        { link: at('/2'), guid: 'same' },
        { link: at('/2'), guid: 'changed' },
      ),
    )
    await poll()
    t.same(await published(), ['/1', '/2'])
  },
)

t.test('a feed that moved for good and then ended says where to', async t => {
  const old = ['/moved.xml', '/lent.xml', '/back.xml']
  await run.forget()
  await run.outlets({ 'x.example': old.map(at) })
  const to = (status: number, path: string) => reply(status, { location: at(path) })
  site.on('/moved.xml', to(301, '/between.xml'))
  site.on('/between.xml', to(308, '/new.xml'))
  site.on('/lent.xml', to(302, '/new.xml'))
  site.on('/back.xml', to(301, '/new.xml'))
  site.on('/new.xml', rss(at('/a')))
  await poll()
  site.on('/back.xml', rss(at('/b')))
  await poll()
  t.same(
    (await run.feeds()).map(({ error }) => error),
    [null, null, null],
  )
  for (const path of old) site.on(path, reply(404))
  await poll()
  const errors = (await run.feeds()).map(({ url, error }) => [url.slice(site.origin.length), error])
  t.same(Object.fromEntries(errors), {
    '/moved.xml': `the feed answers 404; it has moved for good: name ${at('/new.xml')} in the catalogue`,
    '/lent.xml': 'the feed answers 404',
    '/back.xml': 'the feed answers 404',
  })
})

t.test('a feed that fails is asked less and less often, and says why', async t => {
  const feeds = ['/broken.xml', '/page.html', '/fine.xml'].map(at)
  await run.forget()
  await run.outlets({ 'x.example': feeds, 'y.example': [at('/gone.xml')] })
  site.on('/broken.xml', reply(500))
  site.on('/page.html', html('not a feed'))
  site.on('/gone.xml', reply(410))
  site.on('/fine.xml', rss(at('/fine')))
  await poll()
  await poll()
  const [broken, fine, gone, page] = await run.feeds()
  t.match(broken, { error: 'the feed answers 500', failures: 2 })
  t.ok(broken && broken.wait > 200_000 && broken.wait <= 240_000, 'POLL_INTERVAL_MIN doubled twice')
  t.match(fine, { error: null, failures: 0 })
  t.ok(gone && gone.wait > 3_600_000, 'gone: not before a day has passed')
  t.match(page, { error: /no feed: text\/html/ })
  t.match(await outletHealth(run.pool), [
    { domain: 'x.example', health: 'healthy', feeds: 3, failingFeeds: 2 },
    { domain: 'y.example', health: 'failing', error: 'the feed answers 410' },
  ])
})

t.test(
  'Cache-Control: a feed is not asked again while its answer is fresh, a 304 included, within limits',
  async t => {
    await only(['/cached.xml'])
    let cacheControl = 'max-age=1260'
    site.on('/cached.xml', (request, response) => {
      const headers = { etag: '"c"', 'cache-control': cacheControl, age: '60' }
      if (request.headers['if-none-match'] === '"c"')
        return void response.writeHead(304, headers).end()
      response.writeHead(200, headers).end(rss(at('/fresh')))
    })
    const wait = async () => {
      await poll()
      return Math.round((await run.feed())!.pause / 60_000)
    }
    t.equal(await wait(), 20)
    cacheControl = 'max-age=7260'
    t.equal(await wait(), 30, 'no longer than half of POLL_INTERVAL_MAX')
    cacheControl = 'no-cache, max-age=1260'
    t.ok((await wait()) < 20)
  },
)

t.test('how much a feed brings is learned from its dates and its polls, and kept', async t => {
  await only(['/busy.xml', '/quiet.xml'])
  const dated = (path: string, from: number, hours: number) =>
    rss(
      ...Array.from({ length: 20 }, (_, place) => ({
        link: at(`${path}/${from - place}`),
        title: `Over ${from - place}`,
        pubDate: new Date(Date.now() - place * hours * 3_600_000).toUTCString(),
      })),
    )
  const wait = async (path: string) => Math.round((await run.feed(path))!.pause / 60_000)
  site.on('/busy.xml', dated('/b', 20, 1 / 30))
  site.on('/quiet.xml', dated('/q', 20, 200))
  await poll()
  t.ok((await wait('/busy.xml')) < 10)
  t.equal(await wait('/quiet.xml'), 60)
  await run.pool.query(
    `update feeds set habits = habits || jsonb_build_object('at', (habits->>'at')::float8 - 600000)`,
  )
  site.on('/quiet.xml', dated('/q', 30, 200))
  await poll()
  t.ok((await wait('/quiet.xml')) < 40, 'ten articles in ten minutes are news')
})

t.test('Retry-After of a feed is obeyed beyond its own back-off', async t => {
  await only(['/later.xml'])
  site.on('/later.xml', reply(503, { 'retry-after': '3600' }))
  await poll()
  t.ok((await run.feed())!.wait > 3_500_000)
  await run.pool.query("update hosts set free_at = 'epoch'")
})

t.test('a feed cut short is tried again, not believed', async t => {
  await only(['/cut.xml'])
  site.on('/cut.xml', cutShort({ etag: '"cut"' }, rss(at('/a'), at('/b'), at('/c'))))
  for (let tries = 0; tries < 3; tries++) await poll()
  t.same(await published(), [], 'not even when it is cut at the same byte each time')
  site.on('/cut.xml', reply(200, { etag: '"broken off"' }, rss(at('/a')).slice(0, -20)))
  await poll()
  t.same(await published(), ['/a'], 'one that its server broke off is read as far as it goes')
  t.equal((await run.feed())!.etag, null, 'but asked for again in full')
})

t.test(
  'a sitemap index: recent parts are read, gzip or not, each in its turn and conditionally',
  async t => {
    await only(['/index.xml'])
    const date = '2026-11-20T10:00:00+01:00'
    const news = (...paths: string[]) =>
      newsSitemap(...paths.map(path => ({ url: at(path), title: `Over ${path}`, published: date })))
    site.on(
      '/index.xml',
      tagged(
        '"i"',
        sitemapIndex(
          [at('/old.xml'), '2020-01-01'],
          [at('/new.xml.gz'), '2026-11-20T12:00:00Z'],
          at('/live.xml'),
        ),
      ),
    )
    site.on('/old.xml', news('/old'))
    site.on(
      '/new.xml.gz',
      reply(200, { 'content-type': 'application/gzip' }, gzipSync(news('/new'))),
    )
    site.on('/live.xml', tagged('"l1"', news('/live-1')))
    await poll()
    t.same(await published(), ['/live-1', '/new'])
    t.match((await run.pages())[1], {
      entry: { title: 'Over /new', published: '2026-11-20T10:00:00+01:00', language: 'nl' },
    })
    site.on('/live.xml', tagged('"l2"', news('/live-2', '/live-1')))
    await poll()
    const shown = await published()
    t.same(
      shown,
      ['/live-1', '/live-2', '/new'],
      'a part without a date is asked again though the index is unchanged',
    )
    t.equal(site.to('/live.xml').at(-1)?.headers['if-none-match'], '"l1"')
    t.equal(site.to('/new.xml.gz').length, 1, 'one whose date is the same is not')
    t.equal(site.to('/old.xml').length, 0)
    const { rows } = await run.pool.query<{ news: boolean }>(
      'select last_new_at is not null as news from feeds',
    )
    t.equal(rows[0]?.news, true)
  },
)

const sitemapOf = (...paths: string[]) => sitemap(...paths.map(at))

t.test(
  'a part of a sitemap index that failed is asked again, though the index is unchanged',
  async t => {
    await only(['/index.xml'])
    const day = `${new Date().toISOString().slice(0, 10)}T`
    site.on(
      '/index.xml',
      tagged(
        '"i"',
        sitemapIndex([at('/fine.xml'), `${day}00:00Z`], [at('/fails.xml'), `${day}12:00Z`]),
      ),
    )
    site.on('/fine.xml', sitemapOf('/fine'))
    site.on('/fails.xml', reply(500))
    await poll()
    t.same(await published(), ['/fine'])
    site.on('/fails.xml', sitemapOf('/late'))
    await poll()
    t.same(await published(), ['/fine', '/late'])
    await poll()
    t.equal(site.to('/index.xml').at(-1)?.headers['if-none-match'], '"i"')
    t.equal(site.to('/fine.xml').length, 5, 'nor does midnight prove that its day changed nothing')
  },
)

t.test(
  'a part of a sitemap index that breaks off is asked once more, though its date stays',
  async t => {
    await only(['/index.xml'])
    site.on('/index.xml', sitemapIndex([at('/part.xml'), '2026-11-20T12:00:00Z']))
    site.on('/part.xml', sitemapOf('/part-1', '/part-2').slice(0, -30))
    await poll()
    t.same(await published(), ['/part-1'])
    site.on('/part.xml', sitemapOf('/part-1', '/part-2', '/part-3').slice(0, -30))
    for (let polls = 0; polls < 3; polls += 1) await poll()
    t.same(await published(), ['/part-1', '/part-2'])
    t.equal(site.to('/part.xml').length, 2, 'once more alone')
  },
)

t.test(
  'a sitemap index whose outlet leaves the catalogue between two parts has not failed',
  async t => {
    await only(['/index.xml'])
    site.on('/index.xml', sitemapIndex(at('/left.xml'), at('/fine.xml')))
    site.on('/fine.xml', sitemapOf('/fine'))
    site.on('/left.xml', async (_request, response) => {
      await run.pool.query('update outlets set active = false')
      response.writeHead(404).end()
    })
    await poll()
    t.match((await run.pool.query('select failures, last_error from feeds')).rows, [
      { failures: 0, last_error: null },
    ])
  },
)

t.test('a sitemap index with more recent parts than one poll reads is read in several', async t => {
  await only(['/big-index.xml'])
  const numbers = Array.from({ length: 20 }, (_, n) => n)
  const parts = numbers.map((n): [string, string] => [
    at(`/part-${n}.xml`),
    `2026-11-20T12:00:${String(n).padStart(2, '0')}Z`,
  ])
  site.on('/big-index.xml', tagged('"b"', sitemapIndex(...parts)))
  for (const n of numbers) site.on(`/part-${n}.xml`, sitemapOf(`/from-part-${n}`))
  await poll()
  t.equal((await published()).length, 8)
  await poll()
  await poll()
  t.equal((await published()).length, 20)
  const asked = site.seen.length
  await poll()
  const paths = site.seen.slice(asked).map(({ path }) => path)
  t.same(paths, ['/big-index.xml'], 'each part once')
})

t.test(
  'an index inside an index is read again, though it is unchanged: its parts may have news',
  async t => {
    await only(['/outer.xml'])
    site.on('/outer.xml', sitemapIndex(at('/inner.xml')))
    site.on('/inner.xml', tagged('"n"', sitemapIndex(at('/today.xml'))))
    site.on('/today.xml', sitemapOf('/today-1'))
    await poll()
    site.on('/today.xml', sitemapOf('/today-2', '/today-1'))
    await poll()
    t.same(await published(), ['/today-1', '/today-2'])
  },
)

t.test('pages are fetched between feeds that are always due', async t => {
  await only(['/busy.xml'])
  let polls = 0
  site.on('/busy.xml', async (_request, response) => {
    polls += 1
    if (polls === 20) await run.pool.query('drop function always_due() cascade')
    response.end(rss(...Array.from({ length: polls }, (_, n) => at(`/busy/${n}`))))
  })
  for (let n = 0; n < 100; n += 1) site.on(`/busy/${n}`, html('druk'))
  await run.pool.query(
    `create function always_due() returns trigger language plpgsql as
     $$ begin new.next_poll_at = clock_timestamp() - interval '1 s'; return new; end $$`,
  )
  await run.pool.query(
    'create trigger always_due before update on feeds for each row execute function always_due()',
  )
  run.crawl.backlogged = false
  await run.again('feeds')
  const paths = site.seen.map(({ path }) => path)
  const first = paths.indexOf('/busy/0')
  t.ok(first > 0 && first < paths.lastIndexOf('/busy.xml'), 'the first page before the last poll')
  t.equal(polls, 20)
})

t.test(
  'a feed that left the catalogue is no longer asked; one that comes back is read from the beginning',
  async t => {
    await only(['/feed.xml'])
    site.on('/feed.xml', tagged('"1"', rss(at('/a'))))
    await poll()
    const before = site.to('/feed.xml').length
    await run.outlets({})
    t.same(await published(), [], 'what nobody fetched yet is forgotten')
    await poll()
    t.equal(site.to('/feed.xml').length, before)
    await catalogue(['/feed.xml'])
    await poll()
    t.same(await published(), ['/a'])
  },
)

t.test('a feed that moves to the sitemaps of its outlet is a sitemap from then on', async t => {
  site.on('/moves.xml', newsSitemap({ url: at('/a'), title: 'A' }))
  await only(['/moves.xml'])
  await poll()
  const moved = outletOf('x.example', [], { sitemaps: [at('/moves.xml')], hosts: ['127.0.0.1'] })
  const feeds = { added: 0, removed: 0 }
  t.match(await syncOutlets(run.pool, [moved]), { changed: ['x.example'], feeds })
  t.match(await syncOutlets(run.pool, [moved]), { changed: [], unchanged: 1, feeds })
  await poll()
  const { rows } = await run.pool.query(
    'select kind, p.named_by from feeds join pages p using (feed_no)',
  )
  t.same(rows, [{ kind: 'sitemap', named_by: 3 }])
})

t.test('two feeds that say more of the same pages at the same time stop neither other', async t => {
  const links = Array.from({ length: 600 }, (_, n) => at(`/p/${n}`))
  const other = scene.sites[1]!
  for (const one of scene.sites) one.on('/bare.xml', rss(...links))
  await run.forget()
  await run.outlets({ 'x.example': scene.sites.map(({ origin }) => `${origin}/bare.xml`) })
  await poll()
  site.on(
    '/whole.xml',
    rss(...links.map(link => ({ link, title: 'A', 'content:encoded': '<p>lang</p>' }))),
  )
  other.on(
    '/short.xml',
    rss(...links.toReversed().map(link => ({ link, title: 'A', description: 'kort' }))),
  )
  await run.outlets({ 'x.example': [at('/whole.xml'), `${other.origin}/short.xml`] })
  await poll()
  t.match(await run.feeds(), [{ parsing: false }, { parsing: false }])
  const whole = (await run.pages()).filter(({ entry }) => entry?.content === '<p>lang</p>')
  t.equal(whole.length, links.length, 'and the entry that says most stays')
})

t.test('a page that was refused without a title is taken again when a feed has one', async t => {
  site.on('/map.xml', sitemap(at('/wall')))
  site.on('/wall', reply(403))
  site.on('/titled.xml', rss({ link: at('/wall'), title: 'Brug dicht' }))
  await only(['/map.xml'])
  run.crawl.backlogged = false
  await run.workOff()
  t.match(await run.page(at('/wall')), { state: 'stored', status: 403 })
  /** What becomes of the page after a normaliser has refused it. */
  const refused = async (entry: object) => {
    await run.pool.query(
      "update pages set state = 'refused', reason = 'no-title', entry = entry || $1",
      [entry],
    )
    await poll()
    return run.page(at('/wall'))
  }
  t.match(await refused({}), { state: 'refused' }, 'not by what named it without one')
  await catalogue(['/titled.xml'])
  t.match(await refused({ foreign: 'both' }), { state: 'refused' }, 'nor by the words of others')
  await run.pool.query("update pages set entry = entry - 'foreign'")
  t.match(await refused({}), { state: 'stored', reason: null, entry: { title: 'Brug dicht' } })
  t.match(await refused({}), { state: 'refused' }, 'once')
  t.equal(site.to('/wall').length, 1, 'it is not asked for again')
})

t.test('the licence of a feed is told with its latest value, and counted once', async t => {
  await only(['/feed.xml'])
  const licensed = (address: string, path: string) =>
    rss(at(path)).replace('<title>', `<atom:link rel="license" href="${address}"/><title>`)
  for (const version of [3, 4]) {
    site.on(
      '/feed.xml',
      licensed(`https://creativecommons.org/licenses/by/${version}.0/`, `/by-${version}`),
    )
    await poll()
  }
  t.same((await run.pool.query('select signal, source, pages, value from outlet_rights')).rows, [
    {
      signal: 'licence',
      source: 'feed',
      pages: 1,
      value: 'https://creativecommons.org/licenses/by/4.0/',
    },
  ])
})
