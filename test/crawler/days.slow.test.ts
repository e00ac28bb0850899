import t from 'tap'
import { syncOutlets } from '#scripts/outlets/sync'
import { maintain } from '#services/crawler/crawler'
import { countDays } from '#services/crawler/days'
import { addressKey } from '#shared/articles/address'
import { type DaySum, dayAgo, readDays } from '#shared/outlets/days'
import { createPool } from '#shared/postgres/pool'
import { removeArticles } from '#shared/removals/remove'
import { jsonLines, runScript } from '#test/script'
import { newArticle, openTestWriter } from '#test/search/short-articles'
import { html, newsSitemap, outletOf, rss, SLOWLY, sitemap, startScene } from './crawl.ts'
import { reply, tagged } from './site.ts'

const scene = await startScene(t, ['127.0.0.1'], SLOWLY)
const { run, site, at } = scene
const show = (...paths: string[]) => rss(...paths.map(at))

/** Saves and counts twice: once more changes nothing. */
async function today(): Promise<DaySum | undefined> {
  for (const _ of [1, 2]) {
    await run.crawl.asked.save(run.pool)
    await countDays(run.pool)
  }
  const [day] = await readDays(run.pool, {
    by: 'outlet and day',
    outlets: null,
    from: dayAgo(0),
    to: dayAgo(0),
  })
  return day
}

async function only(...outlet: Parameters<typeof scene.only>): Promise<void> {
  await run.crawl.asked.save(run.pool)
  run.crawl.backlogged = false
  await scene.only(...outlet)
}

const become = (
  path: string,
  state: string,
  reason: string | null = null,
  origins: string | null = null,
) =>
  run.pool.query(
    'update pages set state = $2, reason = $3, origins = $4, finished_at = now() where url = $1',
    [at(path), state, reason, origins],
  )

t.test('a day counts each address once, whatever named it and however often', async t => {
  await only(['/feed.xml'], ['/sitemap.xml'])
  for (const path of ['/a', '/b', '/c', '/d', '/e']) site.on(path, html(path))
  site.on('/feed.xml', show('/a', '/b', '/c', '/e'))
  site.on('/sitemap.xml', sitemap(at('/b'), at('/d')))
  await run.workOff()
  await run.poll()
  await run.poll()
  await become('/a', 'done', null, 'j3j3j3p3w3')
  await become('/b', 'done', null, 'j3j3j3s3w3')
  await become('/c', 'refused', 'rights')
  await become('/d', 'refused', 'language')
  await become('/e', 'failed', 'time-out')
  t.match(await today(), {
    feeds: 4,
    second: 2,
    named: 4,
    indexed: 2,
    alone: 1,
    refused: { rights: 1, language: 1 },
    lost: 1,
    waiting: 0,
    share: 0.5,
    gap: true,
    unread: 0,
  })
  await become('/c', 'done')
  await become('/e', 'done')
  t.match(
    await today(),
    { indexed: 4, refused: { language: 1 }, lost: 0, share: 1, gap: false },
    'counted anew',
  )
})

t.test('a poll that crashes and comes again counts once', async t => {
  await only(['/feed.xml'])
  site.on('/feed.xml', show('/a', '/b'))
  await run.crashing(() => run.poll())
  t.equal((await today())?.named ?? 0, 0)
  await run.poll()
  t.match(await today(), { feeds: 2, named: 2, polls: 1 })
})

t.test(
  'without a second count there is no share, also when every address has its article',
  async t => {
    await only(['/feed.xml'])
    site.on('/feed.xml', show('/a', '/b'))
    await run.workOff()
    await become('/a', 'done')
    await become('/b', 'done')
    t.match(await today(), { named: 2, indexed: 2, second: null, share: null, gap: false })
  },
)

t.test(
  'requests, errors, 304s and bytes are those that the site saw, also when saving fails at first',
  async t => {
    await only(['/feed.xml'])
    const body = show('/a', '/gone')
    site.on('/feed.xml', tagged('"1"', body))
    site.on('/gone', reply(403))
    site.on('/robots.txt', 'User-agent: *\nAllow: /')
    const before = site.seen.length
    await run.pool.query("update hosts set robots_until = 'epoch', tdm_until = 'epoch'")
    await run.workOff()
    await run.poll()
    const lost = createPool('postgres://127.0.0.1:9/none', 'test', () => {})
    await t.rejects(run.crawl.asked.save(lost))
    await lost.end()
    const seen = site.seen.slice(before).map(({ path }) => path)
    t.match(await today(), {
      requests: seen.length,
      unchanged: 1,
      polls: 2,
      errors: seen.filter(path => path === '/gone').length,
      bytes: body.length + html('/a').length + 'User-agent: *\nAllow: /'.length,
    })
  },
)

t.test('a report tells a publisher what was asked and obeyed, and how to refuse', async t => {
  await only(['/feed.xml'])
  site.on('/feed.xml', show('/a', '/private/b'))
  site.on('/robots.txt', 'User-agent: *\nDisallow: /private\nCrawl-delay: 0.01')
  await run.pool.query("update hosts set robots_until = 'epoch'")
  await run.workOff()
  const asked = (await today())?.requests
  await run.pool.query("update outlets set hosts = hosts || '{video.example}'")
  await run.pool.query(
    "insert into hosts (host, robots) values ('www.video.example', '-/clips'), ('novideo.example', '-/')",
  )
  await run.pool.query(
    `with b as (
       insert into back_fills (outlet_no, from_day, to_day, newest_first, state)
       select outlet_no, '2019-01-01', '2019-12-31', false, 'done' from outlets where domain = 'x.example' returning outlet_no)
     insert into back_days (outlet_no, day, named, fetched, refused, lost) select outlet_no, '2019-03-01', 12, 8, 3, 0 from b`,
  )
  const env = {
    DATABASE_URL: run.crawl.config.DATABASE_URL,
    PUBLIC_URL: 'https://news.example',
    CRAWL_USER_AGENT: 'NewsBot/1.0 (+https://news.example/bot)',
  }
  const { code, out } = await runScript('outlets', ['report', 'x.example'], env)
  t.equal(code, 0)
  t.match(out, /^# How newsbot reads x\.example\n/)
  t.match(out, `| all | ${asked} | 0 |`)
  t.match(out, 'its robots.txt forbids us `/private`, Crawl-delay')
  t.match(out, '1 not indexed: robots')
  t.match(
    out,
    'from 2019-01-01 to 2019-12-31, were read too, at a fifth of the pace: of 12 addresses',
  )
  t.match(out, 'User-agent: newsbot\nDisallow: /')
  t.match(out, 'https://news.example/bot')
  const json = JSON.parse((await runScript('outlets', ['report', 'x.example', '--json'], env)).out)
  t.match(json, {
    sum: { requests: asked, refused: { robots: 1 } },
    hosts: [{ forbidden: ['/private'] }, { host: 'www.video.example', forbidden: ['/clips'] }],
    rights: [],
  })
  t.match(await runScript('outlets', ['report', 'y.example'], env), {
    code: 2,
    err: /No outlet has the domain/,
  })
  const listed = jsonLines((await runScript('outlets', ['list', '--json'], env)).out)
  t.match(listed, [{ days: [{ day: dayAgo(0), requests: asked, named: 2, share: null }] }])
  t.match((await runScript('outlets', ['list'], env)).out, /today 0 of 2, counted once/)
})

const news = (path: string, published = new Date().toISOString()) => ({
  url: at(path),
  title: `Over ${path}`,
  published,
})

t.test(
  'the news sitemap of robots.txt is a second count: asked a few times a day, its addresses never',
  async t => {
    await only(['/feed.xml'])
    site.on(
      '/robots.txt',
      `User-agent: *\nAllow: /\nSitemap: ${at('/sitemap.xml')}\nSitemap: ${at('/news-sitemap.xml')}`,
    )
    await run.pool.query("update hosts set robots_until = 'epoch'")
    site.on('/feed.xml', show('/a', '/b'))
    site.on('/news-sitemap.xml', newsSitemap(news('/a')))
    await run.workOff()
    t.match(
      await today(),
      { feeds: 2, second: 1, unfetched: 0 },
      'what was published before does not count',
    )
    const undated = news('/undated', '0001-01-01T00:00:00+01:00')
    const gone = newArticle(1, {
      addresses: [addressKey(at('/gone'))],
      outlet: { name: 'x', domain: 'x.example' },
    })
    const { writer } = openTestWriter(run.pool)
    await writer.write([gone])
    const { rows } = await run.pool.query('select seq, id from articles')
    await removeArticles(run.pool, rows, 'a court')
    site.on(
      '/news-sitemap.xml',
      newsSitemap(undated, ...['/a', '/b', '/gone', '/new', '/only'].map(path => news(path))),
    )
    await run.poll()
    t.equal(site.to('/news-sitemap.xml').length, 1, 'not again within hours')
    await run.pool.query(
      "update outlets set second_at = 'epoch', second_from = now() - interval '1 minute'",
    )
    await run.poll()
    t.match(await today(), { feeds: 2, second: 4, named: 4, unfetched: 2, gap: true })
    site.on('/feed.xml', show('/new', '/b', '/a'))
    site.on('/new', html('nieuw'))
    await run.workOff()
    await run.poll()
    t.match(
      await today(),
      { feeds: 3, second: 4, named: 4, unfetched: 1 },
      'a feed has named one of them since',
    )
    t.equal(site.to('/only').length, 0)
    t.equal((await run.pool.query("select from pages where url like '%/only'")).rowCount, 0)
    await run.pool.query('update unfetched_addresses set day = day - 1')
    await countDays(run.pool)
    const yesterday = async () =>
      (await readDays(run.pool, { by: 'day', outlets: null, from: dayAgo(1), to: dayAgo(1) }))[0]
    t.match(await yesterday(), { named: 1, unfetched: 1 })
    site.on('/feed.xml', show('/only', '/new'))
    await run.poll()
    await countDays(run.pool)
    t.match(
      await yesterday(),
      { named: 0, unfetched: 0 },
      'a feed names the only address of a day on the next',
    )
  },
)

t.test('a second count has the addresses on all hosts of its outlet, and on no other', async t => {
  await only(['/feed.xml'])
  await syncOutlets(run.pool, [
    outletOf('x.example', [at('/feed.xml')], {
      hosts: ['127.0.0.1', 'video.example', 'hëllef.example'],
    }),
    outletOf('regio.x.example', []),
  ])
  await run.pool.query(
    "update outlets set second_at = 'epoch', second_from = now() - interval '1 minute'",
  )
  const hosts = ['x', 'www.x', 'www.video', 'www.hëllef', 'regio.x', 'elders']
  site.on('/feed.xml', show('/a'))
  site.on(
    '/news-sitemap.xml',
    newsSitemap(...hosts.map(host => ({ ...news('/'), url: `https://${host}.example/${host}` }))),
  )
  await run.poll()
  const { rows } = await run.pool.query<{ key: string }>(
    'select crawl_key as key from unfetched_addresses order by 1',
  )
  t.same(
    rows.map(({ key }) => key.replace(/\/.*/, '')),
    ['video.example', 'x.example', 'x.example', 'xn--hllef-nsa.example'],
  )
})

t.test(
  'a day on which nothing could be read, and one on which a feed rolled on, are gaps',
  async t => {
    await only(['/feed.xml'])
    site.on('/feed.xml', show('/c', '/b', '/a'))
    await run.poll()
    site.on('/feed.xml', show('/f', '/e', '/d'))
    await run.poll()
    t.match(await today(), { rolled: 1, unread: 0, gap: true })
    await run.pool.query('update outlet_days set day = day - 3, rolled = 0')
    site.on('/feed.xml', show('/g', '/f', '/e', '/d'))
    await run.poll()
    await today()
    const days = await readDays(run.pool, {
      by: 'day',
      outlets: null,
      from: dayAgo(5),
      to: dayAgo(0),
    })
    t.match(
      days.map(({ day, unread, gap }) => [day, unread, gap]),
      [
        [dayAgo(3), 0, false],
        [dayAgo(2), 1, true],
        [dayAgo(1), 1, true],
        [dayAgo(0), 0, false],
      ],
    )
    await run.outlets({})
    const left = await readDays(run.pool, {
      by: 'day',
      outlets: null,
      from: dayAgo(5),
      to: dayAgo(0),
    })
    t.same(left, [], 'an outlet that left the catalogue is missed by nobody')
  },
)

t.test('one outlet of many that fails makes no gap in the day of all', async t => {
  await run.forget()
  await run.pool.query(
    `with outlet as (
       insert into outlets (domain, name, country, languages, time_zone)
       select n || '.example', n, 'NL', '{nl}', 'Europe/Amsterdam' from generate_series(1, 30) n returning outlet_no
     )
     insert into outlet_days (outlet_no, day, polls)
     select outlet_no, (now() at time zone 'UTC')::date - ago, 1 from outlet, generate_series(1, 3) ago
      where ago > 1 or outlet_no > (select min(outlet_no) from outlet)`,
  )
  const read = (by: 'day' | 'outlet and day') =>
    readDays(run.pool, { by, outlets: null, from: dayAgo(1), to: dayAgo(1) })
  t.match(await read('day'), [{ unread: 1, gap: false }])
  t.match((await read('outlet and day'))[0], { unread: 1, gap: true })
})

t.test(
  'the first count begins with the whole days of the latest pages, however many there are',
  async t => {
    await only(['/feed.xml'])
    site.on('/feed.xml', show('/old', '/first', '/new'))
    await run.poll()
    // A column of the copy takes the number that the identity would give.
    await run.pool.query('create temp table moved as select * from pages')
    await run.pool.query('delete from pages')
    for (const [path, number, days] of [
      ['/old', 1, 3],
      ['/first', 50_000_000, 2],
      ['/new', 60_000_000, 0],
    ] as const) {
      await run.pool.query(
        `update moved set page_no = $2, discovered_at = discovered_at - $3 * interval '1 day' where url = $1`,
        [at(path), number, days],
      )
    }
    await run.pool.query('insert into pages overriding system value select * from moved')
    await run.pool.query('delete from outlet_days')
    await countDays(run.pool)
    const { rows } = await run.pool.query<{ day: string; named: number }>(
      'select day::text, named from outlet_days',
    )
    t.same(rows, [{ day: dayAgo(0), named: 1 }])
  },
)

t.test('a count that fails holds up no removal', async t => {
  await only(['/feed.xml'])
  site.on('/feed.xml', show('/kept'))
  site.on('/kept', html('kept'))
  await run.workOff()
  await become('/kept', 'done')
  await run.pool.query("update page_sources set fetched_at = 'epoch'")
  await run.pool.query("update pages set finished_at = 'epoch'")
  await run.pool.query('alter table outlet_days rename to outlet_days_away')
  t.teardown(() => run.pool.query('alter table outlet_days_away rename to outlet_days'))
  await t.rejects(maintain(run.crawl), { code: '42P01' })
  t.same((await run.pool.query('select from page_sources')).rows, [])
})
