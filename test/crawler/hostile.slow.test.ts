import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { removeOldSources } from '#services/crawler/crawler'
import { nextWork } from '#services/crawler/hosts/due'
import { claimVisits, visitHost } from '#services/crawler/visits'
import {
  addresses,
  html,
  manyPages,
  rss,
  sitemap,
  sitemapIndex,
  startScene,
  type TestCrawl,
} from './crawl.ts'
import { redirect, reply } from './site.ts'

const knownHosts = async ({ pool }: TestCrawl) =>
  (
    await pool.query<{ host: string }>(
      "select host from hosts where host like '127.0.7.%' order by 1",
    )
  ).rows.map(({ host }) => host)
const spent = async ({ pool }: TestCrawl) => {
  const { rows } = await pool.query<{ hosts: number; pages: number; bytes: number }>(
    'select sum(hosts)::int as hosts, sum(pages)::int as pages, sum(bytes)::float8 as bytes from outlet_loads',
  )
  return rows[0]!
}
t.test('hosts of the parts of a sitemap index count towards the budget of new hosts', async t => {
  const { run, sites, site } = await startScene(t, addresses(6), { CRAWL_OUTLET_HOSTS: '2' })
  site.on('/sitemap.xml', sitemapIndex(...sites.slice(1).map(one => `${one.origin}/part.xml`)))
  await run.outlets({ 'x.example': [`${site.origin}/sitemap.xml`] })
  await run.workOff()
  t.equal((await knownHosts(run)).length, 3, 'its own, which the catalogue names, and two')
  t.equal(sites.filter(one => one.seen.length > 0).length, 3, 'the others are not even asked')
})

t.test('so does the host that a robots.txt is redirected to', async t => {
  const { run, sites, site } = await startScene(t, addresses(4), { CRAWL_OUTLET_HOSTS: '1' })
  const [, second, third, fourth] = sites
  second?.on('/robots.txt', redirect(`${third?.origin}/r`, 301))
  third?.on('/r', redirect(`${fourth?.origin}/r`, 301))
  second?.on('/p', html('p'))
  await run.fetch(site, [`${second?.origin}/p`])
  t.equal((await knownHosts(run)).length, 2)
  t.equal((third?.seen.length ?? 0) + (fourth?.seen.length ?? 0), 0)
  t.match(
    await run.page(`${second?.origin}/p`),
    { state: 'waiting', reason: 'host busy' },
    'and nothing is lost',
  )
})

t.test(
  'a robots.txt costs its outlet bytes, and leaves the disk when it counts no more',
  async t => {
    const { run, site } = await startScene(t, addresses(1))
    const rules = Array.from(
      { length: 4_000 },
      () => `Disallow: /${randomBytes(40).toString('hex')}`,
    )
    site.on('/robots.txt', `User-agent: *\n${rules.join('\n')}`)
    await run.fetch(site, [])
    t.ok((await spent(run)).bytes > 300_000, 'bytes')
    await run.pool.query("update hosts set robots_until = now() - interval '2 days'")
    await removeOldSources(run.pool, 86_400_000, new AbortController().signal)
    const { rows } = await run.pool.query('select robots from hosts')
    t.same(rows, [{ robots: null }])
  },
)

t.test('an entry that grows while its page waits costs its outlet bytes', async t => {
  const { run, site } = await startScene(t, addresses(1))
  const links = manyPages(site, 6)
  site.on('/feed.xml', rss(...links))
  await run.outlets({ 'x.example': [`${site.origin}/feed.xml`] })
  await run.poll()
  const before = await spent(run)
  site.on(
    '/feed.xml',
    rss(...links.map(link => ({ link, 'content:encoded': 'tekst '.repeat(20_000) }))),
  )
  await run.again('feeds')
  t.ok((await spent(run)).bytes - before.bytes > 6 * 120_000)
})

t.test('pages that robots.txt forbids are pages of the day', async t => {
  const { run, site } = await startScene(t, addresses(1), { CRAWL_OUTLET_PAGES: '5' })
  site.on('/robots.txt', 'User-agent: *\nDisallow: /p')
  await run.fetch(site, manyPages(site, 12), 2_000)
  t.equal((await run.pages()).filter(({ state }) => state === 'refused').length, 5)
})

t.test('what an outlet writes into a header is kept short and printable', async t => {
  const { run, site } = await startScene(t, addresses(1))
  site.on('/film', reply(200, { 'content-type': `video/\u009b31m${'x'.repeat(15_000)}` }, 'film'))
  await run.fetch(site, [`${site.origin}/film`])
  const { rows } = await run.pool.query<{ detail: string }>(
    "select detail from pages where state = 'refused'",
  )
  t.match(rows[0]?.detail, /^video\//)
  t.ok((rows[0]?.detail.length ?? 0) <= 500)
  t.notMatch(rows[0]?.detail, /\p{Cc}/u)
})

t.test('what is remembered of a sitemap index does not grow for ever', async t => {
  const { run, site } = await startScene(t, addresses(1))
  site.on('/sitemap.xml', sitemapIndex())
  await run.outlets({ 'x.example': [`${site.origin}/sitemap.xml`] })
  await run.workOff()
  await run.pool.query(
    `insert into sitemap_parts (feed_no, url, read_at)
     select feed_no, 'http://x.example/' || n, now() - n * interval '1 minute' from feeds, generate_series(1, 1000) n`,
  )
  site.on('/sitemap.xml', sitemapIndex(`${site.origin}/part.xml`))
  site.on('/part.xml', sitemap())
  await run.again('feeds')
  await removeOldSources(run.pool, 86_400_000, new AbortController().signal)
  const { rows } = await run.pool.query<{ parts: number }>(
    'select count(*)::int as parts from sitemap_parts',
  )
  t.ok((rows[0]?.parts ?? 0) <= 400, String(rows[0]?.parts))
})

t.test('a host with the longest and strangest of names stops nobody', async t => {
  const { run, site } = await startScene(t, addresses(1))
  const names = [
    `${'a'.repeat(2_000)}.example`,
    '\'"!$&()*+,;=.example',
    'a_b.example:8080',
    '[::ffff:1]',
    '0x7f.1',
    '1:2',
    'ß.example.',
  ]
  site.on('/p', html('p'))
  await run.fetch(site, [...names.map(name => `http://${name}/`), `${site.origin}/p`])
  t.match(await run.page(`${site.origin}/p`), { state: 'stored' })
})

t.test('outlets that share a host take turns, also where a visit makes one request', async t => {
  const { run, site } = await startScene(t, addresses(1))
  const greedy = manyPages(site, 60, 'greedy', 'greedy')
  const honest = manyPages(site, 16, 'honest', 'honest')
  site.on('/greedy.xml', rss(...greedy))
  site.on('/honest.xml', rss(...honest))
  await run.outlets({
    'a.example': [`${site.origin}/greedy.xml`],
    'z.example': [`${site.origin}/honest.xml`],
  })
  await run.poll()
  run.crawl.backlogged = false
  // Chance decides whose turn it is.
  for (let visit = 0; visit < 12; visit += 1) {
    const work = await nextWork(run.pool, site.host, {
      pages: true,
      held: run.crawl.held,
      feedFirst: false,
      served: null,
    })
    if (work?.kind !== 'page') break
    await run.pool.query("update pages set state = 'stored' where page_no = $1", [work.page.pageNo])
  }
  const stored = (await run.pages()).filter(
    ({ domain, state }) => domain === 'z.example' && state === 'stored',
  )
  t.ok(stored.length >= 1, `${stored.length} of twelve visits`)
  await run.workOff()
  const order = site.seen.flatMap(({ path }) => /^\/(greedy|honest)\//.exec(path)?.[1] ?? [])
  const last = order.lastIndexOf('honest')
  t.ok(last >= 0 && last < order.length - 5, `the last one is number ${last} of ${order.length}`)
  t.equal(order.length, 60 + 16 - 12)
})

/**
 * Hosts that want a minute between two requests, each with a page that is redirected within it; how
 * their visits end.
 */
async function visitPausing(
  t: { teardown(end: () => unknown): void },
  outlets: string[],
  concurrency: string,
) {
  const { run, sites } = await startScene(t, addresses(outlets.length), {
    CRAWL_CONCURRENCY: concurrency,
  })
  const feeds: Record<string, string[]> = {}
  for (const [at, site] of sites.entries()) {
    site.on('/feed.xml', rss(`${site.origin}/a`))
    site.on('/a', redirect('/b'))
    const outlet = outlets[at] ?? ''
    feeds[outlet] = [...(feeds[outlet] ?? []), `${site.origin}/feed.xml`]
  }
  await run.outlets(feeds)
  await run.poll()
  await run.pool.query(
    "update hosts set crawl_delay = 60000, free_at = 'epoch', tdm_until = 'infinity'",
  )
  const stop = new AbortController()
  const crawl = { ...run.crawl, backlogged: false, stopping: stop.signal }
  const visits = (await claimVisits(crawl, sites.length)).map(visit => visitHost(crawl, visit))
  const putBack = async () =>
    (await run.pages()).filter(({ reason }) => reason === 'host busy').length
  for (let waited = 0; (await putBack()) === 0 && waited < 20_000; waited += 100) await sleep(100)
  for (const site of sites) while (site.to('/a').length === 0) await sleep(100)
  await sleep(1_000)
  const ended = await putBack()
  stop.abort()
  await Promise.all(visits)
  return ended
}

t.test('hosts with long pauses keep no more than half of the visits waiting', async t => {
  t.equal(await visitPausing(t, ['a.example', 'b.example', 'c.example'], '4'), 1)
})

t.test('and those of one outlet two', async t => {
  t.equal(await visitPausing(t, ['a.example', 'a.example', 'a.example', 'b.example'], '16'), 1)
})
