import type { IncomingMessage } from 'node:http'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { askHost } from '#services/crawler/fetch/permitted-request'
import { beginVisit, endVisit } from '#services/crawler/hosts/leases'
import { readValue } from '#shared/postgres/pool'
import { outletHealth } from '#status/health'
import { until } from '#test/fleet'
import { addresses, html, rss, startCrawl } from './crawl.ts'
import { cutShort, type Handler, pour, redirect, reply, type Site, startSite } from './site.ts'

const run = await startCrawl({ CRAWL_RETRY_MIN: '300ms' })
t.teardown(() => run.close())

type Robots = Parameters<Site['on']>[1] | null

/** A site for each robots.txt, because it belongs to the host. They alone are in the catalogue. */
async function publishedAll(t: Test, files: Robots[], ...paths: string[]) {
  const hosts = addresses(files.length)
  const sites = await Promise.all(hosts.map(host => startSite(host)))
  t.teardown(() => Promise.all(sites.map(site => site.close())))
  for (const [number, site] of sites.entries()) {
    const robots = files[number] ?? null
    if (robots !== null) site.on('/robots.txt', robots)
    for (const path of paths) site.on(path, html(path))
    site.on('/feed.xml', rss(...paths.map(path => site.origin + path)))
  }
  await run.outlets(
    Object.fromEntries(
      sites.map(({ port, origin }) => [`x${port}.example`, [`${origin}/feed.xml`]]),
    ),
  )
  return sites.map(site => ({ site, at: (path: string) => site.origin + path }))
}

const published = async (t: Test, robots: Robots, ...paths: string[]) =>
  (await publishedAll(t, [robots], ...paths))[0]!

t.test('robots.txt is asked for first, once, and obeyed', async t => {
  const robots =
    'User-agent: *\nDisallow: /\n\nUser-agent: PerscopeBot\nDisallow: /prive/\nAllow: /prive/open'
  const { site, at } = await published(t, robots, '/a', '/prive/b', '/prive/open')
  await run.workOff()
  t.equal(site.seen[0]?.path, '/robots.txt')
  t.match(await run.page(at('/a')), { state: 'stored' })
  t.match(await run.page(at('/prive/b')), { state: 'refused', reason: 'robots' })
  t.match(await run.page(at('/prive/open')), { state: 'stored' })
  t.equal(site.to('/prive/b').length, 0)
  await run.again('feeds')
  t.equal(site.to('/robots.txt').length, 1, 'kept in the database')
  await run.pool.query("update hosts set robots_until = now() - interval '1 s'")
  await run.again('feeds')
  t.equal(site.to('/robots.txt').length, 2, 'asked for again when it is a day old')
})

t.test('RFC 9309 §2.3.1.3: without one, everything is allowed', async t => {
  const statuses = [404, 403, 410]
  const files = statuses.map(status => reply(status, {}, 'Disallow: /'))
  const sites = await publishedAll(t, files, '/a')
  await run.workOff()
  for (const [number, { at }] of sites.entries())
    t.match(await run.page(at('/a')), { state: 'stored' }, String(statuses[number]))
})

t.test(
  'RFC 9309 §2.3.1.4: while it does not answer, nothing is fetched; when it does, everything is',
  async t => {
    const silent: Record<string, Handler> = {
      'a server error': reply(503),
      'too many requests': reply(429),
      'a file that is not sent': reply(304),
      'a cut answer': cutShort({}, 'User-agent: *\nAllow: /'.padEnd(60)),
      'a redirect to an address that is not asked': redirect('http://10.0.0.1/robots.txt'),
      'half a gzip file': reply(200, {}, gzipSync('User-agent: *\nAllow: /').subarray(0, -9)),
      'no answer at all': (request: IncomingMessage) => request.socket.destroy(),
    }
    const names = Object.keys(silent)
    const sites = await publishedAll(t, Object.values(silent), '/a')
    await run.workOff(1_200)
    await run.workOff(30_000, async () => sites.every(({ site }) => site.seen.length >= 2))
    for (const [number, name] of names.entries()) {
      const { seen } = sites[number]!.site
      t.same([...new Set(seen.map(({ path }) => path))], ['/robots.txt'], name)
      t.ok(
        seen.length >= 2 && seen.length <= 4,
        `tried again with longer pauses: ${seen.length} times`,
      )
    }
    const failing = { health: 'failing', error: /robots\.txt/ }
    t.match(
      await outletHealth(run.pool),
      sites.map(() => failing),
    )
    for (const { site } of sites) site.on('/robots.txt', 'User-agent: *\nAllow: /')
    const stateOf = async (url: string) => (await run.page(url))?.state
    const states = () => Promise.all(sites.map(({ at }) => stateOf(at('/a'))))
    await run.workOff(30_000, async () => (await states()).every(state => state === 'stored'))
    t.same(
      await states(),
      names.map(() => 'stored'),
    )
    t.match(
      await outletHealth(run.pool),
      sites.map(() => ({ health: 'healthy', error: null })),
    )
  },
)

t.test(
  'RFC 9309 §2.3.1.2: its redirects are followed, to another host in that host’s turn',
  async t => {
    const other = await startSite('127.0.0.2')
    t.teardown(() => other.close())
    other.on('/robots.txt', 'User-agent: *\nDisallow: /b')
    const { at } = await published(t, redirect(`${other.origin}/robots.txt`, 301), '/a', '/b')
    await run.workOff()
    t.match(await run.page(at('/a')), { state: 'stored' })
    t.match(await run.page(at('/b')), { state: 'refused', reason: 'robots' })
    const circle = await published(t, redirect('/robots.txt'), '/a')
    await run.workOff()
    t.match(await run.page(circle.at('/a')), { state: 'stored' }, 'too many count as none')
  },
)

t.test('a feed that robots.txt forbids is not read, and the outlet fails', async t => {
  const { site } = await published(t, 'User-agent: *\nDisallow: /feed', '/a')
  await run.workOff()
  t.equal(site.to('/feed.xml').length, 0)
  t.match(await outletHealth(run.pool), [{ health: 'failing', error: /forbids \/feed\.xml/ }])
})

t.test('a robots.txt that is a gzip file is obeyed, too', async t => {
  const { at } = await published(t, reply(200, {}, gzipSync('User-agent: *\nDisallow: /a')), '/a')
  await run.workOff()
  t.match(await run.page(at('/a')), { state: 'refused', reason: 'robots' })
})

t.test('a longer Crawl-delay wins over CRAWL_HOST_DELAY', async t => {
  const { site } = await published(t, 'User-agent: *\nCrawl-delay: 0.4', '/a', '/b')
  await run.workOff()
  t.equal(site.seen.length, 5)
  for (const [index, { from }] of site.seen.entries()) {
    const before = site.seen[index - 1]?.until ?? 0
    t.ok(from - before >= 399, `${from - before} ms`)
  }
})

t.test('a permit ends when the database is lost just before its request', async t => {
  const { site } = await published(t, null)
  const { pool, leases } = run.crawl
  const visit = await beginVisit(pool, leases, site.host, null)
  t.teardown(() => endVisit(pool, leases, visit!))
  const needed = () => pool.query('select lost').then(() => true)
  const options = { outletNo: 1, patience: 1_000, needed }
  await t.rejects(askHost(run.crawl, visit!, new URL(site.origin), {}, options), {
    message: /lost/,
  })
  const timeOf = (column: string) =>
    readValue<Date>(pool, `select ${column} from hosts where host = $1`, [site.host])
  const before = await timeOf('free_at')
  const leased = await timeOf('leased_until')
  await until(async () => (await timeOf('leased_until'))! > leased!, 20_000)
  t.same(await timeOf('free_at'), before, 'it is not renewed with the visit')
})

t.test(
  'RFC 9309 §2.5: of one that is larger than any page may be, the first 500 KiB hold',
  async t => {
    const lines = 'Allow: /archief/aflevering\n'.repeat(420_000)
    const robots = `User-agent: *\nDisallow: /a\n${lines}Disallow: /b\n`
    const answers: Record<string, Handler> = {
      plain: reply(200, {}, robots),
      gzip: reply(200, { 'content-encoding': 'gzip' }, gzipSync(robots)),
      brotli: reply(200, { 'content-encoding': 'br' }, brotliCompressSync(robots)),
      endless: pour(lines, robots),
    }
    const sites = await publishedAll(t, Object.values(answers), '/a', '/b')
    await run.workOff()
    for (const [number, name] of Object.keys(answers).entries()) {
      const { at } = sites[number]!
      t.match(await run.page(at('/a')), { state: 'refused', reason: 'robots' }, name)
      t.match(await run.page(at('/b')), { state: 'stored' }, name)
    }
  },
)
