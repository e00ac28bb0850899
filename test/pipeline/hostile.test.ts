import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { rss } from '../crawler/crawl.ts'
import { type Handler, type Site, startSite } from '../crawler/site.ts'
import { createTestDatabase } from '../database.ts'
import { createFleet, until } from '../fleet.ts'

t.setTimeout(300_000)

const SENTENCE = 'De brug over de Schelde blijft tot vrijdag dicht voor alle vrachtwagens, meldt de gemeente'
/** An article about something of its own. */
function article(about: string, more = '') {
  const text = Array.from({ length: 5 }, (_, at) => `<p>${SENTENCE}, en dat geldt ook ${at} keer voor ${about}.</p>`)
  return `<!doctype html><html lang="nl"><head><title>Nieuws over ${about}</title>${more}</head><body><article><h1>Nieuws over ${about}</h1>${text.join('')}</article></body></html>`
}
const item = (link: string, about: string, more: object = {}) => ({
  link,
  title: `Nieuws over ${about}`,
  description: `<p>${SENTENCE}, zegt de krant over ${about}.</p>`,
  ...more,
})
const page =
  (html: string | Buffer, headers: Record<string, string> = {}): Handler =>
  (_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html', ...headers }).end(html)

/** One byte now and then, for ever. */
const drip: Handler = (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/html' })
  const timer = setInterval(() => response.write('x'), 200)
  response.on('close', () => clearInterval(timer))
}
/** As much as the line takes, for ever. */
const flood: Handler = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/rss+xml' })
  const piece = Buffer.from('<item><title>nog een</title></item>'.repeat(2_000))
  const pour = () => {
    while (!response.destroyed && response.write(piece));
  }
  response.on('drain', pour)
  pour()
}
const status =
  (code: number, headers: Record<string, string> = {}): Handler =>
  (_request, response) =>
    response.writeHead(code, headers).end()

interface Exported {
  url: string
  title: string
  body: string | null
  outlet: { domain: string }
}

t.test('one crawler and one normaliser among hostile hosts: what is good is indexed, whole and once', async t => {
  const database = await createTestDatabase()
  const sites: Site[] = []
  const outlets: object[] = []
  const host = async (domain: string, feed: (site: Site) => string | Handler, sitemaps: string[] = []) => {
    const site = await startSite(`127.0.0.${sites.length + 1}`)
    sites.push(site)
    site.on('/feed.xml', feed(site))
    const own = { name: domain, domain, country: 'NL', languages: ['nl'], timeZone: 'Europe/Amsterdam' }
    const feeds = sitemaps.length > 0 ? [] : [`${site.origin}/feed.xml`]
    outlets.push({ ...own, feeds, sitemaps: sitemaps.map(path => site.origin + path) })
    return site
  }

  const good = await host('good.example', site => rss(...[1, 2, 3].map(n => item(`${site.origin}/${n}`, `huis ${n}`))))
  for (const n of [1, 2, 3]) good.on(`/${n}`, article(`huis ${n}`))
  const loris = await host('loris.example', site => rss(item(`${site.origin}/a`, 'traagheid')))
  loris.on('/a', drip)
  const lorisRobots = await host('loris-robots.example', site => rss(item(`${site.origin}/a`, 'stilte')))
  lorisRobots.on('/robots.txt', drip)
  await host('flood.example', () => flood)
  const zeros = gzipSync(Buffer.alloc(200_000_000))
  await host('bomb.example', () => page(zeros, { 'content-encoding': 'gzip' }))
  const bombs = await host('bombs.example', site =>
    rss(item(`${site.origin}/a`, 'bommen'), item(`${site.origin}/b`, 'vrede')),
  )
  bombs.on('/a', page(zeros, { 'content-encoding': 'gzip' }))
  bombs.on('/b', article('vrede'))
  const cut = await host('cut.example', site => rss(item(`${site.origin}/a`, 'een half stuk')))
  cut.on('/a', (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.write(article('een half stuk').slice(0, 700), () => response.destroy())
  })
  const away = await host('away.example', site =>
    rss(...['circle', 'metadata', 'loopback6', 'file'].map(path => item(`${site.origin}/${path}`, path))),
  )
  away.on('/circle', status(302, { location: '/circle2' }))
  away.on('/circle2', status(302, { location: '/circle' }))
  away.on('/metadata', status(302, { location: 'http://169.254.169.254/latest/meta-data/' }))
  away.on('/loopback6', status(302, { location: 'http://[::1]/' }))
  away.on('/file', status(302, { location: 'file:///etc/passwd' }))
  const letters = await host('letters.example', site =>
    rss(...['utf8', 'cp1252', 'utf16'].map(path => item(`${site.origin}/${path}`, `privé ${path}`))),
  )
  letters.on('/utf8', page(article('privé utf8'), { 'content-type': 'text/html; charset=iso-8859-1' }))
  letters.on('/cp1252', page(Buffer.from(article('privé cp1252'), 'latin1')))
  letters.on('/utf16', page(Buffer.from(`\ufeff${article('privé utf16')}`, 'utf16le')))
  const many = await host('many.example', site =>
    rss(...Array.from({ length: 50_000 }, (_, n) => ({ link: `${site.origin}/p/${n}`, title: `Bericht ${n}` }))),
  )
  many.on('/robots.txt', 'User-agent: *\nDisallow: /p/')
  const same = await host('same.example', site =>
    rss(
      ...[1, 2].map(n => item(`${site.origin}/nieuws/bericht-${n}`, `dorp ${n}`, { guid: 'een-voor-allen' })),
      item(`${site.origin}/amp/nieuws/bericht-1`, 'dorp 1'),
      item(`${site.origin}/nieuws/bericht-2?utm_source=rss`, 'dorp 2', { guid: 'twee' }),
    ),
  )
  for (const n of [1, 2]) {
    const canonical = `<link rel="canonical" href="${same.origin}/nieuws/bericht-${n}">`
    same.on(`/nieuws/bericht-${n}`, article(`dorp ${n}`, canonical))
    same.on(`/amp/nieuws/bericht-${n}`, article(`dorp ${n}`, canonical))
  }
  const doors = await host('doors.example', site =>
    rss(...[401, 403, 451, 404, 410].map(code => item(`${site.origin}/${code}`, `deur ${code}`))),
  )
  for (const code of [401, 403, 451, 404, 410]) doors.on(`/${code}`, status(code))
  const down = await host('down.example', site => rss(item(`${site.origin}/a`, 'rust')))
  down.on('/robots.txt', status(503))
  const later = await host('later.example', site => rss(item(`${site.origin}/a`, 'later')))
  let asked = 0
  later.on('/a', (request, response) => {
    asked += 1
    if (asked > 1) return page(article('later'))(request, response)
    response.writeHead(503, { 'retry-after': new Date(Date.now() + 3_000).toUTCString() }).end()
  })
  const wall = await host('wall.example', site => rss(item(`${site.origin}/a`, 'de muur')))
  wall.on('/a', status(302, { location: '/cookie-consent?terug=/a' }))
  wall.on('/cookie-consent', article('koekjes en toestemming'))
  const map = await host('map.example', () => '', ['/index.xml.gz'])
  map.on('/index.xml.gz', (_request, response) =>
    response.end(gzipSync(`<sitemapindex><sitemap><loc>${map.origin}/news.xml.gz</loc></sitemap></sitemapindex>`)),
  )
  map.on('/news.xml.gz', (_request, response) =>
    response.end(gzipSync(`<urlset><url><loc>${map.origin}/a</loc></url></urlset>`)),
  )
  map.on('/a', article('de kaart'))

  const catalogue = join(t.testdir(), 'outlets.json')
  writeFileSync(catalogue, JSON.stringify({ outlets }))
  const fleet = createFleet({
    DATABASE_URL: database.url,
    CRAWL_ALLOW_PRIVATE: '127.0.0.0/8',
    CRAWL_HOST_DELAY: '10ms',
    CRAWL_RETRY_MIN: '1s',
    CRAWL_TIMEOUT: '4s',
  })
  t.teardown(async () => {
    await fleet.stop()
    for (const site of sites) await site.close()
    await database.drop()
  })
  await fleet.script('outlets', 'sync', catalogue)
  await fleet.start('crawler')
  await fleet.start('normaliser')
  const exported = async (): Promise<Exported[]> =>
    (await fleet.script('export', '--body'))
      .split('\n')
      .filter(Boolean)
      .map(line => JSON.parse(line))
  const expected = 3 + 1 + 3 + 2 + 3 + 1 + 1 + 1
  await until(
    async () => (await exported()).length >= expected && lorisRobots.to('/robots.txt').length > 0,
    200_000,
    () => fleet.members.map(member => member.log().slice(-3_000)).join('\n'),
  )
  const articles = await exported()
  const of = (domain: string) => articles.filter(one => one.outlet.domain === domain)
  const domains = articles.map(one => one.outlet.domain)
  t.equal(articles.length, expected, domains.sort().join(' '))
  t.equal(of('good.example').length, 3)
  t.equal(of('bombs.example')[0]?.title, 'Nieuws over vrede')
  for (const domain of ['loris', 'loris-robots', 'flood', 'bomb', 'cut', 'away', 'many', 'down'])
    t.same(of(`${domain}.example`), [], domain)
  for (const { title, body } of of('letters.example')) {
    t.match(title, /^Nieuws over privé /)
    t.match(body, /voor privé /)
  }
  t.same(
    of('same.example')
      .map(one => new URL(one.url).pathname)
      .sort(),
    ['/nieuws/bericht-1', '/nieuws/bericht-2'],
  )
  t.same(
    of('doors.example')
      .map(one => one.title)
      .sort(),
    [401, 403, 451].map(code => `Nieuws over deur ${code}`),
  )
  for (const one of [...of('doors.example'), ...of('wall.example')]) t.match(one.body, /zegt de krant over/)
  t.match(of('map.example')[0]?.body, /de kaart/)
  t.equal(of('later.example').length, 1)
  t.same(down.to('/feed.xml'), [], 'nothing is fetched while robots.txt does not answer')
  t.equal(many.seen.filter(({ path }) => path.startsWith('/p/')).length, 0)
  for (const { process: child } of fleet.members) t.equal(child.exitCode, null, 'nobody ended')
})
