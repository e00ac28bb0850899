import t from 'tap'
import * as perscope from '#clients/typescript/src/index'
import { startTestApi } from '#test/contract/api'
import { indexNews } from './news.ts'
import { FOREIGN_ANSWERS, openForeign, openRoad } from './road.ts'

/* What the TypeScript client does beyond the examples of its README, against a real API. */

const api = await startTestApi(t, { AUTH_LOCK_FAILURES: '3' })
const { secret: key } = await api.issue({ countries: ['NL', 'BE'] })
await indexNews(api)
const road = await openRoad(api.base)
t.teardown(() => road.close())

async function thrown(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => null,
    (error: unknown) => error,
  )
}

t.test('errors are classes with the code, the parameters and the request', async t => {
  const client = perscope.createClient({ url: api.base, key, retries: 0 })
  const wrong = await thrown(client.search({ q: '-a', search: 'boolean', per_page: 101 }))
  if (!(wrong instanceof perscope.InvalidRequestError)) throw wrong
  t.strictSame([wrong.status, Object.keys(wrong.errors).sort()], [422, ['per_page', 'q']])
  t.ok(wrong.requestId)
  t.type(await thrown(client.search({ country: 'LU' })), perscope.PlanError)
  const away = await thrown(client.search({ q: 'trein', search: 'semantic' }))
  if (!(away instanceof perscope.SemanticUnavailableError)) throw away
  t.equal(away.retryAfter, 30)
  t.type(
    await thrown(client.poll({ q: 'trein', search: 'semantic' }).next()),
    perscope.PerscopeError,
  )
})

t.test('arguments are checked before anything is sent, and no message shows the key', async t => {
  for (const url of [
    '',
    'news.example',
    'ftp://news.example',
    'https://a:b@news.example',
    'http://x/?q=1',
  ]) {
    t.throws(() => perscope.createClient({ url, key }), perscope.PerscopeError, url)
  }
  for (const wrong of ['', ' ', 'psk_se cret', 'psk_se\ncret', 'psk_secrét']) {
    t.throws(
      () => perscope.createClient({ url: api.base, key: wrong }),
      { message: /^(?!.*cr)/ },
      wrong,
    )
  }
  t.throws(() => perscope.createClient({ url: api.base, key, timeout: 0 }), perscope.PerscopeError)
  for (const url of [`${api.base}/`, `${api.base}/v1`, ` ${api.base}/v1/\n`]) {
    t.equal((await perscope.createClient({ url, key: ` ${key}\n` }).search()).status, 'ok', url)
  }
})

t.test('a 4xx is not repeated', async t => {
  const waits: number[] = []
  const client = perscope.createClient({
    url: api.base,
    key: 'psk_none',
    onWait: ms => waits.push(ms),
  })
  for (let i = 0; i < 3; i++) t.type(await thrown(client.search()), perscope.KeyError)
  t.type(await thrown(client.search()), perscope.LockedError)
  t.strictSame(waits, [])
})

t.test('what is broken off is asked again, what stays silent ends', async t => {
  const reasons: unknown[] = []
  const client = perscope.createClient({
    url: road.url,
    key,
    onWait: (_, reason) => reasons.push(reason),
  })
  road.next('break', 'break')
  t.equal((await client.search()).status, 'ok')
  t.equal(reasons.length, 2)
  t.ok(reasons.every(reason => reason instanceof perscope.NoAnswerError))
  road.next('silence', 'silence')
  const hasty = perscope.createClient({ url: road.url, key, retries: 1, timeout: 300 })
  t.type(await thrown(hasty.search()), perscope.NoAnswerError)
  const shown = await thrown(
    perscope.createClient({ url: 'http://127.0.0.1:9', key, retries: 0 }).search(),
  )
  t.type(shown, perscope.NoAnswerError)
  const stopping = AbortSignal.timeout(200)
  road.next('silence')
  const stopped = await thrown(
    perscope.createClient({ url: road.url, key, signal: stopping }).search(),
  )
  t.equal(stopped, stopping.reason, 'a signal ends it with its own reason')
})

t.test('a poll ends with its own signal, and with that of its client', async t => {
  for (const whose of ['poll', 'client'] as const) {
    for (const fate of ['silence', 'pass'] as const) {
      const signals = { poll: new AbortController(), client: new AbortController() }
      const { signal } = signals.client
      const client = perscope.createClient({
        url: road.url,
        key,
        signal,
        timeout: 3_000,
        retries: 0,
      })
      road.next(fate)
      const began = Date.now()
      setTimeout(() => signals[whose].abort(whose), 300)
      const polled = all(client.poll({}, { every: 3_000, signal: signals.poll.signal }))
      t.equal(await thrown(polled), whose, fate)
      t.ok(Date.now() - began < 2_500, 'at once')
    }
  }
})

t.test('whatever else answers, the error is a PerscopeError with its own sentence', async t => {
  const foreign = await openForeign()
  t.teardown(() => foreign.close())
  for (const [fate, kind, sentence] of FOREIGN_ANSWERS) {
    const client = perscope.createClient({ url: `${foreign.url}/${fate}`, key, retries: 0 })
    const asked = [
      client.search(),
      client.feed(),
      client.counts({ by: 'day' }),
      client.poll().next(),
    ]
    for (const error of await Promise.all(asked.map(thrown))) {
      t.type(error, perscope.PerscopeError, fate)
      t.match(error, { name: kind, message: sentence }, fate)
    }
  }
})

async function all<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const one of iterable) found.push(one)
  return found
}

t.test('max_items ends iterations, whatever the page', async t => {
  const client = perscope.createClient({ url: road.url, key })
  for (const [maxItems, pages] of [
    [0, 0],
    [7, 1],
    [10, 1],
    [11, 2],
  ] as const) {
    road.passed.length = 0
    t.equal((await all(client.articles({ per_page: 10 }, { maxItems }))).length, maxItems)
    t.equal(road.passed.length, pages, 'no page more than needed')
    t.equal((await all(client.pages({ per_page: 10 }, { maxItems }))).length, pages)
  }
  t.type(await thrown(client.pages({}, { maxItems: -1 }).next()), perscope.PerscopeError)
})

t.test('fields that the server adds are kept', async t => {
  road.always('add-field')
  const client = perscope.createClient({ url: road.url, key })
  const ids: string[] = []
  for await (const article of client.articles({ per_page: 50 })) {
    if ('added' in article) ids.push(article.id)
  }
  road.always('pass')
  t.equal(new Set(ids).size, ids.length)
  t.equal(ids.length, (await client.search()).total_results)
  t.match(client.limits(), { rate: { limit: 100_000 }, quota: null })
})

t.test('a poll has each article once, though the road breaks', async t => {
  const found: string[] = []
  let stored = 'null'
  const round = async () => {
    const client = perscope.createClient({ url: road.url, key })
    for await (const { articles, state } of client.poll({}, { state: JSON.parse(stored) })) {
      found.push(...articles.map(({ id }) => id))
      stored = JSON.stringify(state)
    }
  }
  for (let batch = 0; batch < 4; batch++) {
    await api.index(
      Array.from({ length: 30 }, (_, i) => ({ title: `Partij ${batch} nummer ${i}` })),
    )
    road.next('pass', 'break')
    await round()
  }
  const { rows } = await api.pool.query<{ id: string }>('select id from articles')
  t.equal(new Set(found).size, found.length, 'none twice')
  t.strictSame(new Set(found), new Set(rows.map(({ id }) => id)), 'none missing')

  await round()
  road.passed.length = 0
  await round()
  t.match(road.passed, [{ etag: /./, status: 304 }], 'nothing new: one empty answer')
  await api.index([{ title: 'Nog een' }])
  await round()
  t.equal(found.length, rows.length + 1, 'the ETag hides nothing')
})

t.test('a state belongs to its search', async t => {
  const client = perscope.createClient({ url: api.base, key })
  const first = (await client.poll({ language: 'nl' }).next()).value
  if (first === undefined) throw new Error('The poll brought nothing.')
  const other = client.poll({ language: 'fr' }, { state: first.state })
  t.match(await thrown(other.next()), /another search/)
  const since = await client.poll({}, { since: new Date(Date.now() + 3_600_000) }).next()
  t.strictSame(since.value?.articles, [], 'since bounds a poll without a state')
})

t.test('a minute that is used up is waited out, as long as Retry-After says', async t => {
  const { secret } = await api.issue({ rate: 3 })
  const waits: [number, unknown][] = []
  const client = perscope.createClient({
    url: api.base,
    key: secret,
    onWait: (...wait) => waits.push(wait),
  })
  for (let i = 0; i < 4; i++) await client.search({ per_page: 1 })
  t.equal(waits.length, 1)
  const [ms, reason] = waits[0]!
  if (!(reason instanceof perscope.RateLimitError)) throw reason
  t.equal(ms, reason.retryAfter! * 1_000)
  const hasty = perscope.createClient({ url: api.base, key: secret, longestWait: 0 })
  for (let i = 0; i < 2; i++) await hasty.search({ per_page: 1 })
  t.type(await thrown(hasty.search()), perscope.RateLimitError, 'no longer than the caller wants')
})
