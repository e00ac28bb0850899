import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import express from 'express'
import t from 'tap'
import { hubCalls } from '../../services/api/websub/receiver.ts'
import { observeSubscriptions } from '../../services/crawler/websub/metrics.ts'
import { registry } from '../../shared/log/registry.ts'
import { until } from '../fleet.ts'
import { rss, startCrawl, type TestCrawl } from './crawl.ts'
import { startSite } from './site.ts'

t.setTimeout(120_000)

const site = await startSite()
const hub = await startSite('127.0.0.5')
const receiver = createServer((request, response) => void api(request, response))
const api = express()
await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
const address = receiver.address()
const base = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
const run: TestCrawl = await startCrawl({
  ...{ POLL_INTERVAL_MIN: '1m', POLL_INTERVAL_MAX: '1h', WEBSUB_PUBLIC_URL: `${base}/` },
})
api.use(hubCalls(run.pool))
t.teardown(() => Promise.all([site.close(), hub.close(), run.close(), new Promise(resolve => receiver.close(resolve))]))

const at = (path: string) => site.origin + path
/** The forms that were sent to the hub. */
const forms: URLSearchParams[] = []
let hubAnswers = 202
hub.on('/hub', (request, response) => {
  let text = ''
  request.on('data', piece => {
    text += piece
  })
  request.on('end', () => {
    forms.push(new URLSearchParams(text))
    response.writeHead(hubAnswers).end()
  })
})

/** A feed that names the hub, and itself under another address. */
function serve(...paths: string[]): void {
  site.on('/feed.xml', (_request, response) =>
    response
      .writeHead(200, { link: `<${hub.origin}/hub>; rel=hub, <${at('/topic.xml')}>; rel="self"` })
      .end(rss(...paths.map(at))),
  )
}

async function poll(): Promise<void> {
  run.crawl.backlogged = true
  await run.hurry('feeds')
  await run.workOff()
}

/** A visit may end just before the hub that it has learned of is due; the next one asks it. */
async function pollUntilAsked(): Promise<void> {
  await until(
    async () => {
      await poll()
      return (await subscription())?.state === 'asked'
    },
    60_000,
    () => 'the hub was not asked',
  )
}

interface Subscription {
  state: string
  failures: number
  error: string | null
  renewed: number
  left: number
}

async function subscription(): Promise<Subscription | undefined> {
  const { rows } = await run.pool.query<Subscription>(
    `select state, failures, last_error as error,
            round(extract(epoch from next_try_at - clock_timestamp()))::float8 as renewed,
            round(extract(epoch from lease_until - clock_timestamp()))::float8 as left
       from websub_subscriptions`,
  )
  return rows[0]
}

/** Seconds until the feed is polled. */
async function due(): Promise<number> {
  const { rows } = await run.pool.query<{ wait: number }>(
    'select extract(epoch from next_poll_at - clock_timestamp())::float8 as wait from feeds',
  )
  return rows[0]?.wait ?? Number.NaN
}

/** Asks the receiver as a hub does. */
const verify = (parameters: Record<string, string>) =>
  fetch(`${forms.at(-1)?.get('hub.callback')}?${new URLSearchParams(parameters)}`)

const push = (body: string, signature: string | null) =>
  fetch(forms.at(-1)?.get('hub.callback') ?? '', {
    method: 'POST',
    body,
    headers: signature === null ? {} : { 'x-hub-signature': signature },
  })

const sign = (method: string, body: string) =>
  `${method}=${createHmac(method, forms.at(-1)?.get('hub.secret') ?? '')
    .update(body)
    .digest('hex')}`

t.before(async () => {
  serve('/a')
  await run.outlets({ 'x.example': [at('/feed.xml')] })
})

t.test('a feed that names a hub is subscribed to, with a permit of the hub’s host', async t => {
  await poll()
  t.match(Object.fromEntries(forms[0] ?? []), {
    'hub.mode': 'subscribe',
    'hub.topic': at('/topic.xml'),
    'hub.lease_seconds': '864000',
  })
  t.match(forms[0]?.get('hub.callback'), new RegExp(`^${base}/websub/[\\w-]{43}$`))
  t.match(await subscription(), { state: 'asked', failures: 1, left: null })
  const { rows } = await run.pool.query<{ asked: boolean }>(
    "select free_at > 'epoch' and turn is null as asked from hosts where host = $1",
    [hub.host],
  )
  t.same(rows, [{ asked: true }])
  await poll()
  t.equal(forms.length, 1, 'it is not asked again at once')
})

t.test('verification of intent: only what we asked for is confirmed', async t => {
  const right = {
    'hub.mode': 'subscribe',
    'hub.topic': at('/topic.xml'),
    'hub.challenge': '<b>',
    'hub.lease_seconds': '1000',
  }
  for (const wrong of [
    { ...right, 'hub.topic': at('/feed.xml') },
    { ...right, 'hub.mode': 'unsubscribe' },
    { ...right, 'hub.challenge': '' },
    { ...right, 'hub.challenge': 'x'.repeat(5_000) },
    { ...right, 'hub.lease_seconds': 'long' },
  ])
    t.equal((await verify(wrong)).status, 404, JSON.stringify(wrong).slice(0, 200))
  t.equal((await fetch(`${base}/websub/${'a'.repeat(43)}?${new URLSearchParams(right)}`)).status, 404)
  t.match(await subscription(), { state: 'asked' })
  const answer = await verify(right)
  t.equal(answer.status, 200)
  t.match(answer.headers.get('content-type'), /^text\/plain/)
  t.equal(await answer.text(), '<b>')
  const confirmed = await subscription()
  t.match(confirmed, { state: 'active', failures: 0 })
  t.ok(confirmed && Math.abs(confirmed.left - 1_000) < 60 && Math.abs(confirmed.renewed - 800) < 60)
})

t.test('a signed body is a doorbell: the next poll comes at once, in every method of the standard', async t => {
  for (const method of ['sha1', 'sha256', 'sha384', 'sha512']) {
    await run.pool.query(
      "update feeds set next_poll_at = now() + interval '1 h', last_polled_at = now() - interval '1 h'",
    )
    t.equal((await push('<rss/>', sign(method, '<rss/>'))).status, 202)
    t.ok((await due()) <= 0, method)
  }
  serve('/b', '/a')
  run.crawl.backlogged = true
  await run.workOff()
  t.ok(await run.page(at('/b')))
})

t.test('a body without the right signature rings nothing, and its sender is not told', async t => {
  await run.pool.query(
    "update feeds set next_poll_at = now() + interval '1 h', last_polled_at = now() - interval '1 h'",
  )
  for (const signature of [
    null,
    'sha256=00',
    sign('sha256', 'other'),
    sign('md5', 'x'),
    'sha256',
    `${sign('sha256', 'x')}00`,
  ])
    t.equal((await push('x', signature)).status, 202, String(signature))
  t.ok((await due()) > 3_000)
  t.equal((await fetch(`${base}/websub/${'a'.repeat(43)}`, { method: 'POST', body: 'x' })).status, 410)
  const long = await push('x'.repeat(11_000_000), sign('sha256', 'x')).then(
    ({ status }) => status,
    () => 413,
  )
  t.equal(long, 413)
})

t.test('rings do not hurry a feed that was just polled, nor one that fails', async t => {
  await run.pool.query("update feeds set next_poll_at = now() + interval '1 h', last_polled_at = now()")
  await push('x', sign('sha256', 'x'))
  const wait = await due()
  t.ok(wait > -60 && wait <= 10, `${wait} s`)
  await run.pool.query("update feeds set next_poll_at = now() + interval '1 h', last_polled_at = null, failures = 1")
  await push('x', sign('sha256', 'x'))
  t.ok((await due()) > 3_000)
  await run.pool.query('update feeds set failures = 0')
})

t.test('a ring while the feed is polled is not lost', async t => {
  site.on('/feed.xml', (_request, response) => {
    void push('x', sign('sha256', 'x')).then(() =>
      response
        .writeHead(200, { link: `<${hub.origin}/hub>; rel=hub, <${at('/topic.xml')}>; rel="self"` })
        .end(rss(at('/a'))),
    )
  })
  await poll()
  const { rows } = await run.pool.query<{ wait: number }>(
    'select extract(epoch from next_poll_at - last_polled_at)::float8 as wait from feeds',
  )
  t.equal(Math.round(rows[0]?.wait ?? 0), 10)
  serve('/b', '/a')
})

t.test('a lease is renewed before its end, and the subscription stays meanwhile', async t => {
  await run.pool.query('update websub_subscriptions set next_try_at = now()')
  await poll()
  t.equal(forms.length, 2)
  t.match(await subscription(), { state: 'active', failures: 1 })
  t.equal(forms[1]?.get('hub.callback'), forms[0]?.get('hub.callback'))
})

t.test('the figure tells active subscriptions from those whose lease has run out', async t => {
  const figures = async (url: string) => {
    observeSubscriptions(run.pool, url)
    const text = await registry.getSingleMetricAsString('perscope_websub_subscriptions')
    return Object.fromEntries([...text.matchAll(/state="(\w+)"\} (\d+)/g)].map(([, state, n]) => [state, Number(n)]))
  }
  const none = { wanted: 0, asked: 0, active: 0, expired: 0, denied: 0 }
  t.same(await figures(base), { ...none, active: 1 })
  await run.pool.query("update websub_subscriptions set lease_until = now() - interval '1 s'")
  t.same(await figures(base), { ...none, expired: 1 })
  t.same(await figures(''), {}, 'without a public address there are none')
})

t.test('a hub that refuses or fails is asked less and less often, and says why; the feed does not fail', async t => {
  hubAnswers = 500
  await run.pool.query("update websub_subscriptions set next_try_at = now(), lease_until = now() - interval '1 s'")
  await poll()
  const failed = await subscription()
  t.match(failed, { state: 'asked', failures: 2, error: 'the hub answers 500' })
  t.ok(failed && Math.abs(failed.renewed - 1_200) < 60)
  const denied = { 'hub.mode': 'denied', 'hub.topic': at('/topic.xml'), 'hub.reason': 'we do not\nknow you' }
  t.equal((await verify(denied)).status, 200)
  t.match(await subscription(), { state: 'denied', error: 'the hub refuses: we do not\\u000aknow you' })
  hubAnswers = 202
  const { rows } = await run.pool.query('select failures, last_error from feeds')
  t.same(rows, [{ failures: 0, last_error: null }])
})

t.test('a hub at a private address is never asked', async t => {
  site.on('/feed.xml', (_request, response) =>
    response.writeHead(200, { link: '<http://10.0.0.1/hub>; rel=hub' }).end(rss(at('/a'))),
  )
  await pollUntilAsked()
  t.match(await subscription(), { state: 'asked', error: /has no public address/ })
})

t.test('a feed that names no hub any more, or leaves, is gone for its hub', async t => {
  serve('/a')
  await pollUntilAsked()
  site.on('/feed.xml', rss(at('/a')))
  await poll()
  t.equal(await subscription(), undefined)
  t.equal((await push('x', sign('sha256', 'x'))).status, 410)
  serve('/a')
  await poll()
  await run.outlets({})
  t.equal(await subscription(), undefined)
  t.equal((await push('x', sign('sha256', 'x'))).status, 410)
})

t.test('without a public address no hub is asked', async t => {
  const quiet = await startCrawl({ POLL_INTERVAL_MIN: '1m' })
  t.teardown(() => quiet.close())
  const before = forms.length
  quiet.crawl.backlogged = true
  await quiet.outlets({ 'x.example': [at('/feed.xml')] })
  await quiet.workOff()
  t.ok(await quiet.page(at('/a')))
  t.equal(forms.length, before)
})
