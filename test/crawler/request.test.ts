import { pbkdf2, randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:net'
import { promisify } from 'node:util'
import {
  brotliCompressSync,
  constants,
  createZstdCompress,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import t from 'tap'
import { guardedConnector } from '#services/crawler/fetch/connector'
import { addressRule } from '#shared/addresses'
import { freePort, listen } from '#test/fleet'
import { requests } from './requests.ts'
import { drip, pour, reply, startSite } from './site.ts'

const PORTS = ['80', '443', '8080', '8443']
/** The default takes seconds for zeros. */
const FAST = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }
const GZIP_HEADER = gzipSync('').subarray(0, 10)
const TEXT = 'een artikel '.repeat(500)
const site = await startSite()
t.teardown(() => site.close())
const { get, failing } = requests(
  guardedConnector(addressRule(['127.0.0.0/8'], PORTS), 1_000),
  2_000,
)
const closed = requests(guardedConnector(addressRule([], PORTS), 1_000), 2_000)

/**
 * A server that writes these bytes to each client and then ends, or resets, the connection.
 */
async function raw(
  bytes: string | Buffer,
  ending: 'end' | 'reset' | 'stay' = 'end',
): Promise<{ url: string; server: Server }> {
  const server = createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(bytes, () => {
        if (ending === 'end') socket.end()
        if (ending === 'reset') setTimeout(() => socket.resetAndDestroy(), 50)
      })
    })
  })
  t.teardown(() => server.close())
  return { server, url: `http://127.0.0.1:${await listen(server)}/` }
}

t.test('every coding that is asked for is undone', async t => {
  const codings: [string, Buffer][] = [
    ['gzip', gzipSync(TEXT)],
    ['x-gzip', gzipSync(TEXT)],
    ['deflate', deflateSync(TEXT)],
    ['deflate', deflateRawSync(TEXT)],
    ['br', brotliCompressSync(TEXT)],
    ['zstd', zstdCompressSync(TEXT)],
    ['deflate, gzip', gzipSync(deflateSync(TEXT))],
    ['gzip', Buffer.from(TEXT)],
    ['identity', Buffer.from(TEXT)],
    ['utf-8', Buffer.from(TEXT)],
  ]
  for (const [coding, body] of codings) {
    site.on('/coded', reply(200, { 'content-encoding': coding }, body))
    t.equal((await get(`${site.origin}/coded`)).body.toString(), TEXT, coding)
  }
})

t.test('a body cut short is never taken for a whole one', async t => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n'
  const cut: [string, string | Buffer, 'end' | 'reset'][] = [
    ['shorter than its Content-Length', `${head}content-length: 100\r\n\r\nhalf`, 'end'],
    ['shorter, and reset', `${head}content-length: 100\r\n\r\nhalf`, 'reset'],
    ['chunks without an end', `${head}transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n`, 'end'],
    ['a broken chunk', `${head}transfer-encoding: chunked\r\n\r\nff\r\nhalf`, 'end'],
    ['nothing but headers begun', head, 'end'],
    ['nothing at all', '', 'reset'],
  ]
  for (const [name, bytes, ending] of cut) {
    const { url } = await raw(bytes, ending)
    t.match(await failing(url), /^(cut|connection|protocol)$/, name)
  }
  for (const [coding, body] of [
    ['gzip', gzipSync(TEXT)],
    ['br', brotliCompressSync(TEXT)],
    ['deflate', deflateSync(TEXT)],
    ['zstd', zstdCompressSync(TEXT)],
  ] as const) {
    site.on('/half', reply(200, { 'content-encoding': coding }, body.subarray(0, body.length - 5)))
    t.equal(await failing(`${site.origin}/half`), 'cut', `half of ${coding}`)
  }
})

t.test('a server that closes while the body waits to be read ends no process', async t => {
  for (const size of [140_000, 160_000, 180_000]) {
    const body = gzipSync(randomBytes(size))
    for (const [length, end] of [
      [`content-length: ${body.length}\r\n`, 200],
      ['', 200],
      [`content-length: ${body.length + 1}\r\n`, 'cut'],
    ] as const) {
      const head = `HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-encoding: gzip\r\n${length}\r\n`
      const { server, url } = await raw(head, 'stay')
      server.on('connection', socket =>
        socket.once('data', () => setTimeout(() => socket.end(body), 5)),
      )
      // The parser waits for decompression, and that for a thread.
      const busy = Array.from({ length: 4 }, () => promisify(pbkdf2)('', '', 50_000, 64, 'sha512'))
      t.equal(
        await failing(url, { maxBytes: 1_000_000, timeout: 5_000 }),
        end,
        `${size} bytes, ${length}`,
      )
      await Promise.all(busy)
      server.close()
    }
  }
})

t.test('a body that only the end of the connection ends is known as such', async t => {
  const { url } = await raw('HTTP/1.0 200 OK\r\ncontent-type: text/html\r\n\r\n<p>whole?')
  t.match(await get(url), { framed: false, status: 200 })
  site.on('/whole', 'whole')
  t.equal((await get(`${site.origin}/whole`)).framed, true)
})

t.test('no more is read than the limit, before and after decompression', async t => {
  site.on('/long', 'x'.repeat(100_001))
  const zeros = Buffer.alloc(50_000_000)
  const bombs = {
    gzip: gzipSync(zeros),
    deflate: deflateSync(zeros),
    br: brotliCompressSync(zeros, FAST),
    zstd: zstdCompressSync(zeros),
  }
  for (const [coding, bomb] of Object.entries(bombs)) {
    t.ok(bomb.length < 100_000, `${coding}: ${bomb.length} bytes`)
    site.on(`/bomb-${coding}`, reply(200, { 'content-encoding': coding }, bomb))
    t.equal(await failing(`${site.origin}/bomb-${coding}`), 'too-large', coding)
  }
  site.on(
    '/bomb-of-bombs',
    reply(200, { 'content-encoding': 'br, zstd' }, zstdCompressSync(bombs.br)),
  )
  site.on('/endless', pour('x'.repeat(10_000)))
  // Empty blocks: megabytes of gzip without a byte of text, and the rest of the member.
  const empty = Buffer.concat([
    GZIP_HEADER,
    Buffer.alloc(5_000_000, Buffer.from([0, 0, 0, 255, 255])),
  ])
  site.on('/bomb-of-nothing', reply(200, { 'content-encoding': 'gzip, gzip' }, gzipSync(empty)))
  for (const path of ['/long', '/bomb-of-bombs', '/bomb-of-nothing', '/endless'])
    t.equal(await failing(site.origin + path), 'too-large', path)
})

t.test(
  'a body in chunks of a byte costs little memory, and one in small chunks is read',
  async t => {
    const chunks = (size: number, count: number) =>
      `${size.toString(16)}\r\n${'a'.repeat(size)}\r\n`.repeat(count)
    const answer = (body: string, more = '') =>
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n${more}\r\n${body}0\r\n\r\n`
    const bytes = await raw(answer(chunks(1, 500_000)), 'stay')
    const before = process.memoryUsage().rss
    // Chunks that wait for the reader are joined: a slow reader has the whole body.
    const end = await failing(bytes.url, { maxBytes: 1_000_000, timeout: 20_000 })
    t.ok(end === 'too-large' || end === 200, `${end}`)
    t.ok(
      process.memoryUsage().rss - before < 100_000_000,
      'a buffer for each would take hundreds of megabytes',
    )
    bytes.server.close()
    const small = await raw(answer(chunks(16, 5_000)), 'stay')
    t.equal((await get(small.url)).body.length, 80_000)
    small.server.close()
  },
)

t.test('what goes on for ever beside the body is not read for ever', async t => {
  const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
  const endless: Record<string, [string, string]> = {
    'interim answers': ['', 'HTTP/1.1 103 Early Hints\r\nx: y\r\n\r\n'.repeat(1_000)],
    'extensions of chunks': [head, `1;${'e'.repeat(10_000)}\r\nx\r\n`.repeat(5)],
  }
  for (const [name, [start, more]] of Object.entries(endless)) {
    const server = createServer(socket => {
      socket.on('error', () => {})
      const write = () => {
        if (!socket.destroyed) socket.write(more, () => setImmediate(write))
      }
      socket.once('data', () => socket.write(start, write))
    })
    const port = await listen(server)
    t.equal(await failing(`http://127.0.0.1:${port}/`, { timeout: 60_000 }), 'too-large', name)
    server.close()
  }
})

t.test('RFC 9659: a zstd body that asks for a window over 8 MB is refused', async t => {
  const params = { [constants.ZSTD_c_windowLog]: 26, [constants.ZSTD_c_contentSizeFlag]: 0 }
  const stream = createZstdCompress({ params })
  stream.end(Buffer.alloc(1_000, 'x'))
  const body = Buffer.concat(await stream.toArray())
  site.on('/window', reply(200, { 'content-encoding': 'zstd' }, body))
  t.equal(await failing(`${site.origin}/window`), 'cut')
})

t.test('a header longer than 64 kB is no answer', async t => {
  const { url } = await raw(`HTTP/1.1 200 OK\r\nx-long: ${'x'.repeat(70_000)}\r\n\r\n`, 'stay')
  t.equal(await failing(url), 'protocol')
})

t.test('a server that is slow in any way is left in time', async t => {
  site.on('/mute', () => {})
  site.on('/drip', drip)
  const { url } = await raw('HTTP/1.1 200 OK\r\nx-slow: ', 'stay')
  for (const slow of [`${site.origin}/mute`, `${site.origin}/drip`, url]) {
    t.equal(await failing(slow, { timeout: 400 }), 'time-out', slow)
  }
})

t.test('failures say what they are', async t => {
  t.equal(await failing(`http://127.0.0.1:${await freePort()}/`), 'connection')
  t.equal(await failing('http://does-not-exist.invalid/'), 'name')
  const { url } = await raw('SSH-2.0-OpenSSH_9.2\r\n')
  t.equal(await failing(url), 'protocol')
})

t.test(
  'private addresses are refused, written in whatever way, and open only where the operator says',
  async t => {
    const { port } = site
    const written =
      '127.0.0.1 localhost 0.0.0.0 127.1 2130706433 0x7f000001 [::1] [::ffff:127.0.0.1] [::]'
    for (const host of written.split(' ')) {
      t.equal(await closed.failing(`http://${host}:${port}/`), 'private-address', host)
    }
    const others = `10.0.0.1 172.16.3.4 192.168.1.1 169.254.169.254 100.64.0.1 168.63.129.16 [::ffff:168.63.129.16] 224.0.0.1 198.18.0.1
    [fe80::1] [fd00::1] [64:ff9b::7f00:1] [2002:7f00:1::] [::7f00:1] [::127.0.0.1] [::ffff:0:7f00:1] [2001:0:1:2::1] [4000::1] [1::1]`
    for (const host of others.split(/\s+/)) {
      t.equal(await failing(`http://${host}/`), 'private-address', `${host}, not in 127.0.0.0/8`)
    }
    site.on('/', 'open')
    t.equal((await get(`${site.origin}/`)).body.toString(), 'open')
    t.equal((await get(`http://localhost:${port}/`)).status, 200)
    t.throws(() => addressRule(['10.0.0.0/33'], PORTS), { name: 'ConfigError' })
    t.throws(() => addressRule(['everything'], PORTS), { name: 'ConfigError' })
    const rule = addressRule(['10.1.2.3'], PORTS)
    t.equal(rule.isOpened('10.1.2.3'), true)
    t.equal(rule.isOpened('::ffff:10.1.2.3'), true)
    t.equal(rule.isOpened('10.1.2.4'), false)
  },
)

t.test('IANA: of IPv6 only global unicast is public, and nothing that stands for IPv4', async t => {
  const rule = addressRule([], PORTS)
  for (const address of [
    '93.184.216.34',
    '::ffff:93.184.216.34',
    '2606:2800:220:1::1',
    '2a02:a000::1',
    '2001:4860::8888',
  ])
    t.equal(rule.isPublic(address), true, address)
  const special = `:: ::1 ::7f00:1 ::5db8:d822 ::ffff:0:5db8:d822 ::ffff:10.0.0.1 64:ff9b::5db8:d822 64:ff9b:1::1 100::1
    200::1 1fff::1 2001::1 2001:2::1 2001:10::1 2001:20::1 2001:1ff::1 2001:db8::1 2002:5db8:d822::1
    3fff::1 4000::1 5f00::1 8000::1 e000::1 fc00::1 fe80::1 fe80::1%1 fec0::1
    ff02::1 192.0.2.1 198.51.100.1 203.0.113.1 192.88.99.1 255.255.255.255 0.0.0.1`
  for (const address of special.split(/\s+/)) t.equal(rule.isPublic(address), false, address)
})
t.test(
  'public addresses are asked on the ports of the web only, opened ranges on every one',
  async t => {
    for (const port of [1, 22, 25, 3306, 5432, 6379, 8081, 65535]) {
      t.equal(await failing(`http://93.184.216.34:${port}/`), 'port', String(port))
      t.equal(await failing(`http://[2606:2800:220:1::1]:${port}/`), 'port', String(port))
    }
    const rule = addressRule([], PORTS)
    const isOpen = [80, 443, 8080, 8443, 8081].map(port => rule.isPublicPort(port))
    t.same(isOpen, [true, true, true, true, false])
    t.equal(
      await failing(`http://10.0.0.1:22/`),
      'private-address',
      'a closed address is none on any port',
    )
    for (const port of ['0', '65536', 'http', '1-2', '-1']) {
      t.throws(() => addressRule([], [port]), { name: 'ConfigError', message: /CRAWL_PORTS/ })
    }
    site.on('/any-port', 'open')
    t.notOk(PORTS.includes(String(site.port)))
    t.equal((await get(`${site.origin}/any-port`)).status, 200)
    t.equal((await get(`http://localhost:${site.port}/any-port`)).status, 200)
  },
)

t.test('a request that is no longer wanted when the connection stands is not made', async t => {
  site.on('/late', 'x')
  t.equal(await failing(`${site.origin}/late`, { wanted: () => false }), 'aborted')
  t.equal(site.to('/late').length, 0)
})
