import { createServer } from 'node:net'
import * as zlib from 'node:zlib'
import t from 'tap'
import { outletHealth } from '#status/health'
import { listen } from '#test/fleet'
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

/** An answer with these lines in its head, each with its end as written. */
const framed = (...lines: string[]) => `${lines.join('')}\r\n${PAGE}`
const OK = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n'
const LENGTH = `Content-Length: ${PAGE.length}\r\n`
/** A page without its last tags, and the same with other bytes each time. */
const OPEN_END = PAGE.replace(/<\/body>.*$/s, '')
const tooLong = (body: string | Buffer, ...lines: string[]) =>
  Buffer.concat([
    Buffer.from(head(...lines, `Content-Length: ${body.length + 50}`)),
    Buffer.from(body),
  ])
let tries = 0

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
  ['scrapy/scrapy#2586', 'a length that is too large', PAGE, tooLong(PAGE)],
  [
    'scrapy/scrapy#2590',
    'the length of the unpacked text',
    PAGE,
    Buffer.concat([
      Buffer.from(head('Content-Encoding: gzip', `Content-Length: ${PAGE.length}`)),
      zlib.gzipSync(PAGE, { level: 9 }),
    ]),
  ],
  [
    'own',
    'a length that is too large, of a gzip body that was cut',
    null,
    tooLong(zlib.gzipSync(PAGE).subarray(0, -9), 'Content-Encoding: gzip'),
  ],
  [
    'own',
    'a length that is too large, without an end, other bytes at each try',
    null,
    () => {
      tries += 1
      return tooLong(`${OPEN_END}${tries}`).toString('latin1')
    },
  ],
  ['RFC 9110 §8.6', 'a length that is given twice alike', PAGE, framed(OK, LENGTH, LENGTH)],
  [
    'RFC 9110 §8.6',
    'a length that is given twice in one line',
    PAGE,
    framed(OK, `Content-Length: ${PAGE.length}, ${PAGE.length}\r\n`),
  ],
  [
    'RFC 9112 §6.3',
    'two different lengths',
    null,
    framed(OK, LENGTH, `Content-Length: ${PAGE.length - 3}\r\n`),
  ],
  ['RFC 9112 §2.2', 'lines that end in LF', PAGE, framed(OK, LENGTH).replaceAll('\r', '')],
  [
    'RFC 9112 §2.2',
    'chunks whose lines end in LF',
    PAGE,
    `${head('Transfer-Encoding: chunked')}${PAGE.length.toString(16)};a=b\r\n${PAGE}\r\n0\r\n\r\n`.replaceAll(
      '\r',
      '',
    ),
  ],
  [
    'node-fetch/node-fetch#1076',
    'a folded header line',
    PAGE,
    framed(OK, 'Set-Cookie: a=b;\r\n\tpath=/\r\n', LENGTH),
  ],
  ['nodejs/node#37073', 'a blank before the colon', PAGE, framed(OK, 'X-Cache : HIT\r\n', LENGTH)],
  ['own', 'no HTTP at all', null, 'SSH-2.0-OpenSSH_9.6\r\n\r\n'],
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

/** A page that never ends as announced, and whose bytes are always the same. */
const openEnded = await serve(tooLong(OPEN_END))
const urls = await Promise.all(REPORTS.map(([, , , answer]) => serve(answer)))
await run.fetch(site, [...urls, openEnded])

for (const [number, [source, situation, stored]] of REPORTS.entries()) {
  t.test(`${source}: ${situation}`, async t => {
    const page = await run.page(urls[number] ?? '')
    if (stored === null) return void t.match(page, { state: 'waiting', attempts: 1 })
    t.match(page, { state: 'stored', reason: null })
    t.equal(await run.body(urls[number] ?? ''), stored)
  })
}

t.test('a page without its end is accepted when two tries brought the same bytes', async t => {
  t.match(await run.page(openEnded), { state: 'waiting', reason: 'cut', attempts: 1 })
  await run.again('pages')
  t.match(await run.page(openEnded), { state: 'stored' })
  t.equal(await run.body(openEnded), OPEN_END)
})

t.test('a page that stops in the middle is never taken for a whole one', async t => {
  const half = await serve(tooLong(OPEN_END.slice(0, OPEN_END.length / 2)))
  await run.fetch(site, [half])
  for (let tries = 0; tries < 3; tries++) await run.again('pages')
  t.match(await run.page(half), { state: 'waiting', reason: 'cut' })
})

t.test('an outlet none of whose pages can be read is failing, until one can be', async t => {
  const health = async () => (await outletHealth(run.pool))[0]
  const broken = framed(OK, LENGTH, 'Content-Length: 1\r\n')
  const bad = await Promise.all([serve(broken), serve(broken), serve(broken)])
  await run.fetch(site, [await serve(framed(OK, LENGTH))])
  await run.fetch(site, bad.slice(0, 2))
  t.match(await health(), { health: 'healthy', unread: null })
  await run.fetch(site, bad)
  t.match(await health(), { health: 'failing', unread: { tries: 3, reason: /several lengths/ } })
  await run.fetch(site, [...bad, await serve(framed(OK, LENGTH))])
  t.match(await health(), { health: 'healthy', unread: null })
})

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
