import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import iconv from 'iconv-lite'
import t from 'tap'
import { SAMPLE_OUTLETS } from './outlets.ts'
import { readPorts, startSampleSites, type Visit, writePorts } from './server.ts'
import { textsOf } from './texts.ts'

const visits: Visit[] = []
const sites = await startSampleSites({ onVisit: visit => visits.push(visit) })
t.teardown(sites.close)

const origin = (domain: string) => `http://127.0.0.1:${sites.ports[domain]}`
const get = (domain: string, path: string, headers: Record<string, string> = {}) =>
  fetch(origin(domain) + path, { headers, redirect: 'manual' })

function textWith(answer: string) {
  for (const outlet of SAMPLE_OUTLETS) {
    const text = textsOf(outlet).find(candidate => candidate.answer === answer)
    if (text) return { outlet, text, path: outlet.address(text) }
  }
  throw new Error(`No text answers with ${answer}.`)
}

/** `&#8222;` and `&amp;` as a browser shows them. */
function decoded(markup: string): string {
  return markup
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
}

for (const outlet of SAMPLE_OUTLETS) {
  t.test(
    `${outlet.domain}: every article answers in the declared encoding, with its title and all its text`,
    async t => {
      for (const text of textsOf(outlet).filter(({ answer }) => answer === 'page')) {
        const response = await get(outlet.domain, outlet.address(text))
        t.equal(response.status, 200, text.slug)
        const { bytes, header, meta } = outlet.charset
        t.equal(response.headers.get('content-type'), header ? `text/html; charset=${header}` : 'text/html')
        const page = iconv.decode(Buffer.from(await response.arrayBuffer()), bytes)
        t.equal(/<meta[^>]*charset="?=?([\w-]+)/.exec(page)?.[1] ?? null, meta, 'the meta element says so too')
        t.ok(decoded(page).includes(`<h1`) && decoded(page).includes(text.title), text.title)
        for (const paragraph of text.paragraphs) t.ok(decoded(page).includes(paragraph), paragraph.slice(0, 40))
        t.notMatch(page, '\ufffd')
      }
    },
  )

  t.test(`${outlet.domain}: robots.txt forbids something, and the front page answers`, async t => {
    t.match(await (await get(outlet.domain, '/robots.txt')).text(), /^Disallow: \//m)
    t.equal((await get(outlet.domain, '/')).status, 200)
    t.equal((await get(outlet.domain, '/style.css')).status, 200)
    t.equal((await get(outlet.domain, '/no-such-page')).status, 404)
  })

  t.test(`${outlet.domain}: an unchanged feed is 304 by ETag and by date`, async t => {
    for (const { path } of outlet.feeds) {
      const first = await get(outlet.domain, path)
      t.equal(first.status, 200, path)
      await first.arrayBuffer()
      const etag = first.headers.get('etag') ?? ''
      const modified = first.headers.get('last-modified') ?? ''
      const again = await get(outlet.domain, path, { 'If-None-Match': etag })
      t.equal(again.status, 304)
      t.equal(again.headers.get('etag'), etag)
      t.equal((await get(outlet.domain, path, { 'If-Modified-Since': modified })).status, 304)
      const other = { 'If-None-Match': '"other"', 'If-Modified-Since': modified }
      t.equal((await get(outlet.domain, path, other)).status, 200, 'a tag outweighs a date')
    }
  })
}

t.test('a page refused, gone or failing answers with its status', async t => {
  for (const [answer, status] of [
    ['forbidden', 403],
    ['gone', 404],
    ['fails', 500],
  ] as const) {
    const { outlet, path } = textWith(answer)
    t.equal((await get(outlet.domain, path)).status, status)
    t.equal((await get(outlet.domain, path)).status, status, 'the second time too')
  }
})

t.test('a page that fails the first time works the second', async t => {
  const { outlet, path } = textWith('fails-once')
  t.equal((await get(outlet.domain, path)).status, 503)
  t.equal((await get(outlet.domain, path)).status, 200)
})

t.test('a consent wall answers 200 with anything but the article, in place or after a redirect', async t => {
  const wall = textWith('consent-wall')
  const answer = await get(wall.outlet.domain, wall.path)
  t.equal(answer.status, 200)
  const page = await answer.text()
  t.match(page, 'cookie')
  t.notMatch(page, wall.text.title)
  const { outlet, path } = textWith('consent-redirect')
  const moved = await get(outlet.domain, path)
  t.equal(moved.status, 302)
  t.match(moved.headers.get('location'), /^\/consent\?back=/)
  t.equal((await get(outlet.domain, moved.headers.get('location') ?? '')).status, 200)
})

t.test('a paywall gives away less than the feed', async t => {
  const { outlet, path, text } = textWith('paywall')
  const page = await (await get(outlet.domain, path)).text()
  t.match(page, '"isAccessibleForFree":false')
  t.notMatch(page, text.paragraphs[1])
})

t.test('a short link is a permanent redirect to the article', async t => {
  const outlet = SAMPLE_OUTLETS.find(({ feeds }) => feeds.some(({ links }) => links === 'short'))!
  const text = textsOf(outlet)[1]!
  const answer = await get(outlet.domain, `/r/${text.number}`)
  t.equal(answer.status, 301)
  t.equal(answer.headers.get('location'), origin(outlet.domain) + outlet.address(text))
})

t.test('canonical and AMP links point at each other, without tracking', async t => {
  const outlet = SAMPLE_OUTLETS.find(({ amp }) => amp)!
  const address = outlet.address(textsOf(outlet)[0]!)
  const canonical = `<link rel="canonical" href="${origin(outlet.domain)}${address}">`
  const page = await (await get(outlet.domain, `${address}?utm_source=rss`)).text()
  t.match(page, canonical)
  t.match(page, `<link rel="amphtml" href="${origin(outlet.domain)}/amp${address}">`)
  t.match(await (await get(outlet.domain, `/amp${address}`)).text(), canonical)
})

t.test('pages of one outlet are gzipped for who takes that', async t => {
  const outlet = SAMPLE_OUTLETS.find(({ gzip }) => gzip)!
  t.equal((await get(outlet.domain, '/')).headers.get('content-encoding'), 'gzip')
  t.equal((await get(outlet.domain, '/', { 'Accept-Encoding': 'identity' })).headers.get('content-encoding'), null)
})

t.test('HEAD has no body, other methods are 405, an odd request target is 404', async t => {
  const { domain } = SAMPLE_OUTLETS[0]!
  const head = await fetch(`${origin(domain)}/`, { method: 'HEAD' })
  t.equal(head.status, 200)
  t.equal(await head.text(), '')
  t.equal((await fetch(`${origin(domain)}/`, { method: 'POST' })).status, 405)
  t.equal((await get(domain, '//')).status, 404)
})

t.test('the catalogue names every outlet with feeds or sitemaps on its own port', async t => {
  t.equal(sites.catalogue.outlets.length, 12)
  t.equal(new Set(Object.values(sites.ports)).size, 12)
  for (const outlet of sites.catalogue.outlets) {
    const addresses = [...outlet.feeds, ...outlet.sitemaps]
    t.ok(addresses.length > 0)
    for (const address of addresses) t.ok(address.startsWith(`${origin(outlet.domain)}/`), address)
    t.ok((sites.ports[outlet.domain] ?? 0) < 32_768, 'no port that an outgoing connection could take')
  }
  t.ok(sites.catalogue.outlets.some(({ sitemaps }) => sitemaps.length > 0))
})

t.test('whoever watches is told of each request', async t => {
  await fetch(`${origin('polderpost.example')}/robots.txt?seen`, { headers: { 'User-Agent': 'Watcher/1' } })
  t.match(visits.at(-1), {
    domain: 'polderpost.example',
    path: '/robots.txt?seen',
    status: 200,
    userAgent: 'Watcher/1',
  })
})

t.test('remembered ports give the same addresses; one that is taken is said in a sentence', async t => {
  const first = await startSampleSites()
  await first.close()
  const second = await startSampleSites({ ports: first.ports })
  t.same(second.catalogue, first.catalogue)
  await second.close()
  const taken = first.ports['moselkurier.example']!
  const squatter = createServer().listen(taken, '127.0.0.1')
  t.teardown(() => squatter.close())
  await t.rejects(startSampleSites({ ports: first.ports }), {
    message: new RegExp(`^Port ${taken}, the address of the sample outlet moselkurier.example .* end that process`),
  })
  const third = await startSampleSites({ ports: { 'dagkoerier.example': first.ports['dagkoerier.example']! } })
  t.equal(third.ports['dagkoerier.example'], first.ports['dagkoerier.example'], 'nothing was left listening')
  await third.close()
})

t.test('the program prints the catalogue and ends on SIGTERM', async t => {
  const program = new URL('./server.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  let printed = ''
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    printed += chunk
    if (printed.endsWith('\n}\n')) break
  }
  const { outlets }: { outlets: { feeds: string[] }[] } = JSON.parse(printed)
  t.equal(outlets.length, 12)
  t.equal((await fetch(outlets[0]?.feeds[0] ?? '')).status, 200)
  child.kill('SIGTERM')
  t.same(await once(child, 'exit'), [0, null])
})

t.test('ports are kept in a file; a damaged one is refused with a sentence', async t => {
  const dir = t.testdir({ 'wrong.json': '{"dagkoerier.example": "a"}', 'broken.json': '{' })
  await writePorts(`${dir}/ports.json`, { 'dagkoerier.example': 24_801 })
  t.same(await readPorts(`${dir}/ports.json`), { 'dagkoerier.example': 24_801 })
  t.same(await readPorts(`${dir}/none.json`), {})
  for (const file of ['wrong.json', 'broken.json']) {
    await t.rejects(readPorts(`${dir}/${file}`), { message: /does not hold the ports.*remove it/ })
  }
})
