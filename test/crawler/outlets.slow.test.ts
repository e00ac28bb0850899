import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { createTestPool, holdLock, lockWaits } from '#test/database'
import { syncCatalogue, until } from '#test/fleet'
import { answerOnTerminal, jsonLines, run, runScript } from '#test/script'
import { newsSitemap, outletOf, rss, sitemapIndex } from './crawl.ts'
import { redirect, reply, startSite } from './site.ts'

const { database, pool } = await createTestPool(t)
const site = await startSite()
t.teardown(() => site.close())

const outlets = (...words: string[]) =>
  runScript('outlets', words, {
    DATABASE_URL: database.url,
    CRAWL_ALLOW_PRIVATE: '127.0.0.0/8',
    CRAWL_HOST_DELAY: '1ms',
    CRAWL_TIMEOUT: '3s',
  })

const file = join(t.testdir(), 'outlets.json')
const write = (...entries: object[]) => writeFile(file, JSON.stringify({ outlets: entries }))
/** Makes the catalogue without a command. */
const sync = (...outlets: object[]) => syncCatalogue({ DATABASE_URL: database.url }, { outlets })
const A = { ...outletOf('a.example', [`${site.origin}/a.xml`]), hosts: undefined }
const B = {
  name: 'B',
  domain: 'b.example',
  country: 'LU',
  languages: ['lb', 'fr'],
  timeZone: 'Europe/Luxembourg',
}

t.test(
  'sync works on an empty database, adds nothing of its own, and says what it did',
  async t => {
    await write(A, B)
    const dry = await outlets('sync', file, '--dry-run')
    t.match(dry.err, /Would be: 2 outlets added/)
    t.equal((await pool.query('select from outlets')).rowCount, 0)
    t.match(
      (await outlets('sync', file)).err,
      /2 outlets added, 0 changed, 0 removed, 0 as they were; 1 feed added, 0 removed/,
    )
    t.match(
      (await outlets('sync', file)).err,
      /0 outlets added, 0 changed, 0 removed, 2 as they were/,
    )
    await write({ ...A, name: 'Anders' })
    t.match(
      (await outlets('sync', file, '--yes')).err,
      /changed: a\.example\nno longer crawled: b\.example/,
    )
    const { rows } = await pool.query('select domain, name, active from outlets order by domain')
    t.same(rows, [
      { domain: 'a.example', name: 'Anders', active: true },
      { domain: 'b.example', name: 'B', active: false },
    ])
  },
)

t.test('one address as feed and as sitemap, or in two spellings, is one feed', async t => {
  const feed = `${site.origin}/twice.xml`
  await write({ ...A, feeds: [feed, `${feed}#top`], sitemaps: [feed] }, B)
  t.match(await outlets('sync', file), { code: 0, err: /1 feed added/ })
  t.match((await pool.query('select url, kind from feeds where active')).rows, [
    { url: feed, kind: 'feed' },
  ])
  await sync(A)
})

const active = async () =>
  (
    await pool.query<{ domain: string }>('select domain from outlets where active order by domain')
  ).rows.map(({ domain }) => domain)

t.test(
  'on a terminal, sync removes no outlet without --yes or consent; elsewhere it says which',
  async t => {
    await sync(A, B)
    await write(B)
    t.match(await outlets('sync', file), { code: 0, err: /no longer crawled: a\.example/ })
    t.strictSame(await active(), ['b.example'])
    await sync(A, B)
    await write(A)
    t.match(
      await onTerminal('n', 'sync', file),
      /Stop crawling it\? \[y\/N\].*Nothing was changed/s,
    )
    t.strictSame(await active(), ['a.example', 'b.example'])
    t.match(await onTerminal('y', 'sync', file), /no longer crawled: b\.example/)
    t.strictSame(await active(), ['a.example'])
    await write()
    const emptied = await outlets('sync', file)
    t.match(emptied, {
      code: 0,
      err: /names no outlet, so nothing is crawled any more; .* To undo/,
    })
    await sync(A)
  },
)

const onTerminal = (answer: string, ...words: string[]): Promise<string> =>
  answerOnTerminal(answer, 'outlets', words, { DATABASE_URL: database.url })

t.test(
  'add leaves all others, of a file or of options; remove takes out what is named',
  async t => {
    await write(B)
    t.match((await outlets('add', file)).err, /added|changed: b\.example\n.*1 as it was/)
    t.strictSame(await active(), ['a.example', 'b.example'])
    const options = ['--country', 'be', '--languages', 'fr,nl', '--feed', `${site.origin}/c.xml`]
    t.match(
      (await outlets('add', 'www.c.example', ...options, '--dry-run')).err,
      /Would be: 1 outlet added/,
    )
    t.match(await outlets('add', 'www.c.example', ...options), {
      code: 0,
      err: /added: c\.example/,
    })
    const { rows } = await pool.query(
      `select name, country, languages, time_zone from outlets where domain = 'c.example'`,
    )
    t.same(rows, [
      {
        name: 'www.c.example',
        country: 'BE',
        languages: ['fr', 'nl'],
        time_zone: 'Europe/Brussels',
      },
    ])
    const release = await holdLock(pool, 'lock table outlets in share row exclusive mode')
    const beside = ['d', 'e'].map(name =>
      outlets('add', 'c.example', '--feed', `${site.origin}/${name}.xml`),
    )
    await until(async () => (await lockWaits(pool)) === 2, 60_000)
    await release()
    for (const { err } of await Promise.all(beside)) t.match(err, /1 feed added, 0/)
    const kept = await pool.query(
      `select name, array_agg(f.url order by f.url) from outlets join feeds f using (outlet_no)
        where domain = 'c.example' and f.active group by 1`,
    )
    t.match(kept.rows, [{ name: 'www.c.example', array_agg: [/c\.xml$/, /d\.xml$/, /e\.xml$/] }])
    t.match(await outlets('add', 'd.example'), {
      code: 2,
      err: /no file d\.example; to add that outlet, write --country/,
    })
    t.match(await outlets('add', 'd.example', '--country', 'NL'), {
      code: 2,
      err: /needs --country, --languages/,
    })
    t.match(await outlets('add', 'd.example', ...options, '--country', 'FR', '--languages', 'es'), {
      code: 1,
      err: /country must be one of .*"FR"\.\n.*languages must be some of .*"es"\./,
    })
    t.match(await outlets('remove', 'b.example', 'x.example'), {
      code: 2,
      err: /No outlet x\.example is crawled/,
    })
    t.equal((await outlets('back', 'b.example', '--from', '2019-01-01')).code, 0)
    t.match(
      (await outlets('remove', 'b.example', 'WWW.C.example')).err,
      /0 outlets added, 0 changed, 2 removed, 1 as it was/,
    )
    t.strictSame(await active(), ['a.example'])
    t.same((await pool.query('select state from back_fills')).rows, [{ state: 'stopped' }])
  },
)

t.test('a feed that two outlets name is warned of by sync, add and check, and listed', async t => {
  const warning =
    /a\.example and b\.example name the same feed \S+\/a\.xml: its articles are stored once for each/
  await write(A, { ...B, feeds: [`${site.origin}/a.xml?utm_source=b`] })
  t.match((await outlets('check', file)).err, warning)
  t.match((await outlets('sync', file)).err, warning)
  t.match(
    (await outlets('list')).out,
    /b\.example .*\n {2}trouble: .*shares \S+\/a\.xml\S* with a\.example/,
  )
  const [line] = jsonLines((await outlets('list', '--json')).out)
  t.match(line, { sharedFeeds: [{ domains: ['a.example', 'b.example'] }] })
  await sync(A)
  t.notMatch((await outlets('list')).out, /shares/)
  const options = ['--country', 'LU', '--languages', 'lb', '--feed', `${site.origin}/a.xml`]
  t.match(
    (await outlets('add', 'b.example', ...options)).err,
    warning,
    'also against those that are crawled already',
  )
  await sync(A)
})

t.test('a file that cannot be used changes nothing and names what is wrong', async t => {
  await write({ ...A, country: 'FR' })
  const { code, err } = await outlets('sync', file)
  t.equal(code, 1)
  t.match(err, /a\.example: country must be one of NL, BE, LU/)
  t.match(await outlets('sync', '/does/not/exist'), { code: 1, err: /no such file/ })
  t.match(await outlets('paint'), {
    code: 2,
    err: /sync FILE, add FILE, remove DOMAIN, rename OLD NEW, list, back DOMAIN, rights/,
  })
})

t.test('list shows the outlets in trouble first; as JSON one a line', async t => {
  await pool.query(
    "update feeds set failures = 3, last_error = 'the feed answers 500' where url like '%a.xml'",
  )
  const { out } = await outlets('list')
  t.match(out, /^health.*\nfailing\s+a\.example.*\n {2}trouble: .*the feed answers 500/)
  const [line] = jsonLines((await outlets('list', '--json')).out)
  t.match(line, { domain: 'a.example', health: 'failing', failures: 3 })
})

t.test('check tries every feed once, with manners, and reports', async t => {
  site.on('/a.xml', rss(`${site.origin}/1`, `${site.origin}/2`))
  site.on('/page.html', '<html>')
  site.on('/robots.txt', 'user-agent: *\ndisallow: /closed')
  await write({
    ...A,
    feeds: ['/a.xml', '/page.html', '/closed.xml', '/missing.xml'].map(path => site.origin + path),
  })
  const before = site.to('/robots.txt').length
  const { code, out, err } = await outlets('check', file)
  t.equal(code, 1)
  t.match(err, /ok {3}a\.example .*\/a\.xml rss, 2 addresses/)
  t.match(err, /FAIL a\.example .*\/page\.html no feed, but text\/html/)
  t.match(err, /FAIL a\.example .*\/closed\.xml robots\.txt forbids it/)
  t.match(err, /FAIL a\.example .*\/missing\.xml it answers 404/)
  t.match(out, /^1 of 4 feeds read, 1 of 1 outlet with at least one/)
  t.equal(site.to('/robots.txt').length, before + 1)
})

t.test('check says of an address that it cannot ask why it cannot', async t => {
  const feeds = [
    'http://10.1.2.3/feed.xml',
    'http://nowhere.invalid/feed.xml',
    'http://127.0.0.9:1/feed.xml',
  ]
  await write({ ...A, feeds })
  const { err } = await outlets('check', file)
  t.match(err, /FAIL a\.example http:\/\/10\.1\.2\.3\/feed\.xml 10\.1\.2\.3 has no public address/)
  t.match(err, /FAIL a\.example http:\/\/nowhere\.invalid\/feed\.xml the name does not resolve/)
  t.match(err, /FAIL a\.example http:\/\/127\.0\.0\.9:1\/feed\.xml the connection failed/)
  t.notMatch(err, /robots\.txt/)
})

t.test(
  'check says as JSON what came back, waits as robots.txt asks, and leaves a silent host in time',
  async t => {
    const other = await startSite('127.0.0.2')
    const silent = await startSite('127.0.0.3')
    t.teardown(() => Promise.all([other.close(), silent.close()]))
    silent.on('/robots.txt', () => {})
    other.on('/robots.txt', 'user-agent: *\ncrawl-delay: 0.6')
    other.on(
      '/new.xml',
      rss({ link: `${other.origin}/1`, title: 'Een', pubDate: 'Tue, 03 Nov 2026 10:00:00 +0100' }),
    )
    other.on('/old.xml', redirect('/new.xml', 301))
    other.on('/empty.xml', rss())
    other.on('/map.xml', sitemapIndex(`${other.origin}/part.xml`))
    await write(
      {
        ...A,
        feeds: ['/old.xml', '/empty.xml'].map(path => other.origin + path),
        sitemaps: [`${other.origin}/map.xml`],
      },
      { ...B, feeds: [`${silent.origin}/feed.xml`] },
    )
    const { code, out } = await outlets('check', file, '--json')
    t.equal(code, 1)
    const lines = jsonLines(out)
    const of = (path: string) => lines.find(({ url }) => new URL(url).pathname === path)
    t.equal(lines.length, 4)
    t.match(of('/old.xml'), {
      domain: 'a.example',
      ok: true,
      status: 200,
      format: 'rss',
      named: 1,
      newest: '2026-11-03T09:00:00.000Z',
      moved: `${other.origin}/new.xml`,
    })
    t.match(of('/empty.xml'), {
      ok: false,
      status: 200,
      format: 'rss',
      named: 0,
      detail: 'rss, 0 addresses',
    })
    t.match(of('/map.xml'), { ok: true, format: 'sitemap index', named: 1 })
    t.match(of('/feed.xml'), {
      domain: 'b.example',
      ok: false,
      status: null,
      detail: /robots\.txt does not answer/,
    })
    const asked = other.seen.map(({ from }) => from)
    for (const [at, time] of asked.slice(2).entries())
      t.ok(time - (asked[at + 1] ?? 0) >= 550, 'the pause of robots.txt')
  },
)

t.test(
  'check --write corrects feeds that moved or are gone, and finds what an outlet has instead',
  async t => {
    const sites = await Promise.all(
      ['127.0.0.4', '127.0.0.5', '127.0.0.6', '127.0.0.7', '127.0.0.9'].map(at => startSite(at)),
    )
    const [moved, gone, mapped, busy, walled] = sites
    if (!moved || !gone || !mapped || !busy || !walled) throw new Error('five sites were asked for')
    t.teardown(() => Promise.all(sites.map(one => one.close())))

    moved.on(
      '/',
      `<html><head><link rel="alternate" type="application/rss+xml" href="/comments/feed">
<link rel="alternate" hreflang="fr" href="/fr"><link rel="alternate" type="application/rss+xml" href="javascript:alert(1)">
<LINK REL='Alternate' TYPE='application/rss+xml' title="Nieuws" HREF='nieuws/feed/'></head></html>`,
    )
    moved.on('/nieuws/feed', rss(`${moved.origin}/1`))
    moved.on('/nieuws/feed/', redirect('/nieuws/feed', 308))
    moved.on('/comments/feed', rss(`${moved.origin}/1#c`))
    moved.on('/there.xml', rss(`${moved.origin}/2`))
    moved.on('/permanent.xml', redirect('/there.xml', 301))
    gone.on('/', '<html><head><title>Te koop</title></head></html>')
    mapped.on('/', '<html><head><title>Nieuws</title></head></html>')
    mapped.on(
      '/robots.txt',
      `User-agent: *\nSitemap: ${mapped.origin}/all.xml\nsitemap :/news.xml\nSitemap: ftp://x/`,
    )
    mapped.on('/news.xml', newsSitemap({ url: `${mapped.origin}/1`, title: 'Een' }))
    busy.on('/feed.xml', reply(503))
    walled.on('/feed.xml', redirect(`${gone.origin}/`))

    const untried = (one: { host: string; origin: string }, feeds: string[]) => ({
      ...A,
      name: one.host,
      domain: one.host,
      sections: ['binnenland'],
      tried: null,
      note: 'stays',
      feeds: feeds.map(path => one.origin + path),
    })
    await write(
      untried(moved, ['/old.xml', '/permanent.xml']),
      untried(gone, ['/feed.xml']),
      { ...untried(mapped, ['/rss.xml']) },
      untried(busy, ['/feed.xml']),
      untried(walled, ['/feed.xml']),
    )
    const corrected = join(t.testdir({}), 'corrected.json')
    const { code, out, err } = await outlets('check', file, '--write', corrected)
    t.equal(code, 1, 'a listed feed cannot be read')
    t.match(err, /5 outlets are marked as untried/)
    t.match(out, /^1 of 6 feeds read, 2 of 5 outlets with at least one\./)
    const line = ({ host }: { host: string }) =>
      out.split('\n').filter(text => text.startsWith(`${host}  `))
    t.same(line(gone).length, 1)
    t.match(line(gone)[0], /gone: 0 of 1 listed address read; no feed any more: \S+\/feed\.xml/)
    t.match(
      line(moved)[0],
      /corrected: 1 of 2 .*no feed any more: \S+\/old\.xml; found: \S+\/there\.xml \S+\/nieuws\/feed/,
    )
    t.match(line(busy)[0], /unclear: 0 of 1 .*kept, although it answers 503/)
    t.match(
      line(walled)[0],
      /unclear: 0 of 1 .*kept, although no feed, but text\/html/,
      'a consent page on another site',
    )

    const on = new Date().toISOString().slice(0, 10)
    const { outlets: written } = JSON.parse(await readFile(corrected, 'utf8'))
    t.match(written, [
      {
        note: 'stays',
        sections: ['binnenland'],
        tried: { on, result: 'corrected' },
        feeds: [`${moved.origin}/there.xml`, `${moved.origin}/nieuws/feed`],
      },
      { feeds: [], tried: { on, result: 'gone', dropped: [`${gone.origin}/feed.xml`] } },
      { feeds: [], sitemaps: [`${mapped.origin}/news.xml`], tried: { on, result: 'corrected' } },
      { feeds: [`${busy.origin}/feed.xml`], tried: { on, result: 'unclear' } },
      { feeds: [`${walled.origin}/feed.xml`], tried: { on, result: 'unclear' } },
    ])
    t.equal(moved.to('/comments/feed').length, 0)
    t.equal(busy.to('/').length, 0, 'what may work again is not searched for')
    for (const one of sites) t.equal(one.to('/robots.txt').length, 1)

    const again = await outlets('check', corrected, '--json')
    const works = jsonLines(again.out).flatMap(({ listed, ok, url }) => (listed && ok ? [url] : []))
    t.same(new Set(works), new Set([...written[0].feeds, ...written[2].sitemaps]))
    t.match(await outlets('sync', corrected, '--dry-run'), {
      code: 0,
      err: /has neither feeds nor sitemaps/,
    })

    gone.on('/feed.xml', rss(`${gone.origin}/1`))
    const mended = `${corrected}.mended`
    await outlets('check', corrected, '--write', mended)
    const { outlets: later } = JSON.parse(await readFile(mended, 'utf8'))
    t.match(
      later[0].tried,
      { result: 'works', dropped: [`${moved.origin}/old.xml`] },
      'what is still gone is remembered',
    )
    t.match(later[1], {
      feeds: [`${gone.origin}/feed.xml`],
      tried: { on, result: 'corrected', dropped: undefined },
    })
  },
)
t.test('check writes nothing when nothing can be read, or robots.txt forbids the page', async t => {
  const closed = await startSite('127.0.0.8')
  t.teardown(() => closed.close())
  closed.on('/robots.txt', 'User-agent: *\nDisallow: /\nAllow: /old.xml')
  closed.on('/', '<link rel="alternate" type="application/rss+xml" href="/feed">')
  closed.on('/feed', rss(`${closed.origin}/1`))
  await write({ ...A, domain: closed.host, feeds: [`${closed.origin}/old.xml`] })
  const corrected = join(t.testdir({ 'kept.json': 'as it was' }), 'kept.json')
  t.match(await outlets('check', file, '--write', corrected), {
    code: 2,
    err: /nothing was written: is there a network/,
  })
  t.equal(await readFile(corrected, 'utf8'), 'as it was')
  const paths = closed.seen.map(({ path }) => path)
  t.strictSame(paths, ['/robots.txt', '/old.xml'])
})

t.test('a check says that the disk had no room for the whole catalogue', async t => {
  const script = `
    import { open } from 'node:fs/promises'
    import { writeCatalogue } from '${new URL('../../scripts/outlets/check.ts', import.meta.url)}'
    const text = JSON.stringify({ outlets: [{ name: 'a'.repeat(5000) }] })
    const checked = { result: 'works', feeds: [], sitemaps: [], dropped: [] }
    await writeCatalogue(await open('${join(t.testdir(), 'full.json')}', 'a'), text, [checked], '')`
  const limited = 'trap "" XFSZ; ulimit -f 1; exec "$0" --input-type=module -e "$1"'
  await t.rejects(run('sh', ['-c', limited, process.execPath, script]), {
    code: 1,
    stderr: /EFBIG/,
  })
})

t.test(
  'benelux.json has over a hundred outlets of all countries and languages, marked as untried',
  async t => {
    const real = new URL('../../infra/outlets/benelux.json', import.meta.url).pathname
    t.match(
      (await outlets('sync', real, '--dry-run')).err,
      /113 outlets are marked as untried[\s\S]*Would be: 113 outlets added/,
    )
  },
)
