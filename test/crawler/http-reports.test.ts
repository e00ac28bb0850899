import { createServer } from 'node:net'
import * as zlib from 'node:zlib'
import t from 'tap'
import { html, rss, startScene } from './crawl.ts'

/*
 * Public reports of people who read feeds and pages over HTTP, tried through the crawler with
 * answers of our own. Five of 23 went wrong when they were first tried, at a6c0661d: those with
 * `before`, and the 304 that nobody asked for. None does now.
 */

t.setTimeout(120_000)

const { run, site } = await startScene(t, ['127.0.0.1'])

const PAGE = html('Brug in Temse blijft dicht')
const JUNK = Buffer.from('\n \n<!-- served by 7 -->\n')
const head = (...lines: string[]) => `${['HTTP/1.1 200 OK', 'Content-Type: text/html', ...lines].join('\r\n')}\r\n\r\n`
const plain = (coding: string) => head(`Content-Encoding: ${coding}`, `Content-Length: ${PAGE.length}`) + PAGE
const packed = (coding: string, body: Buffer, length = body.length) =>
  Buffer.concat([Buffer.from(head(`Content-Encoding: ${coding}`, `Content-Length: ${length}`)), body])

/** The answer to the page's address, byte by byte. `host`: name and port of its server. */
type Answer = string | Buffer | ((host: string) => string)

interface Report {
  source: string
  situation: string
  answer: Answer
  /** The text that is stored; null: the page is tried again. */
  stored: string | null
  /** What happened when the report was first tried, where that was wrong. */
  before?: string
}

const to = (location: (host: string) => string) => (host: string) =>
  `HTTP/1.1 302 Found\r\nLocation: ${location(host)}\r\nContent-Length: 0\r\n\r\n`

const REPORTS: Report[] = [
  {
    source: 'nodejs/node#7502, curl/curl#3796',
    situation: 'bytes behind a gzip stream',
    answer: packed('gzip', Buffer.concat([zlib.gzipSync(PAGE), JUNK])),
    stored: PAGE,
    before: 'no page',
  },
  {
    source: 'urllib3/urllib3#1289, oven-sh/bun#33708',
    situation: 'a gzip body of two members',
    answer: packed('gzip', Buffer.concat([zlib.gzipSync(PAGE.slice(0, 20)), zlib.gzipSync(PAGE.slice(20))])),
    stored: PAGE,
  },
  {
    source: 'urllib3/urllib3#5271',
    situation: 'bytes behind the second of two members',
    answer: packed('gzip', Buffer.concat([zlib.gzipSync(PAGE.slice(0, 20)), zlib.gzipSync(PAGE.slice(20)), JUNK])),
    stored: PAGE,
    before: 'no page',
  },
  {
    source: 'curl/curl#2368, curl/curl#8928, danmactough/node-feedparser#277',
    situation: 'labelled gzip, never compressed',
    answer: plain('gzip'),
    stored: PAGE,
  },
  {
    source: 'xroche/httrack#515, carried over to brotli',
    situation: 'labelled br, never compressed',
    answer: plain('br'),
    stored: PAGE,
    before: 'no page',
  },
  {
    source: 'xroche/httrack#515, carried over to deflate',
    situation: 'labelled deflate, never compressed',
    answer: plain('deflate'),
    stored: PAGE,
    before: 'no page',
  },
  {
    source: 'sindresorhus/decompress-response#34, request/request#2197',
    situation: 'deflate without the header of zlib',
    answer: packed('deflate', zlib.deflateRawSync(PAGE)),
    stored: PAGE,
  },
  {
    source: 'oven-sh/bun#31520',
    situation: 'deflate with a small window',
    answer: packed('deflate', zlib.deflateSync(PAGE, { windowBits: 9 })),
    stored: PAGE,
  },
  {
    source: 'mitmproxy/mitmproxy#7795',
    situation: 'a gzip stream that breaks off',
    answer: packed('gzip', zlib.gzipSync(PAGE).subarray(0, -12)),
    stored: null,
  },
  {
    source: 'dondai44423/donsetch#290',
    situation: 'a coding that is none',
    answer: plain('UTF-8'),
    stored: PAGE,
  },
  {
    source: 'psf/requests#4956, urllib3/urllib3#311',
    situation: 'a Content-Length beyond the body',
    answer: head('Content-Length: 10000', 'Connection: close') + PAGE,
    stored: null,
  },
  {
    source: 'aesiniath/http-streams#23, theelous3/asks#167',
    situation: 'HTTP/1.0, where the end of the connection ends the body',
    answer: `HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n${PAGE}`,
    stored: PAGE,
  },
  {
    source: 'nodejs/node#7136, curl/curl#7649',
    situation: 'chunks and a Content-Length',
    answer: `${head('Transfer-Encoding: chunked', 'Content-Length: 5')}${PAGE.length.toString(16)}\r\n${PAGE}\r\n0\r\n\r\n`,
    stored: null,
  },
  {
    source: 'scrapy/scrapy#4032',
    situation: 'a redirect with three slashes before the host',
    answer: to(host => `///${host}/b`),
    stored: PAGE,
  },
  {
    source: 'scrapy/scrapy#1133',
    situation: 'a redirect to an address without a path',
    answer: to(host => `http://${host}?test=1`),
    stored: PAGE,
  },
  {
    source: 'scrapy/scrapy#8100',
    situation: 'a redirect to an empty fragment, with a blank in its path',
    answer: to(() => '/b c#'),
    stored: PAGE,
  },
]

/** A server that gives this answer to `/a`, and the page everywhere else. */
async function serve(answer: Answer): Promise<string> {
  let host = ''
  const server = createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', request => {
      if (request.includes('GET /robots.txt')) socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n')
      else if (!request.includes('GET /a ')) socket.end(head(`Content-Length: ${PAGE.length}`) + PAGE)
      else socket.end(typeof answer === 'function' ? answer(host) : answer)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const bound = server.address()
  host = `127.0.0.1:${typeof bound === 'object' && bound ? bound.port : 0}`
  return `http://${host}/a`
}

const urls = await Promise.all(REPORTS.map(({ answer }) => serve(answer)))
site.on('/pages.xml', rss(...urls))
await run.outlets({ 'x.example': [`${site.origin}/pages.xml`] })
await run.workOff()

for (const [at, { source, situation, stored }] of REPORTS.entries()) {
  t.test(`${source}: ${situation}`, async t => {
    const page = await run.page(urls[at] ?? '')
    if (stored === null) return void t.match(page, { state: 'waiting', attempts: 1 })
    t.match(page, { state: 'stored', reason: null })
    const { rows } = await run.pool.query<{ body: Buffer }>(
      'select body from page_sources join pages using (page_no) where url = $1',
      [urls[at]],
    )
    t.equal(String(zlib.gunzipSync(rows[0]?.body ?? '')), stored)
  })
}

const TITLE = 'D’Bréck – zou'
const feedOf = (path: string) => rss({ link: `${site.origin}${path}`, title: TITLE })
const utf16 = (text: string) => Buffer.from(`\ufeff${text.replace('?>', ' encoding="utf-16"?>')}`, 'utf16le')

interface FeedReport {
  source: string
  situation: string
  type: string
  body(path: string): string | Buffer
}

const FEEDS: FeedReport[] = [
  { source: 'miniflux/v2#315, #852', situation: 'UTF-8 that nothing declares', type: 'text/xml', body: feedOf },
  { source: 'kurtmckee/feedparser#81', situation: 'UTF-8 as ASCII', type: 'text/xml; charset=us-ascii', body: feedOf },
  {
    source: 'miniflux/v2#297, thechangelog/ping#848',
    situation: 'the charset twice',
    type: 'application/xml; charset=utf-8; charset=utf-8',
    body: feedOf,
  },
  {
    source: 'mmcdole/gofeed#26, FreshRSS/FreshRSS#1336',
    situation: 'a byte-order mark before the declaration',
    type: 'application/rss+xml',
    body: path => `\ufeff${feedOf(path)}`,
  },
  {
    source: 'feedjira/feedjira#379, brave/brave-browser#26846',
    situation: 'UTF-16 with its mark',
    type: 'text/xml',
    body: path => utf16(feedOf(path)),
  },
]

t.test('feeds in any encoding', async t => {
  const addresses = FEEDS.map(({ type, body }, at) => {
    site.on(`/${at}`, 'page')
    site.on(`/${at}.xml`, (_request, response) => response.writeHead(200, { 'content-type': type }).end(body(`/${at}`)))
    return `${site.origin}/${at}.xml`
  })
  await run.outlets({ 'y.example': addresses })
  await run.workOff()
  for (const [at, { source, situation }] of FEEDS.entries())
    t.equal((await run.page(`${site.origin}/${at}`))?.entry?.title, TITLE, `${source}: ${situation}`)
})

t.test('passiomatic/coldsweat#99, alexdebril/feed-io#119: nothing for an answer is no success', async t => {
  site.on('/empty.xml', (request, response) => {
    const isKnown = request.headers['if-none-match'] !== undefined
    response.writeHead(isKnown ? 304 : 200, { etag: '"e"', 'content-type': 'application/rss+xml' }).end()
  })
  site.on('/unasked.xml', (_request, response) => response.writeHead(304, { 'content-encoding': 'gzip' }).end())
  await run.outlets({ 'z.example': ['/empty.xml', '/unasked.xml'].map(path => site.origin + path) })
  await run.workOff()
  await run.hurry('feeds')
  await run.workOff()
  const { rows } = await run.pool.query<{ failures: number; last_error: string }>(
    'select failures, last_error from feeds where active order by url',
  )
  t.match(rows, [
    { failures: 2, last_error: /no feed/ },
    { failures: 2, last_error: 'the feed answers 304' },
  ])
})
