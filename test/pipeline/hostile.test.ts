import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type Site, startSite } from '../crawler/site.ts'
import { createTestDatabase } from '../database.ts'
import { createFleet, type Fleet, until } from '../fleet.ts'
import { HOSTS, type HostileHost } from './hostile-hosts.ts'

// One crawler and one normaliser among all of these hosts at the same time.

t.setTimeout(300_000)

interface Exported {
  url: string
  title: string
  body: string | null
  outlet: { domain: string }
}

async function startHost(host: HostileHost, number: number): Promise<Site> {
  const site = await startSite(`127.0.0.${number}`)
  site.on('/feed.xml', host.feed(site))
  for (const [path, answer] of Object.entries(host.answers?.(site) ?? {})) site.on(path, answer)
  return site
}

function outletOf({ domain, sitemaps }: HostileHost, { origin, host }: Site): object {
  const own = { name: domain, domain, hosts: [host], country: 'NL', languages: ['nl'], timeZone: 'Europe/Amsterdam' }
  if (sitemaps === undefined) return { ...own, feeds: [`${origin}/feed.xml`] }
  return { ...own, sitemaps: sitemaps.map(path => origin + path) }
}

async function exportOf(fleet: Fleet): Promise<Exported[]> {
  const lines = (await fleet.script('export', '--body')).split('\n')
  return lines.filter(Boolean).map(line => JSON.parse(line))
}

const database = await createTestDatabase()
const sites = new Map<string, Site>()
for (const [at, host] of HOSTS.entries()) sites.set(host.domain, await startHost(host, at + 1))
const fleet = createFleet({
  DATABASE_URL: database.url,
  CRAWL_ALLOW_PRIVATE: '127.0.0.0/8',
  CRAWL_HOST_DELAY: '10ms',
  CRAWL_RETRY_MIN: '1s',
  CRAWL_TIMEOUT: '4s',
})
t.teardown(async () => {
  await fleet.stop()
  for (const site of sites.values()) await site.close()
  await database.drop()
})
const catalogue = join(t.testdir(), 'outlets.json')
writeFileSync(catalogue, JSON.stringify({ outlets: HOSTS.map(host => outletOf(host, sites.get(host.domain)!)) }))
await fleet.script('outlets', 'sync', catalogue)
await fleet.start('crawler')
await fleet.start('normaliser')

const expected = HOSTS.reduce((sum, { articles }) => sum + articles, 0)
await until(
  async () =>
    (await exportOf(fleet)).length >= expected && sites.get('loris-robots.example')!.to('/robots.txt').length > 0,
  200_000,
  () => fleet.members.map(member => member.log().slice(-3_000)).join('\n'),
)
const articles = await exportOf(fleet)
const articlesOf = (domain: string) => articles.filter(one => one.outlet.domain === domain)
const titlesOf = (domain: string) => articlesOf(domain).map(one => one.title)

for (const { domain, articles } of HOSTS) {
  t.test(`${domain}: each of its articles is indexed once, and nothing else (${articles})`, async t => {
    t.equal(articlesOf(domain).length, articles, titlesOf(domain).join('\n'))
  })
}

t.test('a decompression bomb does not keep the other pages of its host away', async t => {
  t.same(titlesOf('bombs.example'), ['Nieuws over vrede'])
})

t.test('texts are decoded by their bytes, where the header says otherwise', async t => {
  for (const { title, body } of articlesOf('letters.example')) {
    t.match(title, /^Nieuws over privé /)
    t.match(body, /voor privé /)
  }
})

t.test('several addresses of one article lead to one, and one permanent id of two articles to two', async t => {
  const paths = articlesOf('same.example').map(one => new URL(one.url).pathname)
  t.same(paths.sort(), ['/nieuws/bericht-1', '/nieuws/bericht-2'])
})

t.test('a page that its outlet refuses is indexed from its feed, one that is gone is not', async t => {
  t.same(
    titlesOf('doors.example').sort(),
    [401, 403, 451].map(code => `Nieuws over deur ${code}`),
  )
  for (const { body } of [...articlesOf('doors.example'), ...articlesOf('wall.example')]) {
    t.match(body, /zegt de krant over/)
  }
})

t.test('a sitemap index of gzip files leads to its articles', async t => {
  t.match(articlesOf('map.example')[0]?.body, /de kaart/)
})

t.test('nothing is fetched while robots.txt does not answer, nor what it forbids', async t => {
  t.same(sites.get('down.example')!.to('/feed.xml'), [])
  t.equal(sites.get('many.example')!.seen.filter(({ path }) => path.startsWith('/p/')).length, 0)
})

t.test('no host ends a process', async t => {
  for (const { process: child } of fleet.members) t.equal(child.exitCode, null)
})
