import { connect } from 'node:net'
import { parseOpml } from 'feedsmith'
import t from 'tap'
import { MAX_FEEDS } from '#shared/desk/feeds'
import { countOf } from '#shared/postgres/pool'
import BODIES from './feed-bodies.json' with { type: 'json' }
import { documented, pathOf, startFeedApi } from './feeds.ts'

const api = await startFeedApi(t)
const { make, list, read } = api

/** A POST as it stands on the wire; the answer as it comes. */
const post = (secret: string, headers: string[], ...parts: string[]) =>
  new Promise<string>((resolve, reject) => {
    const socket = connect(Number(new URL(api.base).port), '127.0.0.1')
    const lines = [
      'Host: x',
      `Authorization: Bearer ${secret}`,
      'Content-Type: application/json',
      ...headers,
    ]
    let text = ''
    socket.setEncoding('utf8').on('data', async part => {
      text += part
      // The rest is sent once it is asked for.
      if (/^HTTP\/1\.1 100 /.test(text)) socket.write(parts.splice(0).join(''))
    })
    socket
      .once('close', () => resolve(text))
      .once('error', error => (text === '' ? reject(error) : resolve(text)))
    socket.write(`POST /explore/feeds HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
    if (!headers.includes('Expect: 100-continue')) socket.write(parts.splice(0).join(''))
  })

/** It is waited for beside everything else. */
const late = post((await api.issue()).secret, ['Content-Length: 13'], '{"search"')

t.test('OPML shows the addresses of all feeds of the key', async t => {
  const { secret } = await api.issue()
  const anotherKey = await api.issue()
  await make(anotherKey.secret, { search: 'q=vreemd' })
  const one = await make(secret, { search: 'q=brug', title: 'A "b" <c> & é 😀' })
  const two = await make(secret, { search: 'country=BE' })
  const three = await make(secret, { search: '' })
  await api.ask(secret, `/explore/feeds/${three.json.id}`, { method: 'DELETE' })
  const { status, headers, text } = await api.ask(secret, '/explore/feeds.opml')
  t.equal(status, 200)
  t.equal(headers.get('content-type'), 'text/x-opml; charset=utf-8')
  t.equal(headers.get('cache-control'), 'no-store')
  t.match(headers.get('content-disposition'), /^attachment; filename="[\w.]+"$/)
  t.match(parseOpml(text).body?.outlines, [
    {
      type: 'rss',
      text: 'A "b" <c> & é 😀',
      xmlUrl: one.json.url,
      htmlUrl: 'https://news.example/?q=brug&search_in=title',
    },
    { type: 'rss', text: 'Nieuws & Co: country=BE', xmlUrl: two.json.url },
  ])
  t.equal(parseOpml(text).body?.outlines?.length, 2)
  t.ok(text.includes(one.json.urls.atom) && text.includes(one.json.urls.json), 'all three formats')
  t.equal((await read(pathOf(one.json.url))).status, 200, 'the addresses stay as they were')
})

t.test('a search is held against the rules of /v1/articles.rss', async t => {
  const { secret } = await api.issue({
    countries: ['NL'],
    history: { kind: 'fixed', at: new Date('2025-01-01') },
  })
  for (const search of [
    'cursor=abc',
    'limit=10',
    'per_page=101',
    'q=%ff',
    'q=a&q=b',
    '?q=brug',
    'search=semantic',
    'q=-tunnel&search=boolean',
    'published_after=2025-02-30',
    'country=BE',
    'published_after=2024-12-31',
  ]) {
    const refused = await make(secret, { search })
    const operation = await api.ask(secret, `/v1/articles.rss?${search}`)
    t.ok([422, 403].includes(refused.status), search)
    t.equal(refused.status, operation.status)
    t.strictSame(refused.json, operation.json, search)
  }
  t.same(await list(secret), [])
})

t.test('letters beyond ASCII may be written as they are', async t => {
  const { secret } = await api.issue()
  const { json } = await make(secret, { search: 'q=café 😀 €#&outlet=Zoë' })
  t.equal(json.search, 'q=caf%C3%A9+%F0%9F%98%80+%E2%82%AC%23&outlet=Zo%C3%AB')
  t.equal(
    (await make(secret, { search: json.search })).json.search,
    json.search,
    'the one spelling stays',
  )
})

const wrong: [about: string, body: string, said: string, status?: number][] = [
  ...BODIES.map(([about = '', body = '', said = '']): [string, string, string] => [
    about,
    body,
    said,
  ]),
  ['a long title', JSON.stringify({ search: '', title: 'é'.repeat(192) }), 'at most 191'],
  ['a long search', JSON.stringify({ search: `q=${'a'.repeat(32_800)}` }), 'at most 32768'],
  ['a huge body', JSON.stringify({ search: 'a'.repeat(41_000) }), '40960 bytes', 413],
]
for (const [about, body, said, status = 422] of wrong) {
  t.test(`a body that is refused: ${about}`, async t => {
    const { secret } = await api.issue()
    const refused = await make(secret, body)
    t.equal(refused.status, status)
    t.match(refused.text, said)
    t.equal(refused.headers.get('cache-control'), 'no-store')
    t.same(await list(secret), [])
  })
}

t.test('two names in a value are no names', async t => {
  const { secret } = await api.issue()
  const title = '{"search": "a", \\ "title": 1}'
  t.equal((await make(secret, { search: '', title })).json.title, title)
})

t.test('only JSON, and uncompressed', async t => {
  const { secret } = await api.issue()
  const body = JSON.stringify({ search: '' })
  for (const headers of [
    { 'Content-Type': 'text/plain' },
    { 'Content-Type': 'application/x-www-form-urlencoded' },
    { 'Content-Type': 'application/jsonp' },
    { 'Content-Encoding': 'gzip' },
  ])
    t.equal((await make(secret, body, headers)).status, 415, JSON.stringify(headers))
  t.equal(
    (await make(secret, body, { 'Content-Type': 'application/json; charset=utf-8' })).status,
    201,
  )
  const latin = await api.ask(secret, '/explore/feeds', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: Buffer.from('{"search":"q=caf\xe9"}', 'latin1'),
  })
  t.equal(latin.status, 422)
})

t.test(
  'operations and addresses take no parameters, so no filter is ignored in silence',
  async t => {
    const { secret } = await api.issue()
    const { json: feed } = await make(secret, { search: 'q=brug' })
    for (const [method, path] of [
      ['GET', '/explore/feeds'],
      ['POST', '/explore/feeds'],
      ['GET', '/explore/feeds.opml'],
      ['DELETE', `/explore/feeds/${feed.id}`],
      ['GET', pathOf(feed.url)],
    ] as const) {
      const { status, json } = await api.ask(secret, `${path}?title=Bridges&q`, { method })
      t.equal(status, 422, `${method} ${path}`)
      t.match(json, {
        code: 'invalid_request',
        errors: { title: [/takes no parameters/], q: [/./] },
      })
    }
    t.equal((await list(secret)).length, 1, 'the feed has not ended')
  },
)

t.test(`a key has ${MAX_FEEDS} feeds at most, also when they are made at once`, async t => {
  const { secret, key } = await api.issue()
  const answers = await Promise.all(
    Array.from({ length: MAX_FEEDS + 20 }, () => make(secret, { search: '' })),
  )
  t.equal(answers.filter(({ status }) => status === 201).length, MAX_FEEDS)
  t.match(answers.find(({ status }) => status === 409)?.json, {
    code: 'too_many_feeds',
    message: /revoke one/,
  })
  t.equal((await list(secret)).length, MAX_FEEDS)
  const stored = () =>
    countOf(api.pool, 'select count(*)::int from search_feeds where key_id = $1', [key.id])
  for (let i = 0; i < MAX_FEEDS + 5; i++) {
    const [oldest] = await list(secret)
    await api.ask(secret, `/explore/feeds/${oldest.id}`, { method: 'DELETE' })
    await make(secret, { search: '' })
  }
  t.ok((await stored())! <= 2 * MAX_FEEDS + 1, 'revoked ones are not kept without end')
})

t.test('a body without a length is read up to its limit', async t => {
  const { secret } = await api.issue()
  const chunk = `${(1_024).toString(16)}\r\n${' '.repeat(1_024)}\r\n`
  const answer = await post(secret, ['Transfer-Encoding: chunked'], chunk.repeat(41))
  t.match(answer, /^HTTP\/1\.1 413 /)
  t.match(answer, '"code":"body_too_large"')
  t.match(answer, /^Connection: close/im)
  const whole = await post(
    secret,
    ['Transfer-Encoding: chunked', 'Connection: close'],
    `d\r\n{"search":""}\r\n0\r\n\r\n`,
  )
  t.match(whole, /^HTTP\/1\.1 201 /)
})

t.test('a body that is announced as too large is never asked for', async t => {
  const { secret } = await api.issue()
  const refused = await post(secret, ['Expect: 100-continue', 'Content-Length: 1000000'], 'x')
  t.match(refused, /^HTTP\/1\.1 413 /)
  const wanted = await post(
    secret,
    ['Expect: 100-continue', 'Content-Length: 13', 'Connection: close'],
    '{"search":""}',
  )
  t.match(wanted, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /)
})

t.test('a thousand members that do not exist are an answer of fifty', async t => {
  const { secret } = await api.issue()
  const body = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`m${i}`, '']))
  const { status, json } = await make(secret, body)
  t.equal(status, 422)
  t.equal(Object.keys(json.errors).length, 50)
})

t.test('origins that are configured may change what a key keeps, and only read /v1', async t => {
  const open = await api.another({ CORS_ORIGINS: 'https://reader.example' })
  const preflight = async (path: string, origin = 'https://reader.example') => {
    const headers = { Origin: origin, 'Access-Control-Request-Method': 'PUT' }
    const response = await fetch(`${open.base}${path}`, { method: 'OPTIONS', headers })
    return [response.status, response.headers.get('access-control-allow-methods')]
  }
  for (const path of ['feeds/feed_0', 'searches/search_0', 'outlet-sets/Dailies', 'citations'])
    t.same(await preflight(`/explore/${path}`), [204, 'GET,HEAD,POST,PUT,PATCH,DELETE'], path)
  t.same(await preflight('/v1/articles'), [204, 'GET,HEAD'])
  t.equal((await preflight('/explore/feeds', 'https://other.example'))[0], 401)
})

t.test('answers fit the OpenAPI document, and every error that was met is in it', async t => {
  const { paths, fits } = await documented(api)
  const { secret } = await api.issue({ countries: ['NL'] })
  const made = await make(secret, { search: 'q=brug', title: 'x' })
  fits(t, 'MadeFeed', made.json)
  const { status: _status, data, ...before } = made.json
  t.strictSame(data, before, 'both forms for one version')
  await read(pathOf(made.json.url))
  const listed = (await api.ask(secret, '/explore/feeds')).json
  fits(t, 'Feeds', listed)
  t.strictSame(listed.data, listed.feeds)
  const id = made.json.id as string
  await api.ask(secret, `/explore/feeds/${id}`, { method: 'DELETE' })
  for (const [answer, operation] of [
    [await make(secret, { search: 'country=BE' }), paths['/explore/feeds'].post],
    [await make(secret, { search: 'x=1' }), paths['/explore/feeds'].post],
    [await make(secret, 'x'.repeat(41_000)), paths['/explore/feeds'].post],
    [await make(secret, '', { 'Content-Type': 'text/plain' }), paths['/explore/feeds'].post],
    [await make(null, '{}'), paths['/explore/feeds'].post],
    [
      await api.ask(secret, '/explore/feeds/feed_0', { method: 'DELETE' }),
      paths['/explore/feeds/{id}'].delete,
    ],
    [
      await api.ask(secret, '/explore/feeds/feed_0?x', { method: 'DELETE' }),
      paths['/explore/feeds/{id}'].delete,
    ],
    [await api.ask(secret, '/explore/feeds?x'), paths['/explore/feeds'].get],
    [await api.ask(secret, '/explore/feeds.opml?x'), paths['/explore/feeds.opml'].get],
    [await read(pathOf(made.json.url)), paths['/feeds/{token}.{format}'].get],
    [await read('/feeds/x.rss'), paths['/feeds/{token}.{format}'].get],
  ] as const) {
    fits(t, 'Error', answer.json)
    t.match(operation.responses[answer.status]?.description, answer.json.code)
  }
})

t.test('a body that does not come is given up', async t => {
  t.match(await late, /^HTTP\/1\.1 408 /)
})
