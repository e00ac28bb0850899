import t from 'tap'
import { signed } from '#services/api/contract/cursor'
import { openCopyGroups } from '#shared/copies/pass'
import { loadSharedSecret } from '#shared/postgres/pool'
import { TEST_ARCHIVE } from '#test/search/store'
import { sent } from './api.ts'
import { startFeedApi } from './feeds.ts'

const api = await startFeedApi(t)
const DAY = '2026-05-04'
const list = (word: string) => Array.from({ length: 80 }, (_, at) => `${word}${at}`).join(' ')
const many = (count: number, body: string, name: string) =>
  Array.from({ length: count }, (_, at) => ({
    title: `${name} ${at}`,
    body,
    publishedAt: new Date(`${DAY}T12:00:00Z`),
    outlet: { name: `${name} ${at}`, domain: `${name}${at}.example` },
  }))
await api.index([
  ...many(400, 'de brug over het kanaal is dicht', 'brug'),
  ...many(4, `${list('woord')} ${'lang '.repeat(60_000)}`, 'klein'),
  ...many(3, `${list('term')} ${'lang '.repeat(160_000)}`, 'groot'),
])
await openCopyGroups(api.pool).pass(new AbortController().signal)

/** What a request leaves of a whole minute of 100. */
async function costOf(path: string, options: RequestInit = {}, rate = 100) {
  const { secret } = await api.issue({ rate })
  const answer = await api.ask(secret, path, options)
  return { ...answer, cost: rate - Number(answer.headers.get('x-ratelimit-remaining')) }
}

const near = (words: string) =>
  `search=expression&q=${encodeURIComponent(`brug NEAR/9 (${words})`)}`

t.test('a request costs the minute what it costs the API', async t => {
  const whole = near('dicht OR kanaal OR a OR b OR c')
  for (const [path, cost] of [
    ['/explore/articles?q=brug', 1],
    [`/explore/articles?${near('dicht')}`, 1],
    // 400 articles and six words, for the page, for counts, and for each of its parts.
    [`/explore/articles?${near('dicht OR kanaal OR a OR b OR c')}`, 1 + 2],
    [`/explore/counts?by=day&${near('dicht OR kanaal OR a OR b OR c')}`, 1 + 2],
    [`/explore/counts?by=day&q=brug&published_after=${DAY}`, 1],
    [`/explore/counts?by=day&then=country&q=brug&published_after=${DAY}`, 1 + 3],
    // The parts have the same articles again.
    [`/explore/counts?by=day&then=country&${whole}&published_after=${DAY}`, 1 + 3 + 4],
    [`/explore/counts?by=day&then=outlet&${whole}&published_after=${DAY}`, 1 + 1 + 4],
    [`/explore/counts?by=day&then=outlet&q=brug&published_after=${DAY}`, 1 + 1],
    // An archive counts no texts.
    ...(TEST_ARCHIVE === null
      ? ([['/explore/counts?by=country&q=brug&texts=true', 1 + 1]] as const)
      : []),
    ['/explore/copies?q=brug', 1],
    // Four texts of 300,000 bytes and some.
    ['/explore/copies?q=klein', 1 + 12],
  ] as const) {
    const { status, cost: paid, text } = await costOf(path)
    t.equal(status, 200, `${path}: ${text.slice(0, 200)}`)
    t.equal(paid, cost, path)
  }
  const limits = await costOf('/explore/limits')
  t.same(limits.json.data.costs, {
    near: 1_000,
    searches: 10,
    domains: 100,
    bytes: 100_000,
    cited: 100,
  })
})

t.test('a citation costs by its articles', async t => {
  const { secret } = await api.issue({ rate: 100 })
  const left = ({ headers }: { headers: Headers }) => Number(headers.get('x-ratelimit-remaining'))
  const made = await api.ask(secret, '/explore/citations', sent('POST', { search: 'q=brug' }))
  t.equal(made.status, 201, made.text)
  t.equal(left(made), 100 - 5)
  const file = await api.ask(secret, `${made.json.address}.csv`)
  t.equal(left(file), 100 - 10)
})

t.test('what is new costs by its searches', async t => {
  const { secret } = await api.issue({ rate: 1_000 })
  const post = (path: string, body: object) =>
    api.ask(secret, `/explore/searches${path}`, sent('POST', body))
  const ids: string[] = []
  for (let at = 0; at < 25; at++) ids.push((await post('', { search: `q=brug${at}` })).json.data.id)
  const { headers, status } = await post('/new', {
    marks: Object.fromEntries(ids.map(id => [id, null])),
  })
  t.same([status, headers.get('x-ratelimit-remaining')], [200, String(1_000 - 25 - 3)])
})

t.test('what is new is paid before the first search runs', async t => {
  const { secret, key } = await api.issue({ rate: 13 })
  const secrets = await loadSharedSecret(api.pool, 'cursor')
  const mark = signed(secrets, `mark ${key.id}`, Buffer.alloc(14))
  const post = (path: string, body: object) =>
    api.ask(secret, `/explore/searches${path}`, sent('POST', body))
  const marks: Record<string, string> = {}
  for (const word of ['b', 'c', 'd']) {
    const search = near(`dicht OR kanaal OR a OR ${word} OR e OR f`)
    marks[(await post('', { search })).json.data.id] = mark
  }
  const first = await post('/new', { marks })
  t.equal(first.status, 200, first.text)
  t.same(
    first.json.data.map((one: { new: number }) => one.new),
    [402, 402, 402],
  )
  t.equal(first.headers.get('x-ratelimit-remaining'), String(13 - 3 - 1 - 8))
  const second = await post('/new', { marks })
  t.same([second.status, second.json.code], [429, 'rate_limit_exceeded'])
  t.match(second.json.message, /costs 9 of the minute/)
})

for (const [what, path, rate, left] of [
  ['a request that costs more than is left is paid whole', 'articles?per_page=1', 4, 1],
  ['the parts of a count are paid together', 'counts?by=day&then=country', 10, 2],
] as const)
  t.test(`${what}, or nothing is done`, async t => {
    const { secret } = await api.issue({ rate })
    const dear = `/explore/${path}&${near('dicht OR kanaal OR a OR b OR c')}`
    const first = await api.ask(secret, dear)
    t.same([first.status, first.headers.get('x-ratelimit-remaining')], [200, `${left}`])
    const { status, json, headers } = await api.ask(secret, dear)
    t.same([status, json.code], [429, 'rate_limit_exceeded'])
    t.match(json.message, `costs ${rate - left} of the minute`)
    t.match(headers.get('retry-after'), /^\d+$/)
    t.equal(headers.get('x-ratelimit-remaining'), `${left - 1}`)
  })

t.test('a set of outlets costs by the searches that name it', async t => {
  const { secret } = await api.issue({ rate: 100 })
  const put = (domain: string) =>
    api.ask(secret, '/explore/outlet-sets/papers', sent('PUT', { domains: [domain] }))
  const made = await put('brug.example')
  t.same([made.status, made.headers.get('x-ratelimit-remaining')], [201, '99'])
  for (let at = 0; at < 20; at++) {
    const search = `q=brug${at}&outlets=papers`
    await api.ask(secret, '/explore/searches', sent('POST', { search }))
  }
  const changed = await put('sluis.example')
  t.same([changed.status, changed.headers.get('x-ratelimit-remaining')], [200, '76'])
  for (let at = 0; at < 2; at++) {
    const domains = Array.from({ length: 50 }, (_, n) => `${at}x${n}.example`)
    await api.ask(secret, `/explore/outlet-sets/many${at}`, sent('PUT', { domains }))
  }
  const listed = await api.ask(secret, '/explore/outlet-sets')
  t.equal(listed.headers.get('x-ratelimit-remaining'), String(76 - 2 - 2), 'of 101 domains')
})

t.test('no request costs more than the whole minute, and in /v1 each costs one', async t => {
  const whole = await costOf('/explore/copies?q=klein', {}, 5)
  t.same([whole.status, whole.cost], [200, 5])
  const parts = `/explore/counts?by=day&then=country&published_after=${DAY}&${near('dicht OR a OR b')}`
  const several = await costOf(parts, {}, 3)
  t.same([several.status, several.cost], [200, 3], 'nor do its parts together')
  t.equal((await costOf('/v1/articles?q=klein&search_in=title_body')).cost, 1)
})

t.test('texts beyond two million bytes are not compared', async t => {
  const { json, cost } = await costOf('/explore/copies?q=groot')
  t.equal(cost, 1)
  t.same(
    json.data.map((one: { copies: { shared: number | null }[]; own_words: number | null }) => [
      one.copies.map(({ shared }) => shared),
      one.own_words,
    ]),
    Array(3).fill([[null, null], null]),
  )
  const few = await costOf('/explore/copies?q=klein')
  for (const { copies, own_words } of few.json.data) {
    t.same(
      copies.map(({ shared }: { shared: number }) => shared),
      [1, 1, 1],
    )
    t.equal(own_words, 0)
  }
})

t.test('who never heeds Retry-After gets refusals late, and slows nobody', async t => {
  const { secret } = await api.issue({ rate: 1 })
  const other = await api.issue({ rate: 100 })
  const refused = () => api.ask(secret, '/v1/articles?per_page=1')
  for (let at = 0; at < 201; at++) await refused()
  const order: string[] = []
  await Promise.all([
    refused().then(({ status }) => order.push(`${status}`)),
    api.ask(other.secret, '/v1/articles?per_page=1').then(({ status }) => order.push(`${status}`)),
  ])
  t.same(order, ['200', '429'])
})
