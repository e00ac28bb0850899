import t from 'tap'
import { countOf } from '#shared/postgres/pool'
import { type Door, openDoor } from '#test/standbys/door'
import { noSemanticSearch, startTestApi } from './api.ts'

let door: Door | undefined
/** The names of the prepared statements that ran; '' has no name. */
let names: string[] = []
// After the API, which is stopped first.
t.teardown(() => door?.close())
const api = await startTestApi(t, {}, noSemanticSearch, async url => {
  door = await openDoor(
    () => new URL(url),
    (_, name) => (names.push(name) > 0 ? 'pass' : 'cut'),
  )
  return door.to(url)
})
const { secret } = await api.issue()
await api.index(Array.from({ length: 5 }, (_, n) => ({ title: `Een brug ${n}` })))
const newest: string = (await api.ask(secret, '/v1/articles?sort=ingested_at&per_page=1')).json
  .articles[0].ingested_at
const later = new Date(Date.parse(newest) + 1).toISOString()
const EMPTY = `/v1/articles?sort=ingested_at&order=asc&ingested_after=${later}`

/** How often each prepared statement ran during some requests. */
async function statementsOf(ask: () => Promise<unknown>): Promise<Record<string, number>> {
  names = []
  await ask()
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

/** Statements that the process runs by itself now and then, for names and readiness. */
const FEW = 10
/** ms between two looks at the index that it makes by itself, however slow the machine is. */
const LOOK = 200
const POLLS = 60

/** Asks the same again and again, one after the other. */
async function poll(secret: string, path: string, init: RequestInit, status: number) {
  for (let n = 0; n < POLLS; n++) t.equal((await api.ask(secret, path, init)).status, status)
}

const tagOf = async (key: string, path: string) =>
  (await api.ask(key, path)).headers.get('etag') ?? ''

const usedOf = (keyId: string) =>
  countOf(api.pool, 'select used from quota_months where key_id = $1', [keyId])

for (const quota of [null, 1_000_000]) {
  t.test(`a poll with nothing new takes one statement, with a quota of ${quota}`, async t => {
    const { key, secret } = await api.issue({ quota })
    const tag = await tagOf(secret, '/v1/articles?q=brug')
    const feedTag = await tagOf(secret, '/v1/articles.rss')
    await api.ask(secret, EMPTY)
    let asked = 3
    const kinds: [path: string, init: RequestInit, status: number][] = [
      [EMPTY, {}, 200],
      ['/v1/articles?q=brug', { headers: { 'If-None-Match': tag } }, 304],
      ['/v1/articles.rss', { headers: { 'If-None-Match': feedTag } }, 304],
      ['/v1/articles?q=brug', {}, 200],
    ]
    for (const [path, init, status] of kinds) {
      const began = performance.now()
      const counts = await statementsOf(() => poll(secret, path, init, status))
      asked += POLLS
      const { admit, 'search-snapshot': looks = 0, 'search-ahead': ahead = 0, ...others } = counts
      t.equal(admit, POLLS, path)
      const most = 2 + (performance.now() - began) / LOOK
      t.ok(looks <= most && ahead <= most, `${path}: ${looks} looks, ${ahead} ahead`)
      const sum = Object.values(others).reduce((a, b) => a + b, 0)
      t.ok(sum < FEW && !('quota-charge' in others), `${path}: ${JSON.stringify(others)}`)
    }
    if (quota !== null) t.equal(await usedOf(key.id), asked, 'each answer is charged once')
  })
}

t.test('requests of one key that come together share statements', async t => {
  const { admit } = await statementsOf(() =>
    Promise.all(Array.from({ length: 40 }, () => api.ask(secret, EMPTY))),
  )
  t.ok(admit !== undefined && admit < 40, `${admit} statements for 40 requests`)
})

t.test(
  'decision 23: what was a poll with nothing new has the article at once when there is one',
  async t => {
    const old = await tagOf(secret, '/v1/articles.rss')
    t.equal((await api.ask(secret, EMPTY)).json.total_results, 0)
    const pages = ['/v1/articles?q=brug', '/explore/articles?q=brug&search=expression']
    for (const page of [...pages, ...pages, ...pages])
      t.equal((await api.ask(secret, page)).json.total_results, 5)
    await api.index([{ title: 'Nog een brug' }])
    const found = await api.ask(secret, EMPTY)
    const titles = found.json.articles.map(({ title }: { title: string }) => title)
    t.strictSame(titles, ['Nog een brug'])
    for (const page of pages) t.equal((await api.ask(secret, page)).json.total_results, 6)
    const feed = await api.ask(secret, '/v1/articles.rss', { headers: { 'If-None-Match': old } })
    t.equal(feed.status, 200)
    t.match(feed.text, /Nog een brug/)
  },
)
