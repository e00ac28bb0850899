import t from 'tap'
import { PACKAGES } from '../../clients/build.ts'
import { ask, startTestApi } from './api.ts'

const api = await startTestApi(t)
const other = await api.another()

const numbers = (headers: Headers, name: string) => Number(headers.get(name) ?? Number.NaN)

const PACKAGE = `/clients/${Object.keys(PACKAGES)[0]}`

t.test(
  'decision 5: two processes under concurrent load let exactly the plan through, counting down without gap or repeat',
  async t => {
    const { secret } = await api.issue({ rate: 60 })
    const answers = await Promise.all(
      Array.from({ length: 150 }, (_, i) => ask(`${i % 2 ? api.base : other.base}/v1/articles`, secret)),
    )
    const served = answers.filter(({ status }) => status === 200)
    const refused = answers.filter(({ status }) => status === 429)
    t.equal(served.length, 60)
    t.equal(refused.length, 90)
    const left = served.map(({ headers }) => numbers(headers, 'x-ratelimit-remaining')).sort((a, b) => b - a)
    t.strictSame(
      left,
      Array.from({ length: 60 }, (_, i) => 59 - i),
    )
    for (const { json, headers } of refused) {
      t.equal(json.code, 'rate_limit_exceeded')
      t.equal(numbers(headers, 'x-ratelimit-limit'), 60)
      t.equal(numbers(headers, 'x-ratelimit-remaining'), 0)
      const wait = headers.get('retry-after') ?? ''
      t.match(wait, /^\d+$/)
      t.ok(Number(wait) >= 1 && Number(wait) <= 60)
    }
  },
)

t.test('decision 2: Retry-After runs to the end of the minute window, and then all of it is there again', async t => {
  const { key, secret } = await api.issue({ rate: 2 })
  for (const expected of [200, 200, 429]) t.equal((await api.ask(secret, '/v1/articles')).status, expected)
  await api.pool.query("update rate_windows set started_at = started_at - interval '50 seconds' where key_id = $1", [
    key.id,
  ])
  const refused = await api.ask(secret, '/v1/articles')
  t.ok([9, 10].includes(numbers(refused.headers, 'retry-after')), refused.headers.get('retry-after') ?? 'none')
  await api.pool.query("update rate_windows set started_at = started_at - interval '10 seconds' where key_id = $1", [
    key.id,
  ])
  const answered = await api.ask(secret, '/v1/articles')
  t.equal(answered.status, 200)
  t.equal(numbers(answered.headers, 'x-ratelimit-remaining'), 1)
})

t.test('decision 5: every answer but a refusal by the minute costs one of it, 404 and 405 too', async t => {
  const { secret } = await api.issue({ rate: 20, countries: ['NL'] })
  const asked: [status: number, path: string, init?: RequestInit][] = [
    [200, '/v1/articles'],
    [200, '/v1/articles.rss'],
    [404, '/v1/nothing'],
    [404, '/v1/articles/'],
    [404, '/V1/articles'],
    [404, '/explore/assets/nothing.js'],
    [404, '/'],
    [404, '/', { method: 'POST' }],
    [405, '/v1/articles', { method: 'POST' }],
    [405, '/v1/articles.rss', { method: 'DELETE' }],
    [405, '/v1/articles', { method: 'OPTIONS' }],
    [422, '/v1/articles?foo=1'],
    [403, '/v1/articles?country=LU'],
    [503, '/v1/articles?search=semantic&q=ab'],
    [200, '/v1/articles', { method: 'HEAD' }],
    [304, '/v1/articles', { headers: { 'If-None-Match': '*' } }],
  ]
  for (const [index, [status, path, init]] of asked.entries()) {
    const { headers, ...answer } = await api.ask(secret, path, init)
    t.equal(answer.status, status, `${init?.method ?? 'GET'} ${path}`)
    t.equal(numbers(headers, 'x-ratelimit-limit'), 20)
    t.equal(numbers(headers, 'x-ratelimit-remaining'), 19 - index)
    t.notOk(headers.has('x-quota-limit'), 'decision 4: a plan without a quota shows none')
  }
})

t.test('decision 4: the month is told on every answer of a plan with a quota, errors too', async t => {
  const { secret } = await api.issue({ quota: 10, rate: 5, countries: ['NL'] })
  const now = new Date()
  const statuses: number[] = []
  for (const path of [
    '/v1/articles',
    '/v1/x',
    '/v1/articles?foo=1',
    '/v1/articles?country=BE',
    '/v1/articles?search=semantic&q=ab',
    '/v1/articles',
  ]) {
    const { status, headers } = await api.ask(secret, path)
    statuses.push(status)
    t.equal(headers.get('x-quota-limit'), '10')
    t.equal(headers.get('x-quota-remaining'), '9', `${path} leaves nine: only the first answer costs`)
    t.equal(headers.get('x-quota-period'), now.toISOString().slice(0, 7))
    t.equal(numbers(headers, 'x-quota-reset'), Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1) / 1_000)
  }
  t.strictSame(statuses, [200, 404, 422, 403, 503, 429])
})

t.test('decision 5: 200, 304 and HEAD cost one of the month, nothing else does', async t => {
  const { secret } = await api.issue({ quota: 4 })
  const left = async (path: string, init?: RequestInit) =>
    numbers((await api.ask(secret, path, init)).headers, 'x-quota-remaining')
  t.equal(await left('/v1/articles'), 3)
  t.equal(await left('/v1/articles?foo=1'), 3)
  t.equal(await left('/v1/articles', { headers: { 'If-None-Match': '*' } }), 2)
  t.equal(await left('/v1/articles', { method: 'POST' }), 2)
  t.equal(await left('/v1/articles', { method: 'HEAD' }), 1)
  t.equal(await left('/v1/articles.rss'), 0)
  const { status, json, headers } = await api.ask(secret, '/v1/articles')
  t.equal(status, 429)
  t.equal(json.code, 'quota_exceeded')
  const end = Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() + 1, 1)
  t.ok(Math.abs(numbers(headers, 'retry-after') - (end - Date.now()) / 1_000) < 5)
  t.equal(headers.get('x-quota-remaining'), '0')
})

t.test(
  'decision 6: a used-up month is told before a mistake in the request, after the minute, and not at a path that is none',
  async t => {
    const { secret } = await api.issue({ quota: 0, rate: 3 })
    t.equal((await api.ask(secret, '/v1/articles?foo=1')).json.code, 'quota_exceeded')
    t.equal((await api.ask(secret, '/v1/nothing')).json.code, 'not_found')
    t.equal((await api.ask(secret, '/v1/articles', { method: 'PUT' })).json.code, 'method_not_allowed')
    t.equal((await api.ask(secret, '/v1/articles?foo=1')).json.code, 'rate_limit_exceeded')
  },
)

t.test('decision 5: of many at once in two processes, exactly the quota is answered', async t => {
  const { secret } = await api.issue({ quota: 25 })
  const answers = await Promise.all(
    Array.from({ length: 80 }, (_, i) => ask(`${i % 2 ? api.base : other.base}/v1/articles`, secret)),
  )
  const served = answers.filter(({ status }) => status === 200)
  t.equal(served.length, 25)
  t.equal(answers.filter(({ json }) => json.code === 'quota_exceeded').length, 55)
  t.strictSame(
    served.map(({ headers }) => numbers(headers, 'x-quota-remaining')).sort((a, b) => b - a),
    Array.from({ length: 25 }, (_, i) => 24 - i),
  )
})

t.test('decision 5: the month is counted on paper: another process, started later, knows it', async t => {
  const { secret } = await api.issue({ quota: 3 })
  await api.ask(secret, '/v1/articles')
  const later = await api.another()
  t.equal((await ask(`${later.base}/v1/articles`, secret)).headers.get('x-quota-remaining'), '1')
})

t.test('decision 4: a new month has its whole quota, whatever was used of those before', async t => {
  const { key, secret } = await api.issue({ quota: 2 })
  for (const expected of [200, 200, 429]) t.equal((await api.ask(secret, '/v1/articles')).status, expected)
  await api.pool.query("update quota_months set month = month - interval '1 month' where key_id = $1", [key.id])
  const { status, headers } = await api.ask(secret, '/v1/articles')
  t.equal(status, 200)
  t.equal(headers.get('x-quota-remaining'), '1')
  await api.pool.query("update quota_months set month = month - interval '1 month' where key_id = $1", [key.id])
  t.equal(
    (await api.ask(secret, '/v1/articles?foo=1')).headers.get('x-quota-remaining'),
    '2',
    'two old months, none new',
  )
})

t.test('decision 6: lock, key, minute, month, validation, plan, search, in this order', async t => {
  const codes = async (plan: object, ...paths: string[]) => {
    const { secret } = await api.issue(plan)
    const found: string[] = []
    for (const path of paths) found.push((await api.ask(secret, path)).json.code)
    return found
  }
  t.strictSame(
    await codes(
      { countries: ['NL'], history: { kind: 'fixed', at: new Date('2024-01-01') } },
      '/v1/articles?country=XX',
      '/v1/articles?country=LU',
      '/v1/articles?country=LU&foo=1',
      '/v1/articles?country=LU&published_after=2023-01-01',
      '/v1/articles?country=NL,LU&published_after=2023-01-01',
      '/v1/articles?published_after=2023-01-01',
      '/v1/articles?published_after=2023-01-01&search=semantic&q=ab',
      '/v1/articles?search=semantic&q=ab',
      '/v1/articles?search=semantic&q=a',
    ),
    [
      'invalid_request',
      'country_not_included',
      'invalid_request',
      'country_not_included',
      'country_not_included',
      'history_not_included',
      'history_not_included',
      'semantic_search_unavailable',
      'invalid_request',
    ],
  )
})

t.test('decision 7: 503 says to come back in 30 seconds', async t => {
  const { secret } = await api.issue()
  for (const path of ['/v1/articles', '/v1/articles.rss']) {
    const { status, headers, json } = await api.ask(secret, `${path}?search=semantic&q=ab`)
    t.equal(status, 503)
    t.equal(headers.get('retry-after'), '30')
    t.equal(json.code, 'semantic_search_unavailable')
  }
})

t.test('decision 7: 405 names what is allowed, 404 and 405 are error objects', async t => {
  const { secret } = await api.issue()
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
    const { status, headers, json } = await api.ask(secret, '/v1/articles', { method })
    t.equal(status, 405)
    t.equal(headers.get('allow'), 'GET, HEAD')
    t.equal(json.code, 'method_not_allowed')
  }
  for (const path of ['/docs', '/v1/openapi.json', '/healthz', '/readyz', '/docs/page.css', PACKAGE]) {
    for (const method of ['POST', 'OPTIONS']) {
      const { status, headers } = await api.ask(secret, path, { method })
      t.match([status, headers.get('allow')], [405, 'GET, HEAD'], `${method} ${path}`)
    }
  }
  const { status, json } = await api.ask(secret, '/v2/articles')
  t.equal(status, 404)
  t.strictSame(Object.keys(json), ['status', 'code', 'message'])
})

t.test('decision 5: without a key every path and method is 401, but the open pages', async t => {
  for (const path of [
    '/',
    '/v1/articles',
    '/v1/nothing',
    '/metrics',
    '/docs/',
    '/docs/nothing',
    '/clients/',
    '/clients/nothing.whl',
    '/explore/assets/nothing.js',
    '/explore/assets/%zz',
    '/explore/assets/%ff',
  ]) {
    t.equal((await api.ask(null, path)).status, 401, path)
  }
  for (const path of ['/docs', '/docs/swagger-ui.js', '/v1/openapi.json', '/healthz', '/readyz', PACKAGE, '/bot']) {
    const { status, headers, text } = await api.ask(null, path)
    t.equal(status, 200, path)
    t.notOk(headers.has('x-ratelimit-limit'))
    if (!path.endsWith('.js')) t.notMatch(text, /127\.0\.0\.1|localhost|news\.example/, 'names no host')
  }
  for (const path of ['/', '/docs', '/v1/openapi.json', '/healthz', '/explore/assets/nothing.js', PACKAGE]) {
    for (const method of ['POST', 'OPTIONS']) t.equal((await api.ask(null, path, { method })).status, 401, path)
  }
})
