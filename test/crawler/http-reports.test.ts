import { createServer } from 'node:net'
import * as zlib from 'node:zlib'
import t from 'tap'
import { listen } from '../fleet.ts'
import { html, rss, startScene } from './crawl.ts'
import { reply, tagged } from './site.ts'

/*
 * Public reports of people who read feeds and pages over HTTP, tried through the crawler with
 * answers of our own. Five of 23 went wrong when they were first tried, at a6c0661d: bytes after a
 * gzip stream, labels br and deflate on what is not compressed, and the 304 that nobody asked for.
 */

const { run, site, at, catalogue } = await startScene(t, ['127.0.0.1'])

const PAGE = html('Brug in Temse blijft dicht')
const JUNK = Buffer.from('\n \n<!-- served by 7 -->\n')
const head = (...lines: string[]) =>
  `${['HTTP/1.1 200 OK', 'Content-Type: text/html', ...lines].join('\r\n')}\r\n\r\n`
const plain = (coding: string) =>
  head(`Content-Encoding: ${coding}`, `Content-Length: ${PAGE.length}`) + PAGE
const packed = (coding: string, body: Buffer) =>
  Buffer.concat([
    Buffer.from(head(`Content-Encoding: ${coding}`, `Content-Length: ${body.length}`)),
    body,
  ])

/** The answer to the page's address, byte by byte. `host`: name and port of its server. */
type Answer = string | Buffer | ((host: string) => string)

/** `stored`: the text that is stored; null: the page is tried again. */
type Report = [source: string, situation: string, stored: string | null, answer: Answer]

const to = (location: (host: string) => string) => (host: string) =>
  `HTTP/1.1 302 Found\r\nLocation: ${location(host)}\r\nContent-Length: 0\r\n\r\n`

const HALVES = [PAGE.slice(0, 20), PAGE.slice(20)]
/** Texts as members of a gzip stream; bytes as they are. */
const gzipped = (...parts: (string | Buffer)[]) =>
  packed(
    'gzip',
    Buffer.concat(parts.map(part => (typeof part === 'string' ? zlib.gzipSync(part) : part))),
  )
const deflated = (bytes: Buffer) => packed('deflate', bytes)

const REPORTS: Report[] = [
  ['nodejs/node#7502, curl/curl#3796', 'bytes after a gzip stream', PAGE, gzipped(PAGE, JUNK)],
  [
    'urllib3/urllib3#1289, oven-sh/bun#33708',
    'a gzip body of two members',
    PAGE,
    gzipped(...HALVES),
  ],
  ['urllib3/urllib3#5271', 'bytes after the second of two members', PAGE, gzipped(...HALVES, JUNK)],
  [
    'curl/curl#2368, curl/curl#8928, danmactough/node-feedparser#277',
    'labelled gzip, never compressed',
    PAGE,
    plain('gzip'),
  ],
  [
    'xroche/httrack#515, carried over to brotli',
    'labelled br, never compressed',
    PAGE,
    plain('br'),
  ],
  [
    'xroche/httrack#515, carried over to deflate',
    'labelled deflate, never compressed',
    PAGE,
    plain('deflate'),
  ],
  [
    'sindresorhus/decompress-response#34, request/request#2197',
    'deflate without the header of zlib',
    PAGE,
    deflated(zlib.deflateRawSync(PAGE)),
  ],
  [
    'oven-sh/bun#31520',
    'deflate with a small window',
    PAGE,
    deflated(zlib.deflateSync(PAGE, { windowBits: 9 })),
  ],
  ['dondai44423/donsetch#290', 'a coding that is none', PAGE, plain('UTF-8')],
  [
    'nodejs/node#7136, curl/curl#7649',
    'chunks and a Content-Length',
    null,
    `${head('Transfer-Encoding: chunked', 'Content-Length: 5')}${PAGE.length.toString(16)}\r\n${PAGE}\r\n0\r\n\r\n`,
  ],
  [
    'scrapy/scrapy#4032',
    'a redirect with three slashes before the host',
    PAGE,
    to(host => `///${host}/b`),
  ],
  [
    'scrapy/scrapy#1133',
    'a redirect to an address without a path',
    PAGE,
    to(host => `http://${host}?test=1`),
  ],
  [
    'scrapy/scrapy#8100',
    'a redirect to an empty fragment, with a blank in its path',
    PAGE,
    to(() => '/b c#'),
  ],
]

/** A server that gives this answer to `/a`, and the page everywhere else. */
async function serve(answer: Answer): Promise<string> {
  let host = ''
  const server = createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', request => {
      if (request.includes('GET /robots.txt'))
        socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n')
      else if (!request.includes('GET /a '))
        socket.end(head(`Content-Length: ${PAGE.length}`) + PAGE)
      else socket.end(typeof answer === 'function' ? answer(host) : answer)
    })
  })
  host = `127.0.0.1:${await listen(server)}`
  t.teardown(() => server.close())
  return `http://${host}/a`
}

const urls = await Promise.all(REPORTS.map(([, , , answer]) => serve(answer)))
await run.fetch(site, urls)

for (const [number, [source, situation, stored]] of REPORTS.entries()) {
  t.test(`${source}: ${situation}`, async t => {
    const page = await run.page(urls[number] ?? '')
    if (stored === null) return void t.match(page, { state: 'waiting', attempts: 1 })
    t.match(page, { state: 'stored', reason: null })
    t.equal(await run.body(urls[number] ?? ''), stored)
  })
}

t.test(
  'feedjira/feedjira#379, brave/brave-browser#26846: a feed in UTF-16 with its mark',
  async t => {
    const title = 'D’Bréck – zou'
    const feed = rss({ link: at('/wide'), title }).replace('?>', ' encoding="utf-16"?>')
    site.on('/wide', 'page')
    site.on(
      '/wide.xml',
      reply(200, { 'content-type': 'text/xml' }, Buffer.from(`\ufeff${feed}`, 'utf16le')),
    )
    await catalogue(['/wide.xml'])
    await run.workOff()
    t.equal((await run.page(at('/wide')))?.entry?.title, title)
  },
)

t.test(
  'passiomatic/coldsweat#99, alexdebril/feed-io#119: nothing for an answer is no success',
  async t => {
    site.on('/empty.xml', tagged('"e"', ''))
    site.on('/unasked.xml', reply(304, { 'content-encoding': 'gzip' }))
    await catalogue(['/empty.xml', '/unasked.xml'])
    await run.workOff()
    await run.again('feeds')
    t.match(await run.feeds(), [
      { failures: 2, error: /no feed/ },
      { failures: 2, error: 'the feed answers 304' },
    ])
  },
)
