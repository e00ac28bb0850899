import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { listPages, retryPages } from '#scripts/terminal/pages'
import { html, startScene } from './crawl.ts'
import { cutShort, redirect, reply } from './site.ts'

const scene = await startScene(t, ['127.0.0.1', '127.0.0.2', '127.0.0.7'], {
  CRAWL_FROM: 'bot@x.example',
})
const { run, site, at, became } = scene
const other = scene.sites[1]!
const host = scene.sites[2]!
const crawl = (...paths: string[]) => run.fetch(site, paths)
/** Visits what waits as if it had been tried first more than a day ago. */
const dayLater = async () => {
  await run.pool.query(
    "update pages set first_tried_at = now() - interval '24 hours 1 second' where state = 'waiting'",
  )
  await run.again('pages')
}
const HTML = { 'content-type': 'text/html' }

t.test('a page is stored with what it was served as, and promised to the normaliser', async t => {
  const type = 'text/html; charset=iso-8859-1'
  const zipped = gzipSync(Buffer.from(html('caf\u00e9'), 'latin1'))
  site.on('/a.html', reply(200, { 'content-type': type, 'content-encoding': 'gzip' }, zipped))
  await crawl('/a.html?utm_source=rss')
  const page = await run.page(at('/a.html?utm_source=rss'))
  t.match(page, {
    state: 'stored',
    status: 200,
    finalUrl: at('/a.html?utm_source=rss'),
    attempts: 0,
    hasBody: true,
  })
  t.same((await run.pool.query('select content_type from page_sources')).rows, [
    { content_type: type },
  ])
  t.notOk(site.to('/a.html?utm_source=rss')[0]?.headers.cookie)
  t.match(
    site.seen[0]?.headers['user-agent'],
    /^PerscopeBot\/1\.0 \(\+https?:\/\/.*@/,
    'with a contact',
  )
  t.equal(site.seen[0]?.headers.from, 'bot@x.example')
})

t.test('headers that state rights are stored with their page, each for itself', async t => {
  const rights = {
    'x-robots-tag': ['otherbot: noindex', 'nosnippet'],
    'tdm-reservation': ['1'],
    'content-usage': ['train-ai=n', 'search=y'],
  }
  site.on('/rights.html', reply(200, { ...rights, ...HTML }, html('Met rechten.')))
  await crawl('/rights.html')
  const { rows } = await run.pool.query(
    "select rights from page_sources where final_url like '%/rights.html'",
  )
  t.same(rows, [{ rights }])
})

t.test(
  'a host’s tdmrep.json is read once a day, before its pages, and its rule stands with each',
  async t => {
    const free = { location: '/vrij', 'tdm-reservation': 0 }
    host.on(
      '/.well-known/tdmrep.json',
      JSON.stringify([free, { location: '/', 'tdm-reservation': 1 }]),
    )
    for (const path of ['/vrij/1', '/a', '/b']) host.on(path, html(path))
    site.on('/way', redirect(`${host.origin}/b`))
    host.on('/robots.txt', 'User-agent: *\nContent-Usage: /vrij train-ai=n')
    await crawl(`${host.origin}/vrij/1`, `${host.origin}/a`, '/way')
    const stored = () =>
      run.pool.query(
        'select final_url, rights from page_sources where final_url like $1 order by 1',
        [`${host.origin}%`],
      )
    const rightsOf = async (end: string) =>
      (await stored()).rows.find(row => row.final_url.endsWith(end))?.rights
    const reserved = { 'tdmrep.json': ['1'] }
    t.same((await stored()).rows, [
      { final_url: `${host.origin}/a`, rights: reserved },
      { final_url: `${host.origin}/b`, rights: reserved },
      {
        final_url: `${host.origin}/vrij/1`,
        rights: { 'tdmrep.json': ['0'], 'robots.txt': ['train-ai=n'] },
      },
    ])
    t.equal(host.to('/.well-known/tdmrep.json').length, 1)
    t.equal(host.seen[0]?.path, '/robots.txt', 'robots.txt comes first')
    for (const [name, status, text] of [
      ['failure', 500, ''],
      ['refusal', 403, '[]'],
      ['cut', 200, '[{'],
      ['challenge', 200, '<html>'],
    ] as const) {
      await run.pool.query("update hosts set tdm_until = 'epoch'")
      host.on('/.well-known/tdmrep.json', reply(status, {}, text))
      host.on(`/${name}`, html(name))
      await crawl(`${host.origin}/${name}`)
      t.same(await rightsOf(name), reserved, `a ${name} keeps the last rules`)
    }
    site.on('/way-2', redirect(`${host.origin}/e`))
    host.on('/e', html('e'))
    const pace =
      "update hosts set tdm_until = 'epoch', crawl_delay = $2, free_at = now() where host = $1"
    await run.pool.query(pace, [host.host, 120_000])
    await crawl('/way-2')
    t.same(await rightsOf('/e'), reserved, 'and so does a host that may not be asked yet')
    await run.pool.query(pace, [host.host, null])
    await run.pool.query("update hosts set tdm_until = 'epoch'")
    host.on('/.well-known/tdmrep.json', reply(404))
    host.on('/c', html('c'))
    await crawl(`${host.origin}/c`)
    t.equal(await rightsOf('/c'), null, 'and a file that is gone reserves nothing')
  },
)

t.test('what the outlet refuses goes to the normaliser without a body', async t => {
  const statuses = [401, 402, 403, 451, 503]
  for (const status of statuses) site.on(`/${status}`, reply(status, HTML, 'wall'))
  site.on('/503', reply(503, { 'cf-mitigated': 'challenge' }))
  await crawl(...statuses.map(status => `/${status}`))
  for (const status of statuses)
    t.match(await run.page(at(`/${status}`)), { state: 'stored', status, hasBody: false })
  const { rows } = await run.pool.query<{ kind: string }>(
    'select kind from outlet_blocks order by kind',
  )
  const kinds = rows.map(({ kind }) => kind)
  t.same(kinds, ['challenge', 'forbidden', 'legal', 'login', 'paywall'])
})

t.test('what is gone, or no page, is refused for good', async t => {
  site.on('/gone', reply(410))
  site.on('/file.pdf', reply(200, { 'content-type': 'application/pdf' }, '%PDF-1.7'))
  site.on('/called-html', reply(200, HTML, '%PDF-1.7 …'))
  site.on('/typeless', reply(200, {}, html('x')))
  await crawl('/gone', '/file.pdf', '/called-html', '/typeless', 'http://10.1.2.3/secret')
  await became(t, {
    '/gone': 'refused: gone',
    '/file.pdf': 'refused: not-html',
    '/called-html': 'refused: not-html',
    '/typeless': 'stored',
    'http://10.1.2.3/secret': 'refused: private-address',
  })
})

t.test(
  'a failed page is tried again by itself, later and later, and then is as if nothing had been',
  async t => {
    site.on('/flaky', reply(500, HTML, html('not yet')))
    let tries = 0
    site.on('/cut', (request, response) => {
      tries += 1
      cutShort(HTML, html(`${tries} cut`.repeat(500)))(request, response)
    })
    site.on('/slow', () => {})
    await crawl('/flaky', '/cut', '/slow')
    for (const [path, reason] of [
      ['/flaky', 'server error'],
      ['/cut', 'cut'],
      ['/slow', 'time-out'],
    ] as const) {
      const page = await run.page(at(path))
      t.match(page, { state: 'waiting', reason, attempts: 1, hasBody: false }, path)
      t.ok(page && page.wait > 50_000 && page.wait <= 60_000, 'CRAWL_RETRY_MIN')
    }
    site.on('/slow', html('in time'))
    await run.again('pages')
    const again = await run.page(at('/flaky'))
    t.ok(again && again.attempts === 2 && again.wait > 110_000 && again.wait <= 120_000, 'doubled')
    site.on('/flaky', html('at last'))
    await run.again('pages')
    t.match(await run.page(at('/flaky')), { state: 'stored', attempts: 0, reason: null })

    await dayLater()
    await became(t, { '/cut': 'failed: cut' })
  },
)

t.test(
  '404 of an address that a feed has just named is tried again for a day; 410 is final',
  async t => {
    site.on('/over', reply(410, HTML, html('there')))
    await crawl('/early', '/withdrawn', '/over')
    for (const path of ['/early', '/withdrawn']) {
      const page = await run.page(at(path))
      t.match(page, { state: 'waiting', reason: 'gone', attempts: 1 }, path)
      t.ok(page && page.wait > 50_000 && page.wait <= 60_000, 'CRAWL_RETRY_MIN')
    }
    await became(t, { '/over': 'refused: gone' })
    t.equal(site.to('/over').length, 1)
    site.on('/early', html('there'))
    await run.again('pages')
    t.match(await run.page(at('/early')), { state: 'stored', attempts: 0, reason: null })

    await dayLater()
    await became(t, { '/withdrawn': 'refused: gone' })
    const refused = { outlet: null, state: 'refused', numbers: null } as const
    const pages = await listPages(run.pool, refused, 9)
    const withdrawn = pages.find(({ url }) => url === at('/withdrawn'))
    t.match(withdrawn, { reason: 'gone', detail: 'the outlet answers 404', nextTry: null })
    site.on('/withdrawn', html('there'))
    const numbers = [withdrawn?.id.slice('page:'.length) ?? '']
    t.equal((await retryPages(run.pool, { outlet: null, state: null, numbers })).count, 1)
    await run.workOff()
    await became(t, { '/withdrawn': 'stored' })
  },
)

t.test('a part of a page, sent unasked for, is not taken for the whole', async t => {
  site.on('/part', reply(206, { ...HTML, 'content-range': 'bytes 0-9/99' }, html('part')))
  await crawl('/part')
  t.match(await run.page(at('/part')), { state: 'waiting', reason: 'cut', attempts: 1 })
  site.on('/part', html('whole'))
  await run.again('pages')
  await became(t, { '/part': 'stored' })
})

t.test('a page that is compressed without saying so is read all the same', async t => {
  const whole = gzipSync(html('zipped'))
  site.on('/zipped', whole)
  site.on('/zipped-cut', whole.subarray(0, -12))
  site.on('/zipped-bomb', gzipSync(Buffer.alloc(20_000_000)))
  await crawl('/zipped', '/zipped-cut', '/zipped-bomb')
  t.equal(await run.body(at('/zipped')), html('zipped'))
  await became(t, { '/zipped-cut': 'waiting: cut', '/zipped-bomb': 'refused: too-large' })
})

t.test('a page that only the end of the connection ended is whole when it has its end', async t => {
  site.on('/whole', (_request, response) => closeDelimited(response.socket, html('whole')))
  site.on('/no-end', (_request, response) =>
    closeDelimited(response.socket, '<!doctype html><p>never any end'),
  )
  await crawl('/whole', '/no-end')
  await became(t, { '/whole': 'stored', '/no-end': 'waiting: cut' })
  for (let tries = 2; tries <= 3; tries += 1) await run.again('pages')
  await became(t, { '/no-end': 'stored' }) // some never have one
})

t.test('redirects are followed, to other hosts too, and never in a circle or for ever', async t => {
  const to = (from: string, location: string) => site.on(from, redirect(location))
  to('/r', `${other.origin}/there#part`)
  other.on('/there', html('there'))
  to('/circle', '/circle2')
  to('/circle2', '/circle')
  for (let hop = 0; hop < 7; hop += 1) to(`/hop${hop}`, `/hop${hop + 1}`)
  site.on('/hop5', html('five'))
  to('/private', 'http://169.254.169.254/latest/meta-data/')
  to('/port', 'http://93.184.216.34:25/')
  to('/named', `http://user:secret@${other.host}/named`)
  other.on('/named', html('named'))
  to('/script', 'javascript:alert(1)')
  other.on('/robots.txt', 'user-agent: perscopebot\ndisallow: /closed')
  to('/closed', `${other.origin}/closed/1`)
  // Raw UTF-8, as some servers send it.
  to('/accent', Buffer.from('/caf\u00e9').toString('latin1'))
  site.on('/caf%C3%A9', html('caf\u00e9'))
  const ends = {
    '/r': `stored at ${other.origin}/there`,
    '/accent': 'stored at /caf%C3%A9',
    '/circle': 'waiting: redirects',
    '/hop0': 'stored at /hop5',
    '/private': 'refused: private-address',
    '/port': 'refused: port',
    '/named': `stored at ${other.origin}/named`,
    '/script': 'waiting: redirects',
    '/closed': 'refused: robots', // checked again after the redirect
  }
  await crawl(...Object.keys(ends))
  await became(t, ends)
  t.equal(site.to('/circle').length, 1)
  t.equal(other.to('/named')[0]?.headers.authorization, undefined)
  t.equal(other.to('/closed/1').length, 0)
  to('/hop5', '/hop6')
  await crawl('/hop0?again')
  await became(t, { '/hop0?again': 'waiting: redirects' }) // six are too many
})

t.test('hosts that want a pause are waited for', async t => {
  const moved = `${host.origin}/moved`
  // As robots.txt would have it, but for the requests of other tests.
  const pace = (ms: number | null) =>
    run.pool.query('update hosts set crawl_delay = $2 where host = $1', [host.host, ms])
  host.on('/moved', async (_request, response) => {
    await pace(6_000)
    response.writeHead(301, { location: '/moved-here' }).end()
  })
  host.on('/moved-here', async () => {
    await pace(null)
    return html('here')
  })
  site.on('/busy', reply(429, { 'retry-after': '2' }))
  site.on('/next', html('next'))
  await crawl('/busy', '/next', moved)
  await run.workOff(60_000, async () => (await run.page(moved))?.state === 'stored')
  t.test('a redirect is followed: a later visit would be redirected again', async t => {
    await became(t, { [moved]: `stored at ${host.origin}/moved-here` })
    t.equal(host.to('/moved').length, 1)
  })
  t.test('Retry-After is obeyed, and holds for the whole host', async t => {
    const busy = site.to('/busy')[0]
    const next = site.to('/next')[0]
    await became(t, { '/busy': 'waiting: too many requests', '/next': 'stored' })
    t.ok(
      busy && next && next.from - busy.from >= 2_000,
      `${(next?.from ?? 0) - (busy?.from ?? 0)} ms`,
    )
  })
})

function closeDelimited(socket: Socket | null, body: string): void {
  socket?.end(`HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n${body}`)
}
