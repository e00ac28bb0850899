import t from 'tap'
import { type Site, startSite } from '../crawler/site.ts'
import { startFleet, until } from '../fleet.ts'
import { HOSTS } from './hostile-hosts.ts'

// One crawler and one normaliser among all of these hosts at the same time.

t.setTimeout(300_000)

interface Exported {
  title: string
  outlet: { domain: string }
}

const sites = new Map<string, Site>()
const outlets: object[] = []
for (const [at, { domain, feed, answers }] of HOSTS.entries()) {
  const site = await startSite(`127.0.0.${at + 1}`)
  site.on('/feed.xml', feed(site))
  for (const [path, answer] of Object.entries(answers?.(site) ?? {})) site.on(path, answer)
  t.teardown(site.close)
  sites.set(domain, site)
  outlets.push({
    ...{ name: domain, domain, hosts: [site.host], country: 'NL', languages: ['nl'], timeZone: 'Europe/Amsterdam' },
    feeds: [`${site.origin}/feed.xml`],
  })
}
const { database, fleet } = await startFleet(t, {
  CRAWL_ALLOW_PRIVATE: '127.0.0.0/8',
  CRAWL_HOST_DELAY: '10ms',
  CRAWL_RETRY_MIN: '1s',
  CRAWL_TIMEOUT: '4s',
})
await fleet.sync({ outlets })
await fleet.start('crawler')
await fleet.start('normaliser')

async function exported(): Promise<Exported[]> {
  const lines = (await fleet.script('export')).split('\n')
  return lines.filter(Boolean).map(line => JSON.parse(line))
}

const expected = HOSTS.reduce((sum, { articles }) => sum + articles, 0)
const asked = () => sites.get('loris-robots.example')!.to('/robots.txt').length > 0
const untried = "pages where state = 'stored' or (state = 'waiting' and attempts = 0)"
const isTried = async () => asked() && (await database.count(untried)) === 0
await until(async () => (await exported()).length >= expected && (await isTried()), 200_000, fleet.logs)
const all = await exported()
const titlesOf = (domain: string) => all.filter(({ outlet }) => outlet.domain === domain).map(({ title }) => title)

for (const { domain, articles } of HOSTS) {
  t.test(`${domain}: each of its articles is indexed once, and nothing else (${articles})`, async t => {
    t.equal(titlesOf(domain).length, articles, titlesOf(domain).join('\n'))
  })
}

t.test('a decompression bomb does not keep the other pages of its host away', async t => {
  t.same(titlesOf('bombs.example'), ['Nieuws over vrede'])
})

t.test('nothing is fetched while robots.txt does not answer, nor what it forbids', async t => {
  t.same(sites.get('loris-robots.example')!.to('/feed.xml'), [])
  t.equal(sites.get('many.example')!.seen.filter(({ path }) => path.startsWith('/p/')).length, 0)
})

t.test('no host ends a process', async t => {
  for (const { process: child } of fleet.members) t.equal(child.exitCode, null)
})
