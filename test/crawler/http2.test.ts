import { createSecureServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import { createServer } from 'node:tls'
import { brotliCompressSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { createTrust } from '#services/crawler/fetch/certificates'
import { guardedConnector } from '#services/crawler/fetch/connector'
import { RequestFailure } from '#services/crawler/fetch/request-failure'
import { addressRule } from '#shared/addresses'
import { listen } from '#test/fleet'
import { certify } from './certificates.ts'
import { html, rss, startCrawl } from './crawl.ts'
import { requests } from './requests.ts'

const root = certify({ name: 'Root of the tests', issuer: null, authority: true })
const own = certify({ name: 'krant.example', issuer: root, hosts: ['127.0.0.1'] })
const trust = createTrust([root.certificate])
const { get, failing } = requests(
  guardedConnector(addressRule(['127.0.0.0/8'], ['443']), 5_000, trust),
  20_000,
)

type Serve = (stream: ServerHttp2Stream, path: string) => void

/** A server that speaks nothing but HTTP/2. Returns its origin. */
async function speak(t: Test, serve: Serve): Promise<string> {
  const server = createSecureServer({ key: own.key, cert: own.certificate })
  const sessions = new Set<ServerHttp2Session>()
  server.on('session', session => sessions.add(session))
  server.on('sessionError', () => {})
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    serve(stream, headers[':path'] ?? '/')
  })
  t.teardown(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  return `https://127.0.0.1:${await listen(server)}`
}

t.test('HTTP/2 is spoken with servers that prefer it, and read like any other answer', async t => {
  const origin = await speak(t, (stream, path) => {
    if (path === '/moved')
      return void stream.respond({ ':status': 301, location: '/b' }, { endStream: true })
    stream.additionalHeaders({ ':status': 103, link: '</x>; rel=preload' })
    stream.respond({
      ':status': 200,
      'content-encoding': 'br',
      etag: '"1"',
      'content-type': 'text/html',
    })
    stream.end(brotliCompressSync('tekst'))
  })
  const answer = await get(`${origin}/a`)
  t.match(answer, {
    status: 200,
    framed: false,
    headers: { etag: '"1"', 'content-type': 'text/html' },
  })
  t.equal(answer.body.toString(), 'tekst')
  t.match(await get(`${origin}/moved`), { status: 301, headers: { location: '/b' } })
})

/** A frame of HTTP/2 (RFC 9113 §4.1) on the first stream, or on none. */
function frame(type: number, payload: Buffer, flags = 0, stream = 1): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.set([type, flags], 3)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

const number = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

const SETTINGS = Buffer.concat([frame(4, Buffer.alloc(0), 0, 0), frame(4, Buffer.alloc(0), 1, 0)])
/** `:status: 200`, an entry of HPACK's static table. */
const OK = frame(1, Buffer.from([0x88]), 4)
/** The same with `content-length: 100`. */
const OK_LONG = frame(1, Buffer.concat([Buffer.from([0x88, 0x0f, 0x0d, 3]), Buffer.from('100')]), 4)
const HALF = frame(0, Buffer.from('half'))

t.test('a body cut short is never taken for a whole one', async t => {
  const endings: Record<string, Buffer[]> = {
    'the stream is reset': [frame(3, number(2))],
    'the stream is cancelled': [frame(3, number(8))],
    'the stream is reset without a fault': [frame(3, number(0))],
    'the server goes away': [frame(7, Buffer.concat([number(1), number(0)]), 0, 0)],
    'the server goes away with a fault': [frame(7, Buffer.concat([number(1), number(2)]), 0, 0)],
    'the connection ends': [],
    'a frame that does not fit': [frame(6, Buffer.alloc(1), 0, 0)],
  }
  const cases = Object.entries(endings).flatMap(([name, ending]) => [
    { name, ending, head: OK },
    { name: `${name}, with a length`, ending, head: OK_LONG },
  ])
  for (const { name, ending, head } of cases) {
    const server = createServer(
      { key: own.key, cert: own.certificate, ALPNProtocols: ['h2'] },
      socket => {
        socket.on('error', () => {})
        socket.once('data', () => {
          socket.write(Buffer.concat([SETTINGS, head, HALF]))
          setTimeout(() => {
            socket.write(Buffer.concat(ending))
            if (!name.includes('stream')) socket.end()
          }, 50)
        })
      },
    )
    const answer = await get(`https://127.0.0.1:${await listen(server)}`).catch(error => error)
    if (answer instanceof RequestFailure) t.match(answer.kind, /^(cut|connection|protocol)$/, name)
    else t.ok(head === OK && !answer.framed, `${name}: known as possibly cut`)
    server.close()
  }
  const origin = await speak(t, stream => {
    stream.respond({ ':status': 200, 'content-length': '100' })
    stream.end('half')
  })
  t.match(await failing(origin), /^(cut|connection|protocol)$/, 'shorter than its Content-Length')
})

t.test('a body with trailers after it is read to its end', async t => {
  const origin = await speak(t, stream => {
    stream.respond({ ':status': 200 }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-checksum': '1' }))
    stream.end('x'.repeat(99_000))
  })
  for (let n = 0; n < 20; n += 1) {
    const { body } = await get(origin)
    if (body.length !== 99_000) t.equal(body.length, 99_000)
  }
})

t.test('no more is read than the limit, whatever it is', async t => {
  const body = await speak(t, stream => {
    stream.respond({ ':status': 200 })
    const more = () => {
      if (!stream.destroyed && !stream.closed)
        stream.write('x'.repeat(10_000), () => setImmediate(more))
    }
    more()
  })
  t.equal(await failing(body), 'too-large', 'a body')
  const interim = await speak(t, stream => {
    const timer = setInterval(() => {
      if (stream.destroyed || stream.closed) return clearInterval(timer)
      for (let n = 0; n < 50; n += 1)
        stream.additionalHeaders({ ':status': 103, 'x-a': `${Math.random()}`.repeat(50) })
    }, 1)
    stream.on('close', () => clearInterval(timer))
  })
  t.match(
    await failing(interim, { timeout: 60_000 }),
    /^(too-large|protocol|connection)$/,
    'interim answers',
  )
  const long = await speak(t, stream =>
    stream.respond({ ':status': 200, 'x-long': 'x'.repeat(80_000) }, { endStream: true }),
  )
  t.match(await failing(long), /^(protocol|connection)$/, 'a header of 80 kB')
})

t.test('a body in frames of a byte is given up, and one in small frames read', async t => {
  const origin = await speak(t, (stream, path) => {
    stream.respond({ ':status': 200, 'content-type': 'text/html' })
    const [size, frames] = path === '/bytes' ? [1, 60_000] : [16, 5_000]
    const write = (left: number) => {
      if (left === 0 || stream.destroyed) return void stream.end()
      stream.write(Buffer.alloc(size, 'a'), () => write(left - 1))
    }
    write(frames)
  })
  t.equal(await failing(`${origin}/bytes`), 'protocol')
  t.equal((await get(`${origin}/small`)).body.length, 80_000)
})

t.test('an outlet that speaks HTTP/2 is crawled, one request at a time', async t => {
  const run = await startCrawl({ CRAWL_TIMEOUT: '20s' }, undefined, [root.certificate])
  t.teardown(() => run.close())
  let open = 0
  let most = 0
  const origin = await speak(t, (stream, path) => {
    open += 1
    most = Math.max(most, open)
    stream.on('close', () => {
      open -= 1
    })
    const named = ['/a', '/b', '/c']
    if (path === '/feed.xml') stream.respond({ ':status': 200, 'content-type': 'application/xml' })
    else if (named.includes(path)) stream.respond({ ':status': 200, 'content-type': 'text/html' })
    else return void stream.respond({ ':status': 404 }, { endStream: true })
    stream.end(
      path === '/feed.xml' ? rss(...named.map(name => origin + name)) : html('een artikel'),
    )
  })
  await run.outlets({ 'krant.example': [`${origin}/feed.xml`] })
  await run.workOff()
  const states = (await run.pages()).map(({ state }) => state)
  t.same(states, ['stored', 'stored', 'stored'])
  t.equal(most, 1)
})
