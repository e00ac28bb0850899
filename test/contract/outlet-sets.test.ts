import { readFile } from 'node:fs/promises'
import t from 'tap'
import { LANGUAGES } from '#shared/articles/article'
import { keepAlert } from '#test/alerts'
import { holdLock, lockWaits } from '#test/database'
import { until } from '#test/fleet'
import { sent } from './api.ts'
import { documented, startFeedApi } from './feeds.ts'

const WORDS = new URL('../../web/words/', import.meta.url)
const api = await startFeedApi(t)
const outlets = [
  ['De Brug', 'brug.example'],
  ['De Sluis', 'sluis.example'],
  ['De Dijk', 'dijk.example'],
]
await api.index(
  outlets.map(([name, domain]) => ({
    title: `Waterpeil bij ${name}`,
    outlet: { name: name!, domain: domain! },
  })),
)
const ask = (secret: string, method: string, path: string, body?: unknown) =>
  api.ask(secret, `/explore/${path}`, sent(method, body))
const put = (secret: string, name: string, ...domains: string[]) =>
  ask(secret, 'PUT', `outlet-sets/${encodeURIComponent(name)}`, { domains })
const found = async (secret: string, named: string) => {
  const { json } = await ask(secret, 'GET', `articles?q=waterpeil&outlets=${named}`)
  return json.errors ?? json.articles.map((one: { title: string }) => one.title.slice(17)).sort()
}

t.test('a set stands for its outlets wherever searches are made, with its key alone', async t => {
  const { secret } = await api.issue()
  const anotherKey = await api.issue()
  const domains = ['Sluis.example', 'brug.example', 'brug.exampel']
  t.equal((await put(secret, 'my region', ...domains)).status, 201)
  // Names of outlets are those of some seconds before.
  const unknown = async () => (await ask(secret, 'GET', 'outlet-sets')).json.data[0].unknown
  await until(async () => (await unknown()).length === 1, 40_000)
  const made = await put(secret, 'My region', ...domains)
  t.equal(made.status, 200)
  t.strictSame(made.json.data, {
    name: 'My region',
    domains: ['brug.exampel', 'brug.example', 'sluis.example'],
    outlets: [
      { name: null, domain: 'brug.exampel' },
      { name: 'De Brug', domain: 'brug.example' },
      { name: 'De Sluis', domain: 'sluis.example' },
    ],
    unknown: ['brug.exampel'],
  })
  t.same(await found(secret, 'my+region'), ['Brug', 'Sluis'])
  t.same(await found(secret, 'MY%20REGION,dijk.example'), ['Brug', 'Dijk', 'Sluis'])
  const coded = 'q=waterpeil&%6Futlets=my+region'
  t.equal((await ask(secret, 'GET', `articles?${coded}`)).json.total_results, 2)
  t.equal((await ask(anotherKey.secret, 'POST', 'searches', { search: coded })).status, 422)
  t.match(await found(anotherKey.secret, 'my+region'), { outlets: [/no set of outlets named "my/] })
  const counted = await ask(secret, 'GET', 'counts?by=outlet&q=waterpeil&outlets=my+region')
  t.equal(counted.json.total, 2)
  const told = async (secret: string, set: string) => {
    const params = { name: 'search_news', arguments: { q: 'waterpeil', outlets: [set] } }
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    return (await api.ask(secret, '/mcp', sent('POST', message))).json.result
  }
  t.equal((await told(secret, 'my region')).structuredContent.total_results, 2)
  t.match((await told(secret, 'mine')).content[0].text, /or a set of outlets .*: "My region"\.$/)
  t.match((await told(anotherKey.secret, 'mine')).content[0].text, 'no sets of outlets; write')
  t.equal((await ask(secret, 'GET', 'outlet-sets')).json.data.length, 1)
  t.same((await ask(anotherKey.secret, 'GET', 'outlet-sets')).json.data, [])
})

t.test('a changed set is a changed search: feeds and kept searches follow it', async t => {
  const { secret } = await api.issue()
  await put(secret, 'papers', 'brug.example', 'sluis.example')
  const search = 'q=waterpeil&outlets=papers'
  const kept = (await ask(secret, 'POST', 'searches', { search })).json.data
  t.equal(kept.search, search, 'it keeps the name')
  const feed = (await ask(secret, 'PUT', `searches/${kept.id}/feed`)).json.data
  const items = async () =>
    (await api.ask(null, new URL(feed.url).pathname)).text.split('<item>').length - 1
  t.equal(await items(), 2)
  const cited = await ask(secret, 'POST', 'citations', { search })
  t.match(cited.json.search, 'outlets=brug.example%2Csluis.example', 'as they are now')
  const page = await ask(secret, 'GET', `articles?${search}&per_page=1`)
  const next = `articles?${search}&per_page=1&cursor=${page.json.next_cursor}`
  t.equal((await ask(secret, 'GET', next)).json.articles.length, 1)
  const mark = async (of: string | null) =>
    (await ask(secret, 'POST', 'searches/new', { marks: { [kept.id]: of } })).json.data[0]
  const before = await mark(null)

  t.equal((await put(secret, 'Papers', 'dijk.example')).status, 200)
  t.equal(await items(), 1)
  t.same(Object.keys((await ask(secret, 'GET', next)).json.errors), ['cursor'])
  await api.index([
    { title: 'Waterpeil bij De Dijk', outlet: { name: 'De Dijk', domain: 'dijk.example' } },
  ])
  t.equal((await mark(before.mark)).new, 1)
  t.equal((await ask(secret, 'DELETE', 'outlet-sets/papers')).status, 422, 'a search names it')
  await ask(secret, 'DELETE', `searches/${kept.id}`)
  t.equal((await ask(secret, 'DELETE', 'outlet-sets/papers')).status, 204)
  t.equal((await ask(secret, 'DELETE', 'outlet-sets/papers')).status, 404)
  t.match((await ask(secret, 'POST', 'searches', { search })).json.errors.search, [
    /no set of outlets named "papers"/,
  ])
})

t.test('a set that goes while a search is written is not named by it', async t => {
  const { key, secret } = await api.issue()
  const { id } = (await ask(secret, 'POST', 'searches', { search: 'q=dijk' })).json.data
  const search = 'outlets=fleeting'
  for (const [method, path] of [
    ['POST', 'searches'],
    ['PATCH', `searches/${id}`],
    ['POST', 'feeds'],
  ] as const) {
    await put(secret, 'fleeting', 'brug.example')
    const release = await holdLock(
      api.pool,
      `with own as (select id from api_keys where id = $1 for no key update)
       delete from outlet_sets where key_id in (select id from own)`,
      [key.id],
    )
    const asked = ask(secret, method, path, { search })
    await until(async () => (await lockWaits(api.pool)) > 0, 20_000)
    await release()
    t.equal((await asked).status, 422, `${method} ${path}`)
  }
  t.equal((await ask(secret, 'GET', 'searches')).json.data.length, 1)
})

t.test('a set gets another name, also in what names it, which stays as it was', async t => {
  const { key, secret } = await api.issue()
  const { fits } = await documented(api)
  await put(secret, 'papers', 'brug.example')
  await put(secret, 'Regional', 'dijk.example')
  const search = 'q=waterpeil&outlets=papers%2Cregional%2Csluis.example'
  const { searchId } = await keepAlert(api.pool, key.id, search, { to: 'https://a.example/' })
  await ask(secret, 'POST', 'searches', { search: 'outlets=regional' })
  const words = LANGUAGES.map(language => new URL(`${language}.json`, WORDS))
  const spoken = await Promise.all(
    words.map(async file => JSON.parse(await readFile(file, 'utf8'))),
  )
  const named = (set: string) =>
    spoken.map(({ app, sets }) => app.named.replace('{name}', sets.one).replace('{value}', set))
  const proposed = (set: string) => ['w: papers', 'Outlet: papers', ...named(set)].join(' · ')
  await ask(secret, 'PATCH', `searches/${searchId}`, { name: proposed('Papers') })
  const feed = (await ask(secret, 'PUT', `searches/${searchId}/feed`)).json.data
  const rename = (name: string, to: string) =>
    ask(secret, 'PUT', `outlet-sets/${name}`, { name: to })
  const changed = () =>
    api.pool.query('select from kept_searches where sets_changed_at is not null')
  const before = (await changed()).rowCount
  const items = async () =>
    (await api.ask(null, new URL(feed.url).pathname)).text.split('<item>').length
  const shown = await items()
  t.ok(shown > 1)

  const renamed = await rename('Papers', ' Onze kranten ')
  t.equal(renamed.status, 200)
  fits(t, 'OutletSet', renamed.json)
  t.match(renamed.json.data, { name: 'Onze kranten', domains: ['brug.example'] })
  const kept = (await ask(secret, 'GET', 'searches')).json.data
  const now = 'q=waterpeil&outlets=onze+kranten%2Cregional%2Csluis.example'
  t.match(kept, [
    {
      id: searchId,
      name: proposed('Onze kranten'),
      search: now,
      feed: { search: now, title: proposed('Onze kranten') },
      alert: { state: 'on' },
    },
    { search: /^outlets=regional$/ },
  ])
  t.equal((await changed()).rowCount, before, 'they ask what they asked')
  t.equal(await items(), shown)
  t.match(await found(secret, 'papers'), { outlets: [/no set of outlets named "papers"/] })

  t.match((await rename('regional', 'ONZE kranten')).json.errors, { name: [/has another set/] })
  t.equal((await rename('regional', 'REGIONAL')).status, 200, 'other letters of the same name')
  t.match((await rename('regional', 'a.b')).json.errors, { name: [/Write a name/] })
  t.equal((await rename('papers', 'b')).status, 404)
  const both = { name: 'b', domains: ['a.nl'] }
  t.equal((await ask(secret, 'PUT', 'outlet-sets/regional', both)).status, 422)
  const names = (await ask(secret, 'GET', 'outlet-sets')).json.data
  t.same(
    names.map((one: { name: string }) => one.name),
    ['Onze kranten', 'REGIONAL'],
  )
})

t.test('decision 11: a name with an accent is one name, however it is composed', async t => {
  const { secret } = await api.issue()
  await put(secret, 'Café', 'brug.example')
  for (const named of ['caf%C3%A9', 'cafe%CC%81', 'dijk.example,%20CAFE%CC%81'])
    t.has(await found(secret, named), ['Brug'], named)
  const search = 'q=waterpeil&outlets=cafe%CC%81'
  t.equal((await ask(secret, 'POST', 'searches', { search })).status, 201)
  t.match((await ask(secret, 'DELETE', 'outlet-sets/Caf%C3%A9')).json.errors, {
    name: [/names this set/],
  })
})

t.test('names and domains are checked', async t => {
  const { secret } = await api.issue()
  t.equal((await put(secret, "'s-Hertogenbosch", 'brug.example')).status, 201)
  for (const name of ['a.b', 'a,b', ' ', "''s", 'x'.repeat(61), '%', '<b>']) {
    t.match((await put(secret, name, 'brug.example')).json.errors, { name: [/Write a name/] }, name)
  }
  for (const domains of [
    [],
    ['brug'],
    Array.from({ length: 51 }, (_, n) => `a${n}.nl`),
    'a.nl',
    [1],
  ])
    t.equal((await ask(secret, 'PUT', 'outlet-sets/a', { domains })).status, 422)
  t.equal((await put(secret, 'a', 'https://nrc.nl/')).status, 422)
})
