import t from 'tap'
import { PACKAGES } from '#clients/build'
import { filled } from '#test/examples'
import { ask, startTestApi } from './api.ts'
import WRITTEN from './limits.json' with { type: 'json' }

const api = await startTestApi(t)
const other = await api.another()

const numbers = (headers: Headers, name: string) => Number(headers.get(name) ?? Number.NaN)

const PACKAGE = `/clients/${Object.keys(PACKAGES)[0]}`
const LIMITS = filled(WRITTEN, { package: PACKAGE })

for (const [plan, most, header, code] of [
  [{ rate: 60 }, 60, 'ratelimit', 'rate_limit_exceeded'],
  [{ quota: 25 }, 25, 'quota', 'quota_exceeded'],
] as const) {
  t.test(
    `decision 5: two processes under load serve the plan, and count down without a gap: ${code}`,
    async t => {
      const { secret } = await api.issue(plan)
      const answers = await Promise.all(
        Array.from({ length: 150 }, (_, i) =>
          ask(`${i % 2 ? api.base : other.base}/v1/articles`, secret),
        ),
      )
      const served = answers.filter(({ status }) => status === 200)
      const left = served
        .map(({ headers }) => numbers(headers, `x-${header}-remaining`))
        .sort((a, b) => b - a)
      const counted = Array.from({ length: most }, (_, i) => most - 1 - i)
      t.strictSame(left, counted)
      for (const { status, json, headers } of answers.filter(answer => !served.includes(answer))) {
        t.strictSame([status, json.code], [429, code])
        t.equal(numbers(headers, `x-${header}-limit`), most)
        t.equal(numbers(headers, `x-${header}-remaining`), 0)
        const wait = headers.get('retry-after') ?? ''
        t.match(wait, /^\d+$/)
        t.ok(Number(wait) >= 1 && Number(wait) <= (header === 'quota' ? 31 * 86_400 : 60))
      }
    },
  )
}

t.test(
  'decision 2: Retry-After runs to the end of the minute window, and then all of it is there again',
  async t => {
    const { key, secret } = await api.issue({ rate: 2 })
    const age = (seconds: number) =>
      api.pool.query(
        "update rate_windows set started_at = started_at - $2 * interval '1 second' where key_id = $1",
        [key.id, seconds],
      )
    for (const expected of [200, 200, 429])
      t.equal((await api.ask(secret, '/v1/articles')).status, expected)
    await age(50)
    const refused = await api.ask(secret, '/v1/articles')
    t.ok(
      [9, 10].includes(numbers(refused.headers, 'retry-after')),
      refused.headers.get('retry-after') ?? 'none',
    )
    await age(10)
    const answered = await api.ask(secret, '/v1/articles')
    t.equal(answered.status, 200)
    t.equal(numbers(answered.headers, 'x-ratelimit-remaining'), 1)
  },
)

t.test(
  'decisions 4 to 6: what each answer costs of the minute and of the month, and tells of the month',
  async t => {
    const { secret } = await api.issue({ quota: 4, rate: 13, countries: ['NL'] })
    const end = Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() + 1, 1)
    for (const { left, answer, path, init } of LIMITS.costs) {
      const { status, headers, json } = await api.ask(secret, path, init)
      t.equal(json?.code ?? status, answer, `${init?.method ?? 'GET'} ${path}`)
      t.equal(headers.get('x-quota-limit'), '4')
      t.equal(headers.get('x-quota-remaining'), String(left), path)
      t.equal(headers.get('x-quota-period'), new Date().toISOString().slice(0, 7))
      t.equal(numbers(headers, 'x-quota-reset'), end / 1_000)
      const wait = numbers(headers, 'retry-after')
      if (answer === 'quota_exceeded')
        t.match([status, Math.abs(wait - (end - Date.now()) / 1_000) < 5], [429, true])
      if (answer === 'semantic_search_unavailable') t.match([status, wait], [503, 30], 'decision 7')
    }
  },
)

t.test(
  'decision 5: the month is counted on paper: another process, started later, knows it',
  async t => {
    const { secret } = await api.issue({ quota: 3 })
    await api.ask(secret, '/v1/articles')
    const later = await api.another()
    t.equal((await ask(`${later.base}/v1/articles`, secret)).headers.get('x-quota-remaining'), '1')
  },
)

t.test(
  'decision 4: a new month has its whole quota, whatever was used of those before',
  async t => {
    const { key, secret } = await api.issue({ quota: 2 })
    for (const expected of [200, 200, 429])
      t.equal((await api.ask(secret, '/v1/articles')).status, expected)
    await api.pool.query(
      "update quota_months set month = month - interval '1 month' where key_id = $1",
      [key.id],
    )
    const { status, headers } = await api.ask(secret, '/v1/articles')
    t.equal(status, 200)
    t.equal(headers.get('x-quota-remaining'), '1')
    await api.pool.query(
      "update quota_months set month = month - interval '1 month' where key_id = $1",
      [key.id],
    )
    t.equal(
      (await api.ask(secret, '/v1/articles?foo=1')).headers.get('x-quota-remaining'),
      '2',
      'two old months, none new',
    )
  },
)

t.test('decision 6: validation, plan, search, in this order', async t => {
  const { secret } = await api.issue({
    countries: ['NL'],
    history: { kind: 'fixed', at: new Date('2024-01-01') },
  })
  for (const { query, code } of LIMITS.order)
    t.equal((await api.ask(secret, `/v1/articles?${query}`)).json.code, code, query)
})

t.test('decision 7: 405 names what is allowed', async t => {
  const { secret } = await api.issue()
  for (const { allowed, methods, paths } of LIMITS.allowed) {
    for (const [path, method] of paths.flatMap(path =>
      methods.map(method => [path, method] as const),
    )) {
      const { status, headers, json } = await api.ask(secret, path, { method })
      t.strictSame(
        [status, headers.get('allow'), json.code],
        [405, allowed, 'method_not_allowed'],
        `${method} ${path}`,
      )
    }
  }
})

t.test('decision 5: without a key every path and method is 401, but the open pages', async t => {
  for (const path of LIMITS.closed) {
    t.match(await api.ask(null, path), { status: 401, json: { code: 'missing_token' } }, path)
  }
  for (const path of [
    '/docs',
    '/docs/swagger-ui.js',
    '/v1/openapi.json',
    '/healthz',
    '/readyz',
    PACKAGE,
    '/bot',
  ]) {
    const { status, headers, text } = await api.ask(null, path)
    t.equal(status, 200, path)
    t.notOk(headers.has('x-ratelimit-limit'))
    if (!path.endsWith('.js'))
      t.notMatch(text, /127\.0\.0\.1|localhost|news\.example/, 'names no host')
  }
  const { secret } = await api.issue()
  const accept = { headers: { accept: 'text/html' } }
  const explorer = await api.ask(null, '/', accept)
  for (const path of ['/a/x', '/a/a%2Fb', `/a/${'x'.repeat(128)}`]) {
    const { status, text, headers } = await api.ask(null, path, accept)
    t.same(
      [status, text, headers.has('x-ratelimit-limit')],
      [200, explorer.text, false],
      'whatever the id is',
    )
    t.equal((await api.ask(secret, path, { ...accept, method: 'POST' })).status, 405)
    t.equal((await api.ask(secret, path)).status, 404, 'as / for programs')
  }
  for (const path of ['/a/', '/a/x/', '/a/%zz', '/a/%ff', '/A/x', `/a/${'x'.repeat(129)}`])
    t.equal((await api.ask(null, path, accept)).status, 401, path)
  const more = [
    '/a/x',
    '/explore/assets/nothing.js',
    '/explore/feeds',
    '/explore/feeds/feed_0',
    '/feeds/psf_x.rss',
  ]
  for (const path of ['/', '/docs', '/v1/openapi.json', '/healthz', PACKAGE, ...more]) {
    for (const method of ['POST', 'OPTIONS', 'DELETE'])
      t.equal((await api.ask(null, path, { method })).status, 401, `${method} ${path}`)
  }
})
