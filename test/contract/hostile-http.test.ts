import t from 'tap'
import { startTestApi } from './api.ts'
import { sendRaw } from './raw.ts'
import TARGETS from './targets.json' with { type: 'json' }

const api = await startTestApi(t)
const { secret } = await api.issue()

const raw = (bytes: string) => sendRaw(api.base, bytes)

const head = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}`

t.test('the longest request that can be right is taken', async t => {
  const long = (unit: string) => encodeURIComponent(unit.repeat(191))
  const query = `q=${long('😀').slice(0, -12)}a&outlet=${long('語')}&author=${long('😀')}&cursor=${'a'.repeat(255)}`
  const { status, json } = await api.ask(secret, `/v1/articles?${query}`)
  t.equal(status, 422)
  t.strictSame(Object.keys(json.errors), ['cursor'])
})

t.test(
  'decision 7: what the server refuses before it is a request is an error object too, with an id',
  async t => {
    const lines = [
      'GET foo HTTP/1.1',
      'GET ?q=1 HTTP/1.1',
      'GET \\\\x HTTP/1.1',
      'GET é HTTP/1.1',
      'GET http:/x HTTP/1.1',
      'GET 1:2 HTTP/1.1',
      'OPTIONS foo HTTP/1.1',
      'GET é é HTTP/1.1',
    ]
    const giants = [
      `${head(`/v1/articles?q=${'a'.repeat(100_000)}`)}\r\n`,
      `${head('/v1/articles', `Authorization: Bearer ${'a'.repeat(100_000)}\r\n`)}\r\n`,
      head('/v1/articles', 'X-A: b\r\n'.repeat(20_000)),
    ]
    for (const bytes of [
      'hello\r\n\r\n',
      'GET / HTTP/9.9\r\n\r\n',
      '\x16\x03\x01\x02\x00',
      'GET /v1/articles HTTP/1.1\r\nHost: x\r\nA b: c\r\n\r\n',
      `GET /v1/articles HTTP/1.1\r\nAuthorization: Bearer ${secret}\r\n\r\n`,
      `${head('/v1/articles', 'Host: y\r\n')}\r\n`,
      `${head('/v1/articles?q=a b')}\r\n`,
      ...lines.map(line => `${line}\r\nHost: x\r\n\r\n`),
      ...giants,
    ]) {
      const { text } = await raw(bytes)
      t.equal(text.split('HTTP/1.1 ').length, 2, 'one answer')
      const [top = '', body = ''] = text.split('\r\n\r\n')
      t.match(
        top,
        giants.includes(bytes) ? /^HTTP\/1\.1 431 / : /^HTTP\/1\.1 400 /,
        bytes.slice(0, 80),
      )
      t.match(top, /\r\nX-Request-Id: [0-9a-f-]{36}(\r\n|$)/)
      t.match(top, /\r\nCache-Control: no-store/)
      t.match(top, /\r\nConnection: close/)
      const { status, code, message, ...more } = JSON.parse(body)
      t.strictSame({ status, code, more }, { status: 'error', code: 'invalid_request', more: {} })
      t.match(message, /^[A-Z].*\.$/)
      t.notMatch(text, /node|\.ts|HPE_|llhttp/)
    }
    t.equal((await api.ask(secret, '/v1/articles')).status, 200, 'others are answered')
  },
)

t.test('decision 11: there is no 400 for what a client forgot to percent-encode', async t => {
  const asked = async (target: string, more = `Authorization: Bearer ${secret}\r\n`) => {
    // The connection ends with the answer, so nobody waits for the server's keep-alive to end.
    const { text } = await raw(`${head(target, `${more}Connection: close\r\n`)}\r\n`)
    const [top = '', body = ''] = text.split('\r\n\r\n')
    return { status: Number(top.slice(9, 12)), top, json: JSON.parse(body) }
  }
  await api.index([{ title: 'Het café om de hoek' }])
  for (const target of [
    '/v1/articles?q=café',
    '/v1/articles?q=caf%C3%A9',
    '/v1/articles?outlet=D%C3%A9\x7f&q=café',
  ]) {
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
  t.equal(
    (await asked('/v1/articles?q=café', '')).json.code,
    'missing_token',
    'nobody comes past the key',
  )
})

t.test('decision 7: every form of address that HTTP knows is answered as any other', async t => {
  const key = `Host: x\r\nAuthorization: Bearer ${secret}\r\nConnection: close\r\n\r\n`
  for (const { line, status, word } of TARGETS) {
    const { text } = await raw(`${line} HTTP/1.1\r\n${key}`)
    t.match(text, new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*"${word}"`), line)
    t.match(text, /\r\nX-Request-Id: /)
    t.match(text, /\r\nX-RateLimit-Remaining: /)
  }
})

t.test('no answer tells a stack, a query or a host', async t => {
  await api.pool.query('alter table ingest_clock rename to clock_away')
  const { status, json, text, headers } = await api.ask(secret, '/v1/articles')
  await api.pool.query('alter table clock_away rename to ingest_clock')
  t.equal(status, 500)
  t.equal(json.code, 'internal_error')
  t.equal(headers.get('retry-after'), null, 'a fault of ours does not end by waiting')
  t.strictSame(Object.keys(json), ['status', 'code', 'message'])
  t.notMatch(text, /clock_away|relation|select|127\.0\.0\.1|\.ts|node_modules/i)
})
