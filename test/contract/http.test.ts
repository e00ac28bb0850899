import { get, request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import t from 'tap'
import { startTestApi } from './api.ts'

const api = await startTestApi({ CORS_ORIGINS: 'https://reader.example' })
t.teardown(() => api.stop())
const { secret } = await api.issue()
await api.index(Array.from({ length: 30 }, (_, i) => ({ title: `Artikel nummer ${i} over de brug` })))

t.test('decision 8: a good answer may be kept by its owner, who asks before using it again', async t => {
  for (const path of ['/v1/articles', '/v1/articles.rss']) {
    const { headers } = await api.ask(secret, path)
    t.equal(headers.get('cache-control'), 'private, no-cache')
    t.equal(headers.get('vary'), 'Origin, Authorization, Accept-Encoding', 'Origin because origins are configured')
    t.match(headers.get('etag'), /^(W\/)?"[^"]+"$/)
  }
  const plain = await startTestApi()
  t.teardown(() => plain.stop())
  const issued = await plain.issue()
  t.equal((await plain.ask(issued.secret, '/v1/articles')).headers.get('vary'), 'Authorization, Accept-Encoding')
})

t.test('decision 8: errors are not kept', async t => {
  const paths = ['/v1/articles?foo=1', '/v1/nothing', '/v1/articles?search=semantic&q=ab']
  for (const path of paths) t.equal((await api.ask(secret, path)).headers.get('cache-control'), 'no-store')
  const error = await api.ask(secret, '/v1/articles?foo=1')
  t.notOk(error.headers.has('etag'))
})

t.test('decision 8: If-None-Match', async t => {
  const first = await api.ask(secret, '/v1/articles?per_page=5')
  const tag = first.headers.get('etag') ?? ''
  const opaque = tag.replace(/^W\//, '')
  for (const match of [tag, opaque, `W/${opaque}`, `"other", ${tag}`, `"a,b" , ${opaque}`, '*']) {
    const { status, headers, text } = await api.ask(secret, '/v1/articles?per_page=5', {
      headers: { 'If-None-Match': match },
    })
    t.equal(status, 304, match)
    t.equal(text, '')
    t.equal(headers.get('etag'), tag)
    t.equal(headers.get('cache-control'), 'private, no-cache')
    t.ok(headers.has('vary') && headers.has('x-request-id') && headers.has('x-ratelimit-remaining'))
  }
  for (const match of ['"other"', opaque.slice(1, -1), '']) {
    t.equal(
      (await api.ask(secret, '/v1/articles?per_page=5', { headers: { 'If-None-Match': match } })).status,
      200,
      match,
    )
  }
  t.equal(
    (await api.ask(secret, '/v1/articles?foo=1', { headers: { 'If-None-Match': '*' } })).status,
    422,
    'an error is never 304',
  )
})

t.test('decision 8: the ETag is over all but the cursor, and the cursor a client kept stays good', async t => {
  const ask = () => api.ask(secret, '/v1/articles?q=brug&per_page=5&order=asc')
  const first = await ask()
  // A newer article moves the watermark, and with it the cursor; the page and its total are others' articles as before.
  await api.index([{ title: 'Iets anders' }])
  const second = await ask()
  t.not(first.json.next_cursor, second.json.next_cursor)
  t.equal(first.headers.get('etag'), second.headers.get('etag'))
  const next = await api.ask(secret, `/v1/articles?q=brug&per_page=5&order=asc&cursor=${first.json.next_cursor}`)
  t.equal(next.status, 200)
  t.equal(next.json.articles.length, 5)
  await api.index([{ title: 'Nog een brug' }])
  t.not((await ask()).headers.get('etag'), first.headers.get('etag'), 'the total has changed')
})

t.test('decision 8: gzip and br', async t => {
  const read = (encoding: string) =>
    new Promise<{ encoding: string | undefined; body: Buffer; vary: string | undefined }>((resolve, reject) => {
      get(
        `${api.base}/v1/articles`,
        { headers: { Authorization: `Bearer ${secret}`, 'Accept-Encoding': encoding } },
        async response => {
          const parts: Buffer[] = []
          for await (const part of response) parts.push(part)
          resolve({
            encoding: response.headers['content-encoding'],
            body: Buffer.concat(parts),
            vary: response.headers.vary,
          })
        },
      ).on('error', reject)
    })
  const plain = await read('identity')
  t.equal(plain.encoding, undefined)
  const gzip = await read('gzip')
  t.equal(gzip.encoding, 'gzip')
  t.ok(gunzipSync(gzip.body).equals(plain.body))
  const br = await read('br')
  t.equal(br.encoding, 'br')
  t.ok(brotliDecompressSync(br.body).equals(plain.body))
  t.ok(br.body.length < plain.body.length / 3)
})

t.test('decision 8: HEAD answers as GET does, without the body', async t => {
  for (const path of [
    '/v1/articles',
    '/v1/articles.rss',
    '/v1/articles?foo=1',
    '/v1/nothing',
    '/docs',
    '/v1/openapi.json',
  ]) {
    const got = await api.ask(secret, path)
    const head = await api.ask(secret, path, { method: 'HEAD' })
    t.equal(head.status, got.status)
    t.equal(head.text, '')
    for (const name of ['content-type', 'etag', 'cache-control']) t.equal(head.headers.get(name), got.headers.get(name))
  }
})

t.test('decision 8: every answer has an X-Request-Id; a well-formed one of the client stays', async t => {
  const asked: [key: string | null, path: string, init?: RequestInit][] = [
    [null, '/v1/articles'],
    [secret, '/v1/articles'],
    [secret, '/v1/articles', { headers: { 'If-None-Match': '*' } }],
    [secret, '/v1/nothing'],
    [secret, '/v1/articles', { method: 'POST' }],
    [null, '/healthz'],
    [null, '/docs'],
  ]
  const seen = new Set<string>()
  for (const [key, path, init] of asked) {
    const id = (await api.ask(key, path, init)).headers.get('x-request-id') ?? ''
    t.match(id, /^[0-9a-f-]{36}$/)
    seen.add(id)
  }
  t.equal(seen.size, asked.length)
  const sent = async (id: string) =>
    (await api.ask(secret, '/v1/articles', { headers: { 'X-Request-Id': id } })).headers.get('x-request-id')
  for (const id of ['abc-123', '0190b2f4-6c3e-7d1a-9f00-0123456789ab', 'a.b:c/d=e+f@g~h_i']) t.equal(await sent(id), id)
  for (const id of ['a b', 'x'.repeat(200), '<script>', 'a"b', 'é', '']) t.match(await sent(id), /^[0-9a-f-]{36}$/)
})

t.test('decision 8: CORS for the origins that are configured, and for no other', async t => {
  const preflight = await api.ask(null, '/v1/articles', {
    method: 'OPTIONS',
    headers: {
      Origin: 'https://reader.example',
      'Access-Control-Request-Method': 'GET',
      'Access-Control-Request-Headers': 'authorization',
    },
  })
  t.equal(preflight.status, 204)
  t.equal(preflight.headers.get('access-control-allow-origin'), 'https://reader.example')
  t.match(preflight.headers.get('access-control-allow-headers'), /authorization/i)
  const allowed = await api.ask(secret, '/v1/articles', { headers: { Origin: 'https://reader.example' } })
  t.equal(allowed.headers.get('access-control-allow-origin'), 'https://reader.example')
  t.match(allowed.headers.get('access-control-expose-headers'), /X-RateLimit-Remaining/)
  const strange = await api.ask(secret, '/v1/articles', { headers: { Origin: 'https://other.example' } })
  t.notOk(strange.headers.has('access-control-allow-origin'))
  for (const headers of [
    { Origin: 'https://other.example', 'Access-Control-Request-Method': 'GET' },
    { Origin: 'https://reader.example' },
    {},
  ]) {
    const { status } = await api.ask(null, '/v1/articles', { method: 'OPTIONS', headers })
    t.equal(status, 401, 'no preflight of these: an ordinary request, without a key')
  }
  const closed = await startTestApi()
  t.teardown(() => closed.stop())
  const off = await closed.ask(null, '/v1/articles', {
    method: 'OPTIONS',
    headers: { Origin: 'https://reader.example' },
  })
  t.equal(off.status, 401)
  t.notOk(off.headers.has('access-control-allow-origin'))
})

t.test('the contract: request bodies are not looked at', async t => {
  const { status } = await new Promise<{ status: number | undefined }>((resolve, reject) => {
    const request = httpRequest(`${api.base}/v1/articles`, {
      method: 'GET',
      headers: { Authorization: `Bearer ${secret}`, 'Content-Length': '9' },
    })
    request.on('error', reject).on('response', response => {
      response.resume()
      resolve({ status: response.statusCode })
    })
    request.end('{"q":"x"}')
  })
  t.equal(status, 200)
})

/** What the server says to raw bytes, and how long it took to hang up. */
async function raw(bytes: string, patience = 20_000): Promise<{ text: string; ms: number }> {
  const start = Date.now()
  const socket = connect(Number(new URL(api.base).port), '127.0.0.1')
  socket.setTimeout(patience, () => socket.destroy(new Error('it did not hang up')))
  let text = ''
  socket.setEncoding('utf8').on('data', part => {
    text += part
  })
  socket.on('error', () => {}) // it may be cut off while we are still sending
  socket.write(bytes)
  await new Promise(resolve => socket.once('close', resolve))
  return { text, ms: Date.now() - start }
}

const head = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}`

t.test('issue 4.6: giant addresses and headers are cut off', async t => {
  for (const bytes of [
    `${head(`/v1/articles?q=${'a'.repeat(100_000)}`)}\r\n`,
    `${head('/v1/articles', `Authorization: Bearer ${'a'.repeat(100_000)}\r\n`)}\r\n`,
    head('/v1/articles', 'X-A: b\r\n'.repeat(20_000)),
  ]) {
    const { text, ms } = await raw(bytes)
    t.match(text, /^HTTP\/1\.1 431 /)
    t.match(text, /\r\nX-Request-Id: /)
    t.match(text, /"status":"error"/)
    t.ok(ms < 3_000)
  }
})

t.test('issue 4.6: the longest request that can be right is taken', async t => {
  const long = (unit: string) => encodeURIComponent(unit.repeat(191))
  const query = `q=${long('😀').slice(0, -12)}a&outlet=${long('語')}&author=${long('😀')}&cursor=${'a'.repeat(255)}`
  const { status, json } = await api.ask(secret, `/v1/articles?${query}`)
  t.equal(status, 422)
  t.strictSame(Object.keys(json.errors), ['cursor'])
})

t.test('issue 4.6: what is not HTTP is told so and cut off', async t => {
  for (const bytes of [
    'hello\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    '\x16\x03\x01\x02\x00',
    'GET /v1/articles HTTP/1.1\r\nHost: x\r\nA b: c\r\n\r\n',
  ]) {
    const { text, ms } = await raw(bytes)
    t.match(text, /^HTTP\/1\.1 400 /)
    t.ok(ms < 3_000)
  }
})

t.test('decision 7: what the server refuses before it is a request is an error object too, with an id', async t => {
  for (const bytes of [
    'hello\r\n\r\n',
    `GET /v1/articles HTTP/1.1\r\nAuthorization: Bearer ${secret}\r\n\r\n`,
    `${head('/v1/articles', 'Host: y\r\n')}\r\n`,
    `${head('/v1/articles?q=a b')}\r\n`,
    head('/v1/articles', 'X-A: b\r\n'.repeat(20_000)),
  ]) {
    const { text } = await raw(bytes)
    const [top = '', body = ''] = text.split('\r\n\r\n')
    t.match(top, /^HTTP\/1\.1 4(00|31) /)
    t.match(top, /\r\nX-Request-Id: [0-9a-f-]{36}(\r\n|$)/)
    t.match(top, /\r\nCache-Control: no-store/)
    t.match(top, /\r\nConnection: close/)
    const { status, code, message, ...more } = JSON.parse(body)
    t.strictSame({ status, code, more }, { status: 'error', code: 'invalid_request', more: {} })
    t.match(message, /^[A-Z].*\.$/)
    t.notMatch(text, /node|\.ts|HPE_|llhttp/)
  }
})

t.test('decision 11: there is no 400 for what a client forgot to percent-encode', async t => {
  const asked = async (target: string, more = `Authorization: Bearer ${secret}\r\n`) => {
    const { text } = await raw(`${head(target, more)}\r\n`)
    const [top = '', body = ''] = text.split('\r\n\r\n')
    return { status: Number(top.slice(9, 12)), top, json: JSON.parse(body) }
  }
  await api.index([{ title: 'Het café om de hoek' }])
  for (const target of ['/v1/articles?q=café', '/v1/articles?q=caf%C3%A9', '/v1/articles?outlet=D%C3%A9\x7f&q=café']) {
    const { status, top, json } = await asked(target)
    t.equal(status, 200, target)
    t.match(top, /X-RateLimit-Remaining: \d/)
    t.equal(json.articles.length, target.includes('outlet') ? 0 : 1)
  }
  const nul = await asked('/v1/articles?per_page=5&q=a\0é')
  t.equal(nul.status, 422)
  t.strictSame(Object.keys(nul.json.errors), ['q'])
  const unknown = await asked('/v1/articles?città=1')
  t.strictSame([unknown.status, Object.keys(unknown.json.errors)], [422, ['città']])
  t.equal((await asked('/v1/café')).status, 404)
  t.equal((await asked('/v1/articles?q=café', '')).json.code, 'missing_token', 'nobody comes past the key')
  t.match((await raw(`${head('/v1/articles?q=café&foo=1')}X-Late: `, 30_000)).text, /^HTTP\/1\.1 408 /)
})

t.test('decision 5: CONNECT is a method as others are, an unknown expectation none', async t => {
  const key = `Authorization: Bearer ${secret}\r\n`
  t.match((await raw(`CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n`)).text, /^HTTP\/1\.1 401 [\s\S]*missing_token/)
  t.match(
    (await raw(`CONNECT x:1 HTTP/1.1\r\nHost: x\r\n${key}\r\n`)).text,
    /^HTTP\/1\.1 40[45] [\s\S]*"status":"error"/,
  )
  t.match(
    (await raw(`${head('/v1/articles', `${key}Connection: close\r\nExpect: 200-maybe\r\n`)}\r\n`)).text,
    /^HTTP\/1\.1 200 /,
  )
})

t.test('decision 7: every form of address that HTTP knows is answered as any other', async t => {
  const key = `Host: x\r\nAuthorization: Bearer ${secret}\r\nConnection: close\r\n\r\n`
  for (const [line, expected] of [
    ['GET http://x/v1/articles?per_page=1 HTTP/1.1', /^HTTP\/1\.1 200 /],
    ['GET HTTPS://x:1/v1/articles?foo=1 HTTP/1.1', /^HTTP\/1\.1 422 [\s\S]*"foo"/],
    ['GET http://x HTTP/1.1', /^HTTP\/1\.1 404 [\s\S]*"not_found"/],
    ['GET http://x?q=1 HTTP/1.1', /^HTTP\/1\.1 404 [\s\S]*"not_found"/],
    ['OPTIONS * HTTP/1.1', /^HTTP\/1\.1 404 [\s\S]*"not_found"/],
    ['GET //v1/articles HTTP/1.1', /^HTTP\/1\.1 404 [\s\S]*"not_found"/],
    ['GET /v1/%61rticles HTTP/1.1', /^HTTP\/1\.1 404 [\s\S]*"not_found"/],
    ['GET /%ff HTTP/1.1', /^HTTP\/1\.1 404 [\s\S]*"not_found"/],
    ['GET /v1/articles#a?q=1 HTTP/1.1', /^HTTP\/1\.1 (200|404) /],
  ] as const) {
    const { text } = await raw(`${line}\r\n${key}`)
    t.match(text, expected, line)
    t.match(text, /\r\nX-Request-Id: /)
    t.match(text, /\r\nX-RateLimit-Remaining: /)
  }
})

t.test('issue 4.6: slow senders are cut off', async t => {
  const { text, ms } = await raw(head('/v1/articles', 'X-Slow: '), 30_000)
  t.match(text, /^HTTP\/1\.1 408 /)
  t.ok(ms < 15_000, `${ms} ms`)
})

t.test('issue 4.6: no answer tells a stack, a query or a host', async t => {
  await api.pool.query('alter table articles rename to articles_away')
  const { status, json, text } = await api.ask(secret, '/v1/articles')
  await api.pool.query('alter table articles_away rename to articles')
  t.equal(status, 500)
  t.equal(json.code, 'internal_error')
  t.strictSame(Object.keys(json), ['status', 'code', 'message'])
  t.notMatch(text, /articles_away|relation|select|127\.0\.0\.1|\.ts|node_modules/i)
})
