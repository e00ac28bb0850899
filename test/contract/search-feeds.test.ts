import { parseFeed } from '@rowanmanning/feed-parser'
import { parseJsonFeed, parseRssFeed } from 'feedsmith'
import RssParser from 'rss-parser'
import t from 'tap'
import { revokeKey, updateKey } from '#shared/plans/keys'
import { holdLock, lockWaits } from '#test/database'
import { until } from '#test/fleet'
import { pathOf, startFeedApi } from './feeds.ts'

const api = await startFeedApi(t)
const { make, list, read } = api

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
  const address = made.json.url.slice(0, -'rss'.length)
  t.strictSame(made.json.urls, {
    rss: made.json.url,
    atom: `${address}atom`,
    json: `${address}json`,
  })
  t.equal(made.headers.get('cache-control'), 'no-store')
  const feed = await read(pathOf(made.json.url))
  t.equal(feed.status, 200)
  t.equal(feed.headers.get('content-type'), 'application/rss+xml; charset=UTF-8')
  t.equal(feed.headers.get('x-ratelimit-limit'), '100000', "the key's counters")
  const titles = parseRssFeed(feed.text).items?.map(item => item.title)
  t.same(titles, ['De brug is dicht', 'Brug "A" & <B> geopend'])
  const [listed] = await list(secret)
  t.match(listed, { id: made.json.id, requests: 1, last_used_at: /^20/ })
  t.notOk('url' in listed, 'the address is shown once')
})

t.test('a feed whose key is deleted while it is asked has ended', async t => {
  const { secret, key } = await api.issue()
  const { url } = (await make(secret, { search: 'q=brug' })).json
  const goes = ['search_feeds', 'kept_searches', 'rate_windows'].map(
    table => `delete from ${table} where key_id = '${key.id}';`,
  )
  const release = await holdLock(
    api.pool,
    `lock table rate_windows in access exclusive mode;${goes.join('')}delete from api_keys where id = '${key.id}'`,
  )
  const asked = read(pathOf(url))
  await until(async () => (await lockWaits(api.pool)) > 0, 5_000)
  await release()
  t.match(await asked, { status: 410, json: { code: 'feed_ended' } })
})

t.test('a feed answers what /v1/articles.rss answers, but for links and sources', async t => {
  const { secret } = await api.issue()
  const withoutLinks = (xml: string) =>
    xml.replace(/^ {4}<(link>|atom:link ).*\n|^ {6}<source .*\n/gm, '')
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
      `https://news.example/${json.search && `?${json.search}`}${json.search.includes('q=') ? '&search_in=title' : ''}`,
    )
    const token = pathOf(json.url).slice('/feeds/'.length, -'.rss'.length)
    for (const hidden of [secret, token]) t.notMatch(feed.text, hidden, 'no secret in the feed')
    for (const name of ['content-type', 'cache-control', 'vary'])
      t.equal(feed.headers.get(name), operation.headers.get(name), name)
  }
})

t.test('parsers read the same feed in each format', async t => {
  const { secret } = await api.issue()
  const { json } = await api.ask(secret, '/v1/articles?q=brug')
  const links = json.articles.map(({ url }: { url: string }) => url)
  const { urls } = (await make(secret, { search: 'q=brug' })).json
  const of = async (format: string) => (await read(pathOf(urls[format]))).text
  for (const text of [await of('rss'), await of('atom')]) {
    const { title, items } = parseFeed(text)
    t.same([title, items.map(item => item.url)], ['Nieuws & Co: q=brug', links])
    const rssParser = await new RssParser().parseString(text)
    const linksOfRss = rssParser.items.map(item => item.link)
    t.same(linksOfRss, links)
  }
  const linksOfJson = parseJsonFeed(JSON.parse(await of('json'))).items?.map(item => item.url)
  t.same(linksOfJson, links)
})

for (const format of ['rss', 'atom', 'json'] as const) {
  t.test(`decision 8: conditional requests and HEAD of .${format}`, async t => {
    const { secret } = await api.issue({ quota: 10 })
    const path = pathOf((await make(secret, { search: 'q=brug' })).json.urls[format])
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
    t.equal(
      head.headers.get('x-quota-remaining'),
      '7',
      'each of 200 and 304 costs one of the month, as in /v1',
    )
    t.equal(head.headers.get('referrer-policy'), 'no-referrer')
    t.equal(head.headers.get('x-robots-tag'), 'noindex, nofollow')
    t.equal(head.headers.get('cache-control'), 'private, no-cache')
  })
}

t.test("the key's plan, minute and month hold for its feeds", async t => {
  const issued = await api.issue({ rate: 5, quota: 2 })
  const path = pathOf((await make(issued.secret, { search: 'country=BE' })).json.url)
  t.equal((await read(path)).headers.get('x-quota-remaining'), '1')
  t.equal(
    (await api.ask(issued.secret, '/v1/articles')).headers.get('x-quota-remaining'),
    '0',
    'one month for both',
  )
  t.equal((await read(path)).json.code, 'quota_exceeded')
  t.equal((await read(path)).json.code, 'quota_exceeded')
  t.equal((await read(path)).json.code, 'rate_limit_exceeded', 'one minute for both')
  t.equal((await api.ask(issued.secret, '/v1/articles')).json.code, 'rate_limit_exceeded')
  t.match(
    await api.pool.query('select requests::int from search_feeds where key_id = $1', [
      issued.key.id,
    ]),
    {
      rows: [{ requests: 3 }],
    },
  )
  await updateKey(api.pool, issued.key.id, { plan: { countries: ['NL'], rate: 100, quota: null } })
  const refused = await read(path)
  t.equal(refused.status, 403)
  t.match(refused.json, { code: 'country_not_included', message: 'Your plan covers NL, not BE.' })
})

t.test('a feed ends with its key, and when it is revoked', async t => {
  const issued = await api.issue()
  const one = await make(issued.secret, { search: '' })
  const two = await make(issued.secret, { search: '' })
  const revoke = (id: string, secret = issued.secret) =>
    api.ask(secret, `/explore/feeds/${id}`, { method: 'DELETE' })
  const anotherKey = await api.issue()
  t.equal((await revoke(one.json.id, anotherKey.secret)).status, 404, 'not by another key')
  t.equal((await read(pathOf(one.json.url))).status, 200)
  const revoked = await revoke(one.json.id)
  t.equal(revoked.status, 204)
  t.equal(revoked.text, '')
  t.equal((await revoke(one.json.id)).status, 204, 'again is no error')
  t.equal((await revoke('feed_0')).status, 404)
  const ids = (await list(issued.secret)).map(({ id }: { id: string }) => id)
  t.same(ids, [two.json.id])
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
  for (const path of [
    guess,
    '/feeds/x.rss',
    '/feeds/%ff.rss',
    '/feeds/psf%5F.atom',
    '/feeds/.rss.json',
  ]) {
    const { status, json, headers } = await read(path, from)
    t.equal(status, 404, path)
    t.equal(json.code, 'not_found')
    t.notOk(headers.has('x-ratelimit-limit'))
  }
  // One of those above looks like a token.
  for (let i = 0; i < 9; i++) t.equal((await read(guess, from)).status, 404)
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

t.test('a tag of one feed gives nothing of another away', async t => {
  const wide = await api.issue()
  const narrow = await api.issue({ countries: ['BE'] })
  const one = await make(wide.secret, { search: '' })
  const other = await make(narrow.secret, { search: '' })
  const etag = (await read(pathOf(one.json.url))).headers.get('etag') ?? ''
  const asked = await read(pathOf(other.json.url), { 'If-None-Match': etag })
  t.equal(asked.status, 200)
  t.equal(parseRssFeed(asked.text).items?.length, 1)
  await updateKey(api.pool, wide.key.id, { plan: { countries: ['BE'] } })
  t.equal(
    (await read(pathOf(one.json.url), { 'If-None-Match': etag })).status,
    200,
    'nor what the plan has lost',
  )
  await revokeKey(api.pool, wide.key.id)
  t.equal(
    (await read(pathOf(one.json.url), { 'If-None-Match': '*' })).status,
    410,
    'an error is never 304',
  )
})

t.test(
  'a token that is nearly right is wrong, and so is a key for a token or a token for a key',
  async t => {
    const { secret } = await api.issue()
    const path = pathOf((await make(secret, { search: '' })).json.url)
    const token = path.slice('/feeds/'.length, -'.rss'.length)
    const swapped = [...token]
      .map(letter => (/[a-z]/.test(letter) ? letter.toUpperCase() : letter.toLowerCase()))
      .join('')
    const from = { 'X-Forwarded-For': '198.51.100.20' }
    for (const near of [
      token.slice(0, -1),
      `${token}A`,
      `${token}%00`,
      swapped,
      token.slice(4),
      `${token}.rss`,
      secret,
    ])
      t.equal((await read(`/feeds/${near}.rss`, from)).status, 404, near.replaceAll(token, 'TOKEN'))
    t.equal((await read(`/feeds/${token}.xml`, from)).status, 401, 'no format of ours')
    for (const path of ['/v1/articles', '/explore/feeds.opml'])
      t.equal((await api.ask(token, path, { headers: from })).json.code, 'invalid_token')
  },
)

t.test(
  'a feed holds 100 articles unless its search says otherwise, and none is signed by the service',
  async t => {
    const other = await startFeedApi(t)
    await other.index(
      Array.from({ length: 120 }, (_, i) => ({
        title: `Sluis ${i}`,
        authors: i === 119 ? ['Eva'] : [],
      })),
    )
    const { secret } = await other.issue()
    const of = async (search: string, format: string) =>
      (await other.read(pathOf((await other.make(secret, { search })).json.urls[format]))).text
    const count = (xml: string, mark: string) => xml.split(mark).length - 1
    t.equal(count((await other.ask(secret, '/v1/articles.rss?q=sluis')).text, '<item>'), 25)
    t.equal(count(await of('q=sluis&per_page=7', 'rss'), '<item>'), 7)
    const rss = await of('q=sluis', 'rss')
    t.equal(count(rss, '<item>'), 100)
    t.equal(parseRssFeed(rss).link, 'https://news.example/?q=sluis&search_in=title')
    t.equal(count(rss, '<source url="https://dagkoerier.example/">De Dagkoerier</source>'), 100)
    t.notMatch((await other.ask(secret, '/v1/articles.rss?q=sluis')).text, '<source')
    const atom = await of('q=sluis', 'atom')
    t.match([count(atom, '<name>De Dagkoerier</name>'), count(atom, '<name>Eva</name>')], [99, 1])
    const json = parseJsonFeed(await of('q=sluis', 'json'))
    t.equal(json.items?.length, 100)
    t.match(
      [json.authors, json.items?.filter(item => item.authors).length],
      [undefined, 1],
      'no author of the feed',
    )
  },
)
