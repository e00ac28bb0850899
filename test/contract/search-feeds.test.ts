import { parseFeed } from '@rowanmanning/feed-parser'
import { parseOpml, parseRssFeed } from 'feedsmith'
import RssParser from 'rss-parser'
import t from 'tap'
import { revokeKey, updateKey } from '../../shared/plans/keys.ts'
import { MAX_FEEDS } from '../../shared/plans/search-feeds.ts'
import { type Answered, startTestApi } from './api.ts'

const api = await startTestApi({ SERVICE_NAME: 'Nieuws & Co', AUTH_LOCK_FAILURES: '10', TRUST_PROXY: '1' })
t.teardown(() => api.stop())
await api.index([
  { title: 'Brug "A" & <B> geopend', authors: ['Anna de Wit'] },
  { title: 'De brug is dicht' },
  { title: 'Le pont ouvert', language: 'fr', country: 'BE' },
])

/** Makes a feed as the explorer does. */
function make(secret: string | null, body: unknown, headers: Record<string, string> = {}): Promise<Answered> {
  return api.ask(secret, '/explore/feeds', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}
const list = async (secret: string) => (await api.ask(secret, '/explore/feeds')).json.feeds
/** The path of a feed's address. */
const pathOf = (url: string) => new URL(url).pathname
/** As a feed reader at an address of the test's choosing asks: without a key. */
const read = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  api.ask(null, path, { method, headers: { 'X-Forwarded-For': '192.0.2.1', ...headers } })

t.test('a search becomes a feed that needs no key', async t => {
  const { secret } = await api.issue()
  const made = await make(secret, { search: 'q=brug&country=nl', title: '  Bruggen ' })
  t.equal(made.status, 201)
  t.match(made.json, {
    status: 'ok',
    id: /^feed_[0-9a-f]{16}$/,
    title: 'Bruggen',
    search: 'q=brug&country=NL',
    last_used_at: null,
    requests: 0,
    url: /^https:\/\/news\.example\/feeds\/psf_[\w-]{43}\.rss$/,
  })
  t.equal(made.headers.get('cache-control'), 'no-store')
  const feed = await read(pathOf(made.json.url))
  t.equal(feed.status, 200)
  t.equal(feed.headers.get('content-type'), 'application/rss+xml; charset=UTF-8')
  t.equal(feed.headers.get('x-ratelimit-limit'), '100000', "the key's counters")
  t.same(
    parseRssFeed(feed.text).items?.map(item => item.title),
    ['De brug is dicht', 'Brug "A" & <B> geopend'],
  )
  const [listed] = await list(secret)
  t.match(listed, { id: made.json.id, requests: 1, last_used_at: /^20/ })
  t.notOk('url' in listed, 'the address is shown once')
})

t.test('a feed answers what /v1/articles.rss answers, but for links', async t => {
  const { secret } = await api.issue()
  const withoutLinks = (xml: string) => xml.replace(/^ {4}<(link>|atom:link ).*\n/gm, '')
  for (const search of [
    '',
    'q=brug',
    'country=BE,NL&per_page=1',
    'sort=ingested_at&order=asc',
    'q=%22a%22&search=boolean',
  ]) {
    const { json } = await make(secret, { search })
    const feed = await read(pathOf(json.url))
    const operation = await api.ask(secret, `/v1/articles.rss?${search}`)
    t.equal(withoutLinks(feed.text), withoutLinks(operation.text), search)
    t.equal(
      parseRssFeed(feed.text).link,
      search === '' ? 'https://news.example/' : `https://news.example/?${json.search}`,
    )
    const token = pathOf(json.url).slice('/feeds/'.length, -'.rss'.length)
    for (const hidden of [secret, token]) t.notMatch(feed.text, hidden, 'no secret in the feed')
    for (const name of ['content-type', 'cache-control', 'vary'])
      t.equal(feed.headers.get(name), operation.headers.get(name), name)
  }
})

t.test('three parsers read the same feed', async t => {
  const { secret } = await api.issue()
  const { text } = await read(pathOf((await make(secret, { search: 'q=brug' })).json.url))
  const { json } = await api.ask(secret, '/v1/articles?q=brug')
  const titles = json.articles.map(({ title }: { title: string }) => title)
  const links = json.articles.map(({ url }: { url: string }) => url)
  const feedsmith = parseRssFeed(text)
  t.same(
    feedsmith.items?.map(item => item.title),
    titles,
  )
  t.same(
    feedsmith.items?.map(item => item.link),
    links,
  )
  const rowanManning = parseFeed(text)
  t.same(
    rowanManning.items.map(item => item.title),
    titles,
  )
  t.same(
    rowanManning.items.map(item => item.url),
    links,
  )
  const rssParser = await new RssParser().parseString(text)
  t.same(
    rssParser.items.map(item => item.title),
    titles,
  )
  t.same(
    rssParser.items.map(item => item.link),
    links,
  )
  for (const title of [feedsmith.title, rowanManning.title, rssParser.title]) t.equal(title, 'Nieuws & Co: q=brug')
  for (const link of [feedsmith.link, rowanManning.url, rssParser.link]) t.equal(link, 'https://news.example/?q=brug')
})

t.test('decision 8: conditional requests and HEAD', async t => {
  const { secret } = await api.issue({ quota: 10 })
  const path = pathOf((await make(secret, { search: 'q=brug' })).json.url)
  const first = await read(path)
  const etag = first.headers.get('etag') ?? ''
  const again = await read(path, { 'If-None-Match': etag })
  t.equal(again.status, 304)
  t.equal(again.text, '')
  t.equal(again.headers.get('etag'), etag)
  const head = await read(path, {}, 'HEAD')
  t.equal(head.status, 200)
  t.equal(head.text, '')
  t.equal(head.headers.get('etag'), etag)
  t.equal(head.headers.get('x-quota-remaining'), '7', 'each of 200 and 304 costs one of the month, as in /v1')
})

t.test('what browsers and search engines are told', async t => {
  const { secret } = await api.issue()
  const { headers } = await read(pathOf((await make(secret, { search: '' })).json.url))
  t.equal(headers.get('referrer-policy'), 'no-referrer')
  t.equal(headers.get('x-robots-tag'), 'noindex, nofollow')
  t.equal(headers.get('cache-control'), 'private, no-cache')
})

t.test("the key's plan, minute and month hold for its feeds", async t => {
  const issued = await api.issue({ rate: 5, quota: 2 })
  const path = pathOf((await make(issued.secret, { search: 'country=BE' })).json.url)
  t.equal((await read(path)).headers.get('x-quota-remaining'), '1')
  t.equal((await api.ask(issued.secret, '/v1/articles')).headers.get('x-quota-remaining'), '0', 'one month for both')
  t.equal((await read(path)).json.code, 'quota_exceeded')
  t.equal((await read(path)).json.code, 'quota_exceeded')
  t.equal((await read(path)).json.code, 'rate_limit_exceeded', 'one minute for both')
  t.equal((await api.ask(issued.secret, '/v1/articles')).json.code, 'rate_limit_exceeded')
  t.match(await api.pool.query('select requests::int from search_feeds where key_id = $1', [issued.key.id]), {
    rows: [{ requests: 3 }],
  })
  await updateKey(api.pool, issued.key.id, { plan: { countries: ['NL'], rate: 100, quota: null } })
  const refused = await read(path)
  t.equal(refused.status, 403)
  t.match(refused.json, { code: 'country_not_included', message: 'Your plan covers NL, not BE.' })
})

t.test('a feed ends with its key, and when it is revoked', async t => {
  const issued = await api.issue()
  const [one, two] = [await make(issued.secret, { search: '' }), await make(issued.secret, { search: '' })]
  const revoke = (id: string, secret = issued.secret) => api.ask(secret, `/explore/feeds/${id}`, { method: 'DELETE' })
  const stranger = await api.issue()
  t.equal((await revoke(one.json.id, stranger.secret)).status, 404, 'not by another key')
  t.equal((await read(pathOf(one.json.url))).status, 200)
  const revoked = await revoke(one.json.id)
  t.equal(revoked.status, 204)
  t.equal(revoked.text, '')
  t.equal((await revoke(one.json.id)).status, 204, 'again is no error')
  t.equal((await revoke('feed_0')).status, 404)
  t.same(
    (await list(issued.secret)).map(({ id }: { id: string }) => id),
    [two.json.id],
  )
  const ended = await read(pathOf(one.json.url))
  t.equal(ended.status, 410)
  t.equal(ended.json.code, 'feed_ended')
  t.equal((await read(pathOf(two.json.url))).status, 200)
  await revokeKey(api.pool, issued.key.id)
  t.equal((await read(pathOf(two.json.url))).status, 410)
})

t.test('a wrong token is throttled as a wrong key is', async t => {
  const { secret } = await api.issue()
  const made = await make(secret, { search: '' })
  const from = { 'X-Forwarded-For': '198.51.100.1' }
  const guess = `/feeds/psf_${'A'.repeat(43)}.rss`
  for (const path of [guess, '/feeds/x.rss', '/feeds/%ff.rss', '/feeds/psf%5F.rss', '/feeds/.rss.rss']) {
    const { status, json, headers } = await read(path, from)
    t.equal(status, 404, path)
    t.equal(json.code, 'not_found')
    t.notOk(headers.has('x-ratelimit-limit'))
  }
  for (let i = 0; i < 5; i++) t.equal((await read(guess, from)).status, 404)
  const locked = await read(guess, from)
  t.equal(locked.status, 429)
  t.equal(locked.json.code, 'too_many_failed_attempts')
  t.ok(Number(locked.headers.get('retry-after')) > 800)
  const { status } = await api.ask('psk_wrong', '/v1/articles', { headers: from })
  t.equal(status, 429, 'one lock for keys and tokens')
  t.equal((await read(pathOf(made.json.url), from)).status, 200, 'a right token is let in')
})

t.test('the readers of a feed that has ended are not locked out', async t => {
  const issued = await api.issue()
  const path = pathOf((await make(issued.secret, { search: '' })).json.url)
  await revokeKey(api.pool, issued.key.id)
  const from = { 'X-Forwarded-For': '198.51.100.2' }
  for (let i = 0; i < 15; i++) t.equal((await read(path, from)).status, 410)
  t.equal((await read('/feeds/x.rss', from)).status, 404)
})

t.test('OPML shows the addresses of all feeds of the key', async t => {
  const { secret } = await api.issue()
  const stranger = await api.issue()
  await make(stranger.secret, { search: 'q=vreemd' })
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
    { type: 'rss', text: 'A "b" <c> & é 😀', xmlUrl: one.json.url, htmlUrl: 'https://news.example/?q=brug' },
    { type: 'rss', text: 'Nieuws & Co: country=BE', xmlUrl: two.json.url },
  ])
  t.equal(parseOpml(text).body?.outlines?.length, 2)
  t.equal((await read(pathOf(one.json.url))).status, 200, 'the addresses stay as they were')
})

t.test('a search is held against the rules of /v1/articles.rss', async t => {
  const { secret } = await api.issue({ countries: ['NL'], history: { kind: 'fixed', at: new Date('2025-01-01') } })
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
  t.equal((await make(secret, { search: json.search })).json.search, json.search, 'the one spelling stays')
})

const wrong: [about: string, body: string, status: number, said: RegExp][] = [
  ['nothing', '', 422, /JSON object/],
  ['no JSON', '{"search":', 422, /JSON object/],
  ['an array', '[]', 422, /JSON object/],
  ['null', 'null', 422, /JSON object/],
  ['no search', '{}', 422, /query string/],
  ['a search that is no text', '{"search":1}', 422, /as a text/],
  ['a list', '{"search":["q=a"]}', 422, /as a text/],
  ['null as title', '{"search":"","title":null}', 422, /as a text/],
  ['a member that does not exist', '{"search":"","key_id":"x"}', 422, /no such member/],
  ['__proto__', '{"search":"","__proto__":"x"}', 422, /no such member/],
  ['a member given twice', '{"search":"q=a","search":"q=b"}', 422, /only once/],
  ['a member given twice, escaped', '{"search":"q=a","\\u0073earch" :"q=b"}', 422, /only once/],
  ['half a character in the search', '{"search":"q=\\ud800"}', 422, /half a character/],
  ['half a character in the title', '{"search":"","title":"\\ud800"}', 422, /control/],
  ['a line break in the title', '{"search":"","title":"a\\r\\nSet-Cookie: b"}', 422, /control/],
  ['a long title', JSON.stringify({ search: '', title: 'é'.repeat(192) }), 422, /at most 191/],
  ['a long search', JSON.stringify({ search: `q=${'a'.repeat(8_200)}` }), 422, /at most 8192/],
  ['a huge body', JSON.stringify({ search: 'a'.repeat(20_000) }), 413, /16384 bytes/],
]
for (const [about, body, status, said] of wrong) {
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
  t.equal((await make(secret, body, { 'Content-Type': 'application/json; charset=utf-8' })).status, 201)
  const latin = await api.ask(secret, '/explore/feeds', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: Buffer.from('{"search":"q=caf\xe9"}', 'latin1'),
  })
  t.equal(latin.status, 422)
})

t.test('without a key nothing is made, listed or shown', async t => {
  for (const [method, path] of [
    ['GET', '/explore/feeds'],
    ['POST', '/explore/feeds'],
    ['DELETE', '/explore/feeds/feed_0'],
    ['GET', '/explore/feeds.opml'],
    ['GET', '/explore/nothing'],
    ['GET', '/feeds'],
    ['GET', '/feeds/psf_x'],
    ['POST', '/feeds/psf_x.rss'],
  ] as const) {
    const { status, json } = await api.ask(null, path, { method })
    t.equal(status, 401, `${method} ${path}`)
    t.equal(json.code, 'missing_token')
  }
})

t.test('other methods are 405, with those that are served', async t => {
  const { secret } = await api.issue()
  for (const [method, path, allowed] of [
    ['PUT', '/explore/feeds', 'GET, HEAD, POST'],
    ['POST', '/explore/feeds.opml', 'GET, HEAD'],
    ['GET', '/explore/feeds/feed_0', 'DELETE'],
    ['POST', '/feeds/psf_x.rss', 'GET, HEAD'],
  ] as const) {
    const { status, headers, json } = await api.ask(secret, path, { method })
    t.equal(status, 405, path)
    t.equal(headers.get('allow'), allowed)
    t.equal(json.code, 'method_not_allowed')
  }
  t.equal((await api.ask(secret, '/explore/nothing')).status, 404)
})

t.test('the address takes no parameters', async t => {
  const { secret } = await api.issue()
  const path = pathOf((await make(secret, { search: 'q=brug' })).json.url)
  const { status, json } = await read(`${path}?country=BE`)
  t.equal(status, 422)
  t.match(json.errors.country, [/takes no parameters/])
})

t.test(`a key has ${MAX_FEEDS} feeds at most, also when they are made at once`, async t => {
  const { secret, key } = await api.issue()
  const answers = await Promise.all(Array.from({ length: MAX_FEEDS + 20 }, () => make(secret, { search: '' })))
  t.equal(answers.filter(({ status }) => status === 201).length, MAX_FEEDS)
  t.match(answers.find(({ status }) => status === 409)?.json, { code: 'too_many_feeds', message: /revoke one/ })
  t.equal((await list(secret)).length, MAX_FEEDS)
  const stored = async () =>
    (await api.pool.query<{ n: number }>('select count(*)::int as n from search_feeds where key_id = $1', [key.id]))
      .rows[0]?.n
  for (let i = 0; i < MAX_FEEDS + 5; i++) {
    const [oldest] = await list(secret)
    await api.ask(secret, `/explore/feeds/${oldest.id}`, { method: 'DELETE' })
    await make(secret, { search: '' })
  }
  t.ok((await stored())! <= 2 * MAX_FEEDS + 1, 'revoked ones are not kept without end')
})
