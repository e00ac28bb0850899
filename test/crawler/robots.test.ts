import type { IncomingMessage } from 'node:http'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { askHost } from '#services/crawler/fetch/permitted-request'
import { beginVisit, endVisit } from '#services/crawler/hosts/leases'
import { readValue } from '#shared/postgres/pool'
import { outletHealth } from '#status/health'
import { html, rss, startCrawl } from './crawl.ts'
import { cutShort, type Handler, pour, redirect, reply, type Site, startSite } from './site.ts'

const run = await startCrawl({ CRAWL_RETRY_MIN: '300ms' })
t.teardown(() => run.close())

/**
 * A site of its own for each rule, because robots.txt belongs to the host; it is the only one in
 * the catalogue then.
 */
async function published(t: Test, robots: Parameters<Site['on']>[1] | null, ...paths: string[]) {
  const site = await startSite()
  t.teardown(() => site.close())
  if (robots !== null) site.on('/robots.txt', robots)
  for (const path of paths) site.on(path, html(path))
  site.on('/feed.xml', rss(...paths.map(path => site.origin + path)))
  await run.outlets({ [`x${site.port}.example`]: [`${site.origin}/feed.xml`] })
  return { site, at: (path: string) => site.origin + path }
}

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
  for (const status of [404, 403, 410]) {
    const { at } = await published(t, reply(status, {}, 'Disallow: /'), '/a')
    await run.workOff()
    t.match(await run.page(at('/a')), { state: 'stored' }, String(status))
  }
})

t.test(
  'RFC 9309 §2.3.1.4: while it does not answer, nothing is fetched; when it does, everything is',
  async t => {
    for (const [name, robots] of Object.entries({
      'a server error': reply(503),
      'too many requests': reply(429),
      'a file that is not sent': reply(304),
      'a cut answer': cutShort({}, 'User-agent: *\nAllow: /'.padEnd(60)),
      'a redirect to an address that is not asked': redirect('http://10.0.0.1/robots.txt'),
      'half a gzip file': reply(200, {}, gzipSync('User-agent: *\nAllow: /').subarray(0, -9)),
      'no answer at all': (request: IncomingMessage) => request.socket.destroy(),
    })) {
      const { site, at } = await published(t, robots, '/a')
      await run.workOff(1_200)
      await run.workOff(30_000, async () => site.seen.length >= 2)
      t.same([...new Set(site.seen.map(({ path }) => path))], ['/robots.txt'], name)
      t.ok(
        site.seen.length >= 2 && site.seen.length <= 4,
        `tried again with longer pauses: ${site.seen.length} times`,
      )
      t.match(await outletHealth(run.pool), [{ health: 'failing', error: /robots\.txt/ }])
      site.on('/robots.txt', 'User-agent: *\nAllow: /')
      await run.workOff(30_000, async () => (await run.page(at('/a')))?.state === 'stored')
      t.match(await run.page(at('/a')), { state: 'stored' }, name)
      t.match(await outletHealth(run.pool), [{ health: 'healthy', error: null }])
    }
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
  const free = () => readValue<Date>(pool, 'select free_at from hosts where host = $1', [site.host])
  const before = await free()
  await new Promise(resolve => setTimeout(resolve, 5_000))
  t.same(await free(), before, 'it is not renewed')
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
    for (const [name, answer] of Object.entries(answers)) {
      const { at } = await published(t, answer, '/a', '/b')
      await run.workOff()
      t.match(await run.page(at('/a')), { state: 'refused', reason: 'robots' }, name)
      t.match(await run.page(at('/b')), { state: 'stored' }, name)
    }
  },
)
