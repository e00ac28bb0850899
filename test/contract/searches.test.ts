import t from 'tap'
import { TooFrequent } from '#search/index'
import { openApiIndex } from '#services/api/serve'
import { MAX_SEARCHES } from '#shared/desk/feeds'
import { listSearches } from '#shared/desk/searches'
import { updateKey } from '#shared/plans/keys'
import { runScript } from '#test/script'
import { makeTestSegments } from '#test/search/store'
import { ask as askApi, noSemanticSearch, sent, startTestApi } from './api.ts'
import { documented, pathOf, startFeedApi } from './feeds.ts'

const api = await startFeedApi(t)

const ask = (secret: string | null, method: string, path: string, body?: unknown) =>
  api.ask(secret, `/explore/${path}`, sent(method, body))
const keep = async (secret: string, search: string, name?: string) =>
  (await ask(secret, 'POST', 'searches', { search, name })).json.data
const kept = async (secret: string) => (await ask(secret, 'GET', 'searches')).json.data
const titles = async (url: string) =>
  [...(await api.read(pathOf(url))).text.matchAll(/<title>(.*)<\/title>/g)].length - 1

t.test('a search is kept, changed, moved and removed, by its key alone', async t => {
  const { secret } = await api.issue({ countries: ['NL', 'BE'] })
  const anotherKey = await api.issue()
  const first = await ask(secret, 'POST', 'searches', {
    search: 'country=nl&q=brug',
    name: ' Bruggen ',
  })
  t.equal(first.status, 201)
  t.equal(first.headers.get('cache-control'), 'no-store')
  const { id, created_at } = first.json.data
  t.strictSame(first.json, {
    status: 'ok',
    data: {
      id,
      name: 'Bruggen',
      search: 'q=brug&country=NL',
      position: 0,
      created_at,
      feed: null,
      alert: null,
    },
  })
  t.match(id, /^search_[0-9a-f]{16}$/)
  const second = await keep(secret, 'q=sluis')
  const third = await keep(secret, 'search=semantic&q=water')
  t.match(second, { name: 'Nieuws & Co: q=sluis', position: 1 })
  const names = async () =>
    (await kept(secret)).map((one: { id: string }) => [id, second.id, third.id].indexOf(one.id))
  for (const [moved, position, order] of [
    [third.id, 0, [2, 0, 1]],
    [third.id, 1, [0, 2, 1]],
    [id, 2, [2, 1, 0]],
    [third.id, 9, [1, 0, 2]],
    [second.id, 0, [1, 0, 2]],
  ] as const) {
    const { status, json } = await ask(secret, 'PATCH', `searches/${moved}`, { position })
    t.match({ status, position: json.data.position }, { status: 200, position })
    t.same(await names(), order)
  }
  t.match((await ask(secret, 'PATCH', `searches/${id}`, { name: 'é', search: 'q=a' })).json.data, {
    id,
    name: 'é',
    search: 'q=a',
    created_at,
  })
  for (const [method, path] of [
    ['PATCH', `searches/${id}`],
    ['DELETE', `searches/${id}`],
    ['PUT', `searches/${id}/feed`],
    ['DELETE', `searches/${id}/feed`],
  ] as const) {
    const { status, json } = await ask(anotherKey.secret, method, path, { name: 'x' })
    t.match({ status, json }, { status: 404, json: { code: 'not_found' } }, `${method} ${path}`)
  }
  t.equal((await ask(secret, 'DELETE', `searches/${second.id}`)).status, 204)
  t.equal((await ask(secret, 'DELETE', `searches/${second.id}`)).status, 404)
  t.equal((await kept(secret)).length, 2)
  t.same(await kept(anotherKey.secret), [])
  t.equal((await ask(secret, 'PUT', 'searches', {})).headers.get('allow'), 'GET, HEAD, POST')
  t.equal((await ask(secret, 'GET', `searches/${id}`)).headers.get('allow'), 'PATCH, DELETE')
})

t.test(
  'a feed hangs on a kept search: it follows every change under one address, and ends with it',
  async t => {
    const { secret } = await api.issue()
    const made = (await api.make(secret, { search: 'q=brug', title: 'Bruggen' })).json
    const [one] = await kept(secret)
    t.match(one, { name: 'Bruggen', search: 'q=brug', feed: { id: made.id, title: 'Bruggen' } })
    t.equal(await titles(made.url), 2)
    await ask(secret, 'PATCH', `searches/${one.id}`, { search: 'q=pont', name: 'Ponts' })
    t.equal(await titles(made.url), 1)
    t.match(await api.list(secret), [{ id: made.id, title: 'Ponts', search: 'q=pont' }])
    const again = await ask(secret, 'PUT', `searches/${one.id}/feed`)
    t.match(again, { status: 200, json: { data: { id: made.id, url: made.url, urls: made.urls } } })
    t.equal((await ask(secret, 'DELETE', `searches/${one.id}/feed`)).status, 204)
    t.match(await kept(secret), [{ id: one.id, feed: null }])
    t.equal((await api.read(pathOf(made.url))).status, 410)
    const other = await ask(secret, 'PUT', `searches/${one.id}/feed`)
    t.equal(other.status, 201)
    t.not(other.json.data.url, made.url)
    await ask(secret, 'DELETE', `searches/${one.id}`)
    t.equal((await api.read(pathOf(other.json.data.url))).status, 410)
  },
)

t.test('feeds of before, and of processes of an older version, become kept searches', async t => {
  const { secret, key } = await api.issue()
  const feeds = [
    await api.make(secret, { search: 'q=a' }),
    await api.make(secret, { search: 'q=b', title: 'B' }),
  ]
  await api.pool.query('delete from kept_searches where key_id = $1', [key.id])
  await keep(secret, 'q=c')
  const list = await Promise.all(Array.from({ length: 5 }, () => kept(secret)))
  for (const one of list) t.same(one, list[0])
  t.match(list[0], [{ search: 'q=a' }, { name: 'B', search: 'q=b' }, { search: 'q=c', feed: null }])
  t.same(
    list[0].slice(0, 2).map((one: { feed: { id: string } }) => one.feed.id),
    feeds.map(({ json }) => json.id),
  )
})

t.test(`a key keeps ${MAX_SEARCHES} searches, also when they come at once`, async t => {
  const { secret, key } = await api.issue()
  const answers = await Promise.all(
    Array.from({ length: MAX_SEARCHES + 10 }, () =>
      ask(secret, 'POST', 'searches', { search: '' }),
    ),
  )
  t.equal(answers.filter(({ status }) => status === 201).length, MAX_SEARCHES)
  t.match(answers.find(({ status }) => status === 409)?.json, {
    code: 'too_many_searches',
    message: /remove one/,
  })
  t.equal((await api.make(secret, { search: '' })).json.code, 'too_many_searches')
  const all = await listSearches(api.pool, key.id)
  t.same(
    all.map(({ position }) => position),
    all.map((_, at) => at),
  )
})

t.test('bodies are held to the rules of feeds', async t => {
  const { secret } = await api.issue({ countries: ['NL'] })
  const { id } = await keep(secret, '')
  for (const [method, path, body, status, said] of [
    ['POST', 'searches', {}, 422, /"search":\["Write the search/],
    ['POST', 'searches', { search: 'x=1' }, 422, /"x":\[/],
    ['POST', 'searches', { search: 'q=a&country=BE' }, 403, /country_not_included/],
    ['POST', 'searches', { search: '', position: 1 }, 422, /"position":\["There is no such member/],
    ['POST', 'searches', { search: '', name: 'a\nb' }, 422, /"name":\["Write it without/],
    ['POST', 'searches', '{"search":"","search":""}', 422, /only once/],
    ['POST', 'searches', 'x'.repeat(41_000), 413, /body_too_large/],
    ['PATCH', `searches/${id}`, {}, 422, /"body":\["Give a name/],
    ['PATCH', `searches/${id}`, { name: ' ' }, 422, /"name":\["Write a name/],
    ['PATCH', `searches/${id}`, { position: 1.5 }, 422, /"position":\["Write a whole number/],
    ['PATCH', `searches/${id}`, { search: 'country=LU' }, 403, /country_not_included/],
    ['PATCH', `searches/${id}`, '{"position":1,"position":2}', 422, /only once/],
    ['PATCH', 'searches/search_0', { name: 'x' }, 404, /keeps no such search/],
    ['GET', 'searches?x=1', undefined, 422, /"x":\[/],
  ] as const) {
    const refused = await ask(secret, method, path, body)
    t.equal(refused.status, status, refused.text)
    t.match(refused.text, said)
  }
  const plain = await api.ask(secret, '/explore/searches', {
    method: 'POST',
    body: '{"search":""}',
  })
  t.equal(plain.status, 415)
  t.equal((await ask(null, 'GET', 'searches')).status, 401)
  t.equal((await kept(secret)).length, 1)
})

const SEARCHES: [search: string, finds: (title: string) => boolean][] = [
  ['', () => true],
  ['q=brug', title => title.includes('brug')],
  ['q=brug+-dicht&search=boolean', title => title.includes('brug') && !title.includes('dicht')],
  ['q=pont&country=BE&language=fr', title => title.includes('pont')],
  ['q=%22de+brug%22&search=boolean', title => title.includes('de brug')],
]

t.test('after a search that is refused, no search of the request begins', async t => {
  const begun = { price: 0, collect: 0 }
  const refuse = async () => Promise.reject(new TooFrequent())
  const own = await startTestApi(t, {}, noSemanticSearch, undefined, (...opened) => {
    const index = openApiIndex(...opened)
    const get = (_: typeof index, name: string | symbol) => {
      if (name === 'price' || name === 'collect') begun[name]++
      return name === 'price' && begun.price === 2 ? refuse : Reflect.get(index, name)
    }
    return new Proxy(index, { get })
  })
  const { secret } = await own.issue()
  const post = (path: string, body: object) =>
    own.ask(secret, `/explore/searches${path}`, sent('POST', body))
  const all = await Promise.all(
    Array.from({ length: 20 }, (_, n) => post('', { search: `q=brug${n}` })),
  )
  const since = (mark: unknown) =>
    post('/new', { marks: Object.fromEntries(all.map(({ json }) => [json.data.id, mark])) })
  const { json } = await since(null)
  await own.index([{ title: 'Brug' }])
  t.match((await since(json.data[0].mark)).json.errors, { marks: [/too frequent/] })
  t.same(begun, { price: 2, collect: 0 }, 'all is priced before the first search')
})

t.test('what is new is exact, for every mark, in memory and in segments', async t => {
  const other = await startFeedApi(t)
  const { secret } = await other.issue({ quota: 1 })
  const of = (path: string, body: unknown, by = secret) =>
    other.ask(by, `/explore/${path}`, sent('POST', body))
  const ids: string[] = []
  for (const [search] of SEARCHES) ids.push((await of('searches', { search })).json.data.id)
  const since = async (mark: string | null) =>
    (await of('searches/new', { marks: Object.fromEntries(ids.map(id => [id, mark])) })).json.data
  const [first] = await since(null)
  t.match(first, { id: ids[0], new: 0, more: false, mark: /^[\w-]{42,53}$/ })
  const marks: string[] = [first.mark]
  const after: string[][] = [[]]
  for (let round = 0; round < 6; round++) {
    const titles = Array.from(
      { length: 7 },
      (_, at) => ['de brug is dicht', 'brug de', 'le pont', 'iets'][(round * 3 + at * at) % 4]!,
    )
    await other.index(
      titles.map(title =>
        title === 'le pont' ? { title, country: 'BE', language: 'fr' } : { title },
      ),
    )
    for (const one of after) one.push(...titles)
    if (round === 3) await makeTestSegments(other.pool, { flushed: 8n, merged: 16n })
    for (const [at, mark] of marks.entries()) {
      const found = await since(mark)
      t.same(
        found.map((one: { new: number }) => one.new),
        SEARCHES.map(([, finds]) => after[at]!.filter(finds).length),
        `after ${round}, since ${at}`,
      )
    }
    marks.push((await since(null))[0].mark)
    after.push([])
  }
  // What is imported with times of its own is not new.
  await other.index([
    { title: 'de brug van vroeger', ingestedAt: new Date('2026-01-01T00:00:00Z') },
  ])
  const nothing = ids.map(() => ({ new: 0 }))
  t.match(await since(marks.at(-1)!), nothing)
  await other.index(Array.from({ length: 1_002 }, () => ({ title: 'brug' })))
  t.match(await since(marks.at(-1)!), [{ new: 999, more: true }])
  t.equal(
    (await other.ask(secret, '/explore/limits')).json.data.month.used,
    0,
    'it costs nothing of the month',
  )

  // A failover to a standby that lacked articles gives their numbers to others.
  const before = (await since(null))[0].mark
  const newest = 'seq = (select max(seq) from articles)'
  await other.pool.query(`update articles set id = 'art_other' where ${newest}`)
  const lost = await of('searches/new', { marks: { [ids[0]!]: before } })
  t.match(lost.json.errors, { marks: [/has ended; send null/] }, 'another article has its number')
  await other.pool.query('update ingest_clock set last_seq = last_seq - 1')
  const ahead = await of('searches/new', { marks: { [ids[0]!]: before } })
  t.match(ahead.json.errors, { marks: [/has ended; send null/] }, 'it is ahead of the clock')
  await other.pool.query('update ingest_clock set last_seq = last_seq + 1')

  const meaning = (await of('searches', { search: 'search=semantic&q=water' })).json.data.id
  const anotherKey = await other.issue()
  const foreign = (await of('searches', { search: '' }, anotherKey.secret)).json.data.id
  const refused = async (id: string, mark: unknown, by = secret) => {
    const { status, json } = await of('searches/new', { marks: { [id]: mark } }, by)
    return `${status} ${json.errors?.marks?.[0]}`
  }
  t.match(await refused(meaning, null), /^422 search_\w+: A search by meaning/)
  t.match(await refused('search_0', null), /^422 This key keeps no search/)
  t.match(await refused(ids[0]!, 1), /^422 The mark of/)
  t.match(
    await refused(foreign, marks[0]!, anotherKey.secret),
    /^422 The mark of/,
    'of another key',
  )
  for (const [at, letter] of [...marks[0]!].entries()) {
    const forged = `${marks[0]!.slice(0, at)}${letter === 'A' ? 'B' : 'A'}${marks[0]!.slice(at + 1)}`
    t.match(await refused(ids[0]!, forged), /^422 The mark of/)
  }
  t.match((await of('searches/new', {})).json.errors, { marks: [/Write an object/] })
  t.match((await of('searches/new', { marks: [] })).json.errors, { marks: [/Write an object/] })
  await updateKey(
    other.pool,
    (await other.pool.query('select id from api_keys where quota = 1')).rows[0].id,
    {
      plan: { countries: ['NL'] },
    },
  )
  t.match((await of('searches/new', { marks: { [ids[3]!]: null } })).json, {
    code: 'country_not_included',
    message: ids[3],
  })
  await other.pool.query("delete from secrets where name = 'cursor'")
  const restarted = await other.another()
  const again = sent('POST', { marks: { [ids[0]!]: marks[0]! } })
  const ended = await askApi(`${restarted.base}/explore/searches/new`, secret, again)
  t.match(
    ended,
    { status: 422, json: { errors: { marks: [/has ended/] } } },
    'npm run recovered ends all marks',
  )
})

t.test('limits cost one of the minute, and are told when the month is used up', async t => {
  const { secret, key } = await api.issue({ countries: ['BE'], rate: 3, quota: 1 })
  await api.ask(secret, '/v1/articles')
  const { status, json, headers } = await ask(secret, 'GET', 'limits')
  t.equal(status, 200)
  t.match(json.data, {
    plan: {
      countries: ['BE'],
      history_start: '2020-01-01T00:00:00.000Z',
      history_days: null,
      rate: 3,
      quota: 1,
    },
    minute: { limit: 3, remaining: 1 },
    month: { limit: 1, used: 1, remaining: 0, reset: Number(headers.get('x-quota-reset')) },
  })
  t.equal(json.data.month.period, headers.get('x-quota-period'))
  const left = json.data.minute.reset - Date.now() / 1_000
  t.ok(left > 0 && left <= 61, `${left} s`)
  await updateKey(api.pool, key.id, {
    plan: { quota: null, history: { kind: 'rolling', days: 1 } },
  })
  t.match((await ask(secret, 'GET', 'limits')).json.data, {
    plan: { history_days: 1, quota: null },
    month: null,
  })
  t.equal((await ask(secret, 'GET', 'limits')).status, 429)
})

t.test('answers fit the OpenAPI document', async t => {
  const { fits } = await documented(api)
  const { secret } = await api.issue()
  const { id } = await keep(secret, 'q=brug')
  for (const [schema, answer] of [
    ['FeedOfSearch', await ask(secret, 'PUT', `searches/${id}/feed`)],
    ['OneSearch', await ask(secret, 'PATCH', `searches/${id}`, { position: 3 })],
    ['Searches', await ask(secret, 'GET', 'searches')],
    ['WhatIsNew', await ask(secret, 'POST', 'searches/new', { marks: { [id]: null } })],
    ['Limits', await ask(secret, 'GET', 'limits')],
  ] as const)
    fits(t, schema, answer.json)
})

t.test('npm run keys -- searches shows what a key keeps', async t => {
  const { secret, key } = await api.issue()
  const { id } = await keep(secret, 'q=brug', 'Bruggen')
  const show = (...args: string[]) =>
    runScript('keys', ['searches', ...args], { DATABASE_URL: api.config.DATABASE_URL })
  t.equal((await show(key.id)).out, `${id}  Bruggen\n  q=brug\n`)
  t.match(JSON.parse((await show(key.id, '--json')).out), [
    { id, name: 'Bruggen', search: 'q=brug', feed: null },
  ])
})
