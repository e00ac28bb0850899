import t from 'tap'
import { updateKey } from '../../shared/plans/keys.ts'
import { noSemanticSearch, startTestApi } from './api.ts'
import { openWire, type Wire } from './wire.ts'

let wire: Wire | undefined
const api = await startTestApi(t, {}, noSemanticSearch, async url => {
  wire = await openWire(url)
  return wire.url
})
t.teardown(() => wire?.close())
const { secret, key } = await api.issue()
await api.index(Array.from({ length: 5 }, (_, n) => ({ title: `Een brug ${n}` })))
const newest: string = (await api.ask(secret, '/v1/articles?sort=ingested_at&per_page=1')).json.articles[0].ingested_at
const later = new Date(Date.parse(newest) + 1).toISOString()
const EMPTY = `/v1/articles?sort=ingested_at&order=asc&ingested_after=${later}`

/** How often each prepared statement ran during some requests. */
async function statementsOf(ask: () => Promise<unknown>): Promise<Record<string, number>> {
  wire?.statements()
  await ask()
  const counts: Record<string, number> = {}
  for (const name of wire?.statements() ?? []) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

/** Statements that the process runs by itself now and then, for names and readiness. */
const FEW = 10
/** ms between two looks at the index that it makes by itself, however slow the machine is. */
const LOOK = 200
const POLLS = 60

/** Asks the same again and again, one after the other. */
async function poll(path: string, init: RequestInit, status: number) {
  for (let n = 0; n < POLLS; n++) t.equal((await api.ask(secret, path, init)).status, status)
}

const tagOf = async (path: string) => (await api.ask(secret, path)).headers.get('etag') ?? ''

t.test('issue 22.2: a poll with nothing new takes one statement', async t => {
  const tag = await tagOf('/v1/articles?q=brug')
  const feedTag = await tagOf('/v1/articles.rss')
  await api.ask(secret, EMPTY)
  const kinds: [path: string, init: RequestInit, status: number][] = [
    [EMPTY, {}, 200],
    ['/v1/articles?q=brug', { headers: { 'If-None-Match': tag } }, 304],
    ['/v1/articles.rss', { headers: { 'If-None-Match': feedTag } }, 304],
    ['/v1/articles?q=brug', {}, 200],
  ]
  for (const [path, init, status] of kinds) {
    const began = performance.now()
    const { admit, 'search-snapshot': looks = 0, ...others } = await statementsOf(() => poll(path, init, status))
    t.equal(admit, POLLS, path)
    t.ok(looks <= 2 + (performance.now() - began) / LOOK, `${path}: ${looks} looks`)
    const sum = Object.values(others).reduce((a, b) => a + b, 0)
    t.ok(sum < FEW, `${path}: ${JSON.stringify(others)}`)
  }
})

t.test('issue 22.1: requests of one key that come together share statements', async t => {
  const { admit } = await statementsOf(() => Promise.all(Array.from({ length: 40 }, () => api.ask(secret, EMPTY))))
  t.ok(admit !== undefined && admit < 40, `${admit} statements for 40 requests`)
})

t.test('decision 23: what was a poll with nothing new has the article at once when there is one', async t => {
  const old = await tagOf('/v1/articles.rss')
  t.equal((await api.ask(secret, EMPTY)).json.total_results, 0)
  await api.index([{ title: 'Nog een brug' }])
  const found = await api.ask(secret, EMPTY)
  t.strictSame(
    found.json.articles.map(({ title }: { title: string }) => title),
    ['Nog een brug'],
  )
  const feed = await api.ask(secret, '/v1/articles.rss', { headers: { 'If-None-Match': old } })
  t.equal(feed.status, 200)
  t.match(feed.text, /Nog een brug/)
})

t.test('decision 21: a changed plan and a revoked key count at once for polls too', async t => {
  const path = '/v1/articles?country=NL&outlet=nobody'
  const first = await api.ask(secret, path)
  t.equal(first.json.total_results, 0)
  await updateKey(api.pool, key.id, { plan: { countries: ['BE'] } })
  t.equal((await api.ask(secret, path)).status, 403)
  await updateKey(api.pool, key.id, { plan: { countries: ['NL', 'BE', 'LU'] } })
  t.equal((await api.ask(secret, path)).status, 200)
  await api.pool.query('update api_keys set revoked_at = now() where id = $1', [key.id])
  t.equal((await api.ask(secret, path, { headers: { 'If-None-Match': '*' } })).status, 401)
  await api.pool.query('update api_keys set revoked_at = null where id = $1', [key.id])
})

t.test('decision 5: polls with nothing new cost the minute and the month as any answer', async t => {
  const counted = await api.issue({ rate: 50, quota: 30 })
  const left: string[] = []
  for (let n = 0; n < 32; n++) {
    const { status, headers } = await api.ask(counted.secret, EMPTY)
    left.push(`${status} ${headers.get('x-ratelimit-remaining')} ${headers.get('x-quota-remaining')}`)
  }
  t.strictSame(left.slice(0, 3), ['200 49 29', '200 48 28', '200 47 27'])
  t.strictSame(left.slice(29), ['200 20 0', '429 19 0', '429 18 0'])
})

t.test('decision 5: of many at once, exactly the minute and the month are answered, each place once', async t => {
  for (const plan of [
    { rate: 25, quota: null },
    { rate: 1_000, quota: 25 },
    { rate: 20, quota: 10 },
  ]) {
    const counted = await api.issue(plan)
    const answers = await Promise.all(Array.from({ length: 90 }, () => api.ask(counted.secret, EMPTY)))
    const good = answers.filter(({ status }) => status === 200)
    t.equal(good.length, Math.min(plan.rate, plan.quota ?? Infinity), JSON.stringify(plan))
    const header = plan.quota === null ? 'x-ratelimit-remaining' : 'x-quota-remaining'
    const places = good.map(({ headers }) => Number(headers.get(header))).sort((a, b) => a - b)
    t.strictSame(
      places,
      good.map((_, place) => place),
    )
    t.ok(answers.every(({ status, json }) => status === 200 || /^(rate_limit|quota)_exceeded$/.test(json.code)))
  }
})
