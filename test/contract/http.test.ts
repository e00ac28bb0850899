import t from 'tap'
import { startTestApi } from './api.ts'

const api = await startTestApi(t)
const { secret } = await api.issue()
await api.index(Array.from({ length: 30 }, (_, i) => ({ title: `Artikel nummer ${i} over de brug` })))

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

t.test('decision 8: a well-formed X-Request-Id of the client stays, another is replaced', async t => {
  const sent = async (id: string) =>
    (await api.ask(secret, '/v1/articles', { headers: { 'X-Request-Id': id } })).headers.get('x-request-id')
  for (const id of ['abc-123', '0190b2f4-6c3e-7d1a-9f00-0123456789ab', 'a.b:c/d=e+f@g~h_i']) t.equal(await sent(id), id)
  for (const id of ['a b', 'x'.repeat(200), '<script>', 'a"b', 'é', '']) t.match(await sent(id), /^[0-9a-f-]{36}$/)
})
