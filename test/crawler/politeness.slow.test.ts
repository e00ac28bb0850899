import t from 'tap'
import { startFleet, until } from '#test/fleet'
import { html, outletOf, rss } from './crawl.ts'
import { breachesOf, redirect, type Site, startSite } from './site.ts'

const DELAY = 150

/**
 * Two outlets on three hosts, whose pages send visitors from one to another; every request counts.
 */
async function startSites(): Promise<Site[]> {
  const sites = await Promise.all(
    ['127.0.0.1', '127.0.0.2', '127.0.0.3'].map(address => startSite(address)),
  )
  for (const [index, site] of sites.entries()) {
    const next = sites[(index + 1) % sites.length]
    const paths: string[] = []
    for (let page = 0; page < 12; page += 1) {
      paths.push(`/page/${page}`, ...(page % 3 === 0 ? [`/moved/${page}`] : []))
      site.on(`/page/${page}`, html(`page ${page}`))
      site.on(`/target/${page}`, html(`target ${page}`))
      site.on(`/moved/${page}`, redirect(`${next?.origin}/target/${page}`))
    }
    // A slow one: the next request must wait for its end too.
    site.on('/page/5', (_request, response) => setTimeout(() => response.end(html('slow')), 400))
    site.on('/feed.xml', rss(...paths.map(path => site.origin + path)))
    site.on(
      '/more.xml',
      rss(...paths.slice(3).map(path => `${site.origin}${path}?utm_source=more`)),
    )
  }
  return sites
}

t.test('one rate per host over all workers and processes, whatever happens to them', async t => {
  const sites = await startSites()
  t.teardown(() => Promise.all(sites.map(site => site.close())))
  const { database, fleet } = await startFleet(t, {
    CRAWL_ALLOW_PRIVATE: '127.0.0.0/8',
    CRAWL_HOST_DELAY: `${DELAY}ms`,
    POLL_INTERVAL_MIN: '1s',
    POLL_INTERVAL_MAX: '2s',
  })
  const outlets = sites.map(({ origin }, index) =>
    // A host of another outlet would have its pages refused.
    outletOf(`outlet${index}.example`, [`${origin}/feed.xml`, `${origin}/more.xml`], { hosts: [] }),
  )
  await fleet.sync({ outlets })
  const first = await fleet.start('crawler')
  const second = await fleet.start('crawler')

  const stored = () => database.count("pages where state = 'stored'")
  await until(async () => (await stored()) > 5, 60_000)

  // One is paused for longer than a lease lasts, the other killed and replaced; then the first
  // wakes up.
  first.process.kill('SIGSTOP')
  await new Promise(resolve => setTimeout(resolve, 500))
  second.process.kill('SIGKILL')
  await fleet.start('crawler')
  await new Promise(resolve => setTimeout(resolve, 12_000))
  first.process.kill('SIGCONT')
  const open = () => database.count("pages where state = 'waiting'")
  await until(async () => (await stored()) === 48 && (await open()) === 0, 60_000, fleet.logs)

  for (const site of sites) {
    const pages = site.seen.filter(({ path }) => path.startsWith('/page/'))
    t.equal(new Set(pages.map(({ path }) => path)).size, 12, 'every page')
    t.same(breachesOf(site, DELAY), [], `${site.host}: ${site.seen.length} requests`)
  }
})
