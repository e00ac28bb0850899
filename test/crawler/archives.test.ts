import t from 'tap'
import { removeOldSources } from '../../services/crawler/maintenance.ts'
import { startCrawl } from './crawl.ts'
import { startSite } from './site.ts'

const site = await startSite()
const run = await startCrawl({
  ...{ POLL_INTERVAL_MIN: '1m', POLL_INTERVAL_MAX: '1h', CRAWL_ARCHIVE_DOCUMENTS: '12' },
})
t.teardown(() => Promise.all([site.close(), run.close()]))
const at = (path: string) => site.origin + path

const names = async () => (await run.pages()).map(({ url }) => url.slice(site.origin.length))

async function poll(): Promise<void> {
  run.crawl.backlogged = true
  await run.hurry('feeds')
  await run.workOff()
}

async function only(path: string): Promise<void> {
  await run.outlets({})
  await run.pool.query('truncate pages, feeds, outlets cascade')
  site.seen.length = 0
  await run.outlets({ 'x.example': [at(path)] })
}

/** An Atom feed of these paths, with a link of one relation. */
const atom = (paths: string[], rel?: string, href?: string) =>
  `<feed xmlns="http://www.w3.org/2005/Atom"><title>x</title>${
    rel === undefined ? '' : `<link rel="${rel}" href="${href}"/>`
  }${paths.map(path => `<entry><id>${at(path)}</id><title>Over ${path}</title></entry>`).join('')}</feed>`

/** How often each path was asked for, robots.txt aside. */
function asked(): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { path } of site.seen) if (path !== '/robots.txt') counts[path] = (counts[path] ?? 0) + 1
  return counts
}

t.test('RFC 5005: the archive of a feed is read once, some documents a poll, and no further than allowed', async t => {
  await only('/feed.xml')
  for (let n = 20; n > 0; n -= 1)
    site.on(`/archive-${n}.xml`, atom([`/old-${n}`], 'prev-archive', `/archive-${n - 1}.xml`))
  site.on('/feed.xml', atom(['/new'], 'prev-archive', '/archive-20.xml'))
  await poll()
  t.same(await names(), ['/new'], 'the feed comes first')
  const { rows } = await run.pool.query<{ wait: number }>(
    'select extract(epoch from next_poll_at - last_polled_at)::float8 as wait from feeds',
  )
  t.equal(Math.round(rows[0]?.wait ?? 0), 60, 'the next poll comes soon')
  await poll()
  t.same(await names(), ['/new', '/old-17', '/old-18', '/old-19', '/old-20'])
  for (let n = 0; n < 4; n += 1) await poll()
  t.equal((await names()).length, 13)
  t.match(asked(), { '/feed.xml': 6, '/archive-20.xml': 1, '/archive-9.xml': 1 })
  t.equal(asked()['/archive-8.xml'], undefined)
})

t.test('a new archive document is read when the feed links to it, and those behind it are known', async t => {
  site.on('/archive-21.xml', atom(['/moved-1', '/moved-2'], 'prev-archive', '/archive-20.xml'))
  site.on('/feed.xml', atom(['/newest'], 'prev-archive', '/archive-21.xml'))
  await poll()
  await poll()
  await poll()
  t.ok((await names()).includes('/moved-2'))
  t.match(asked(), { '/archive-21.xml': 1, '/archive-20.xml': 1 })
})

t.test('a feed in pages: a backlog is read once, and a page again when we may have missed entries', async t => {
  await only('/paged.xml')
  const pages = (all: string[]) => {
    for (let n = 0; n * 2 < all.length; n += 1) {
      const path = n === 0 ? '/paged.xml' : `/paged.xml?page=${n + 1}`
      site.on(path, atom(all.slice(n * 2, n * 2 + 2), 'next', `/paged.xml?page=${n + 2}`))
    }
    site.on(`/paged.xml?page=${Math.ceil(all.length / 2) + 1}`, atom([]))
  }
  pages(['/c', '/b', '/a'])
  for (let n = 0; n < 3; n += 1) await poll()
  t.same(await names(), ['/a', '/b', '/c'])
  t.same(asked(), { '/paged.xml': 3, '/paged.xml?page=2': 1, '/paged.xml?page=3': 1 })

  pages(['/d', '/c', '/b', '/a'])
  for (let n = 0; n < 2; n += 1) await poll()
  t.equal(asked()['/paged.xml?page=2'], 1, 'a page with a known entry ends the search')

  pages(['/h', '/g', '/f', '/e', '/d', '/c', '/b', '/a'])
  for (let n = 0; n < 2; n += 1) await poll()
  t.same(await names(), ['/a', '/b', '/c', '/d', '/e', '/f', '/g', '/h'])
  t.match(asked(), { '/paged.xml?page=2': 2, '/paged.xml?page=3': 2 })
  t.equal(asked()['/paged.xml?page=4'], 1, 'the third page held a known entry')
})

t.test('JSON Feed: next_url is followed', async t => {
  await only('/feed.json')
  const json = (path: string, next?: string) =>
    JSON.stringify({ version: 'https://jsonfeed.org/version/1', items: [{ id: at(path) }], next_url: next })
  site.on('/feed.json', json('/j1', '/feed-2.json'))
  site.on('/feed-2.json', json('/j2'))
  await poll()
  await poll()
  t.same(await names(), ['/j1', '/j2'])
})

t.test('an archive that fails never fails its feed, and is given up; a circle ends', async t => {
  await only('/feed.xml')
  site.on('/feed.xml', atom(['/n'], 'prev-archive', '/broken.xml'))
  site.on('/broken.xml', 'no feed')
  for (let n = 0; n < 8; n += 1) await poll()
  t.equal(asked()['/broken.xml'], 5)
  const { rows } = await run.pool.query<{ failures: number; parsing: boolean }>('select failures, parsing from feeds')
  t.same(rows, [{ failures: 0, parsing: false }])

  await only('/round.xml')
  site.on('/round.xml', atom(['/r1'], 'next', '/round-2.xml'))
  site.on('/round-2.xml', atom(['/r2'], 'next', '/round.xml'))
  for (let n = 0; n < 4; n += 1) await poll()
  t.same(asked(), { '/round.xml': 4, '/round-2.xml': 1 })
})

t.test('a backlog goes on while the feed itself is unchanged, and begins anew when the feed comes back', async t => {
  await only('/still.xml')
  site.on('/still.xml', (request, response) => {
    if (request.headers['if-none-match'] === '"s"') return void response.writeHead(304).end()
    response.writeHead(200, { etag: '"s"' }).end(atom(['/s'], 'prev-archive', '/behind.xml'))
  })
  site.on('/behind.xml', atom(['/s-old']))
  await poll()
  await poll()
  t.same(await names(), ['/s', '/s-old'])
  await run.outlets({})
  await run.outlets({ 'x.example': [at('/still.xml')] })
  await poll()
  await poll()
  t.equal(asked()['/behind.xml'], 2)
})

t.test('what is remembered of archives does not grow for ever', async t => {
  await only('/feed.xml')
  await run.pool.query(
    `insert into feed_archives (feed_no, url, depth, found_at)
     select feed_no, 'http://x.example/' || n, 1, now() - n * interval '1 s' from feeds, generate_series(1, 500) n`,
  )
  await removeOldSources(run.pool, 1_000, new AbortController().signal)
  const { rows } = await run.pool.query<{ kept: number }>('select count(*)::int as kept from feed_archives')
  t.equal(rows[0]?.kept, 400)
})
