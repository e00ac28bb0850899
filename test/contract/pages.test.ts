import t from 'tap'
import { bindingOf, readCursor, writeCursor } from '#services/api/contract/cursor'
import { readRequest } from '#services/api/contract/request'
import { updateKey } from '#shared/plans/keys'
import { ask, startTestApi } from './api.ts'

const api = await startTestApi(t)
const { secret } = await api.issue()

const day = (n: number) => new Date(Date.UTC(2026, 0, 1 + Math.floor(n / 3)))
await api.index(
  Array.from({ length: 40 }, (_, i) => ({
    title: `${i % 2 ? 'De brug' : 'Le pont'} nummer ${i}`,
    body: 'Een tekst over water en bruggen.',
    publishedAt: i % 10 === 9 ? null : day(i), // three share each day, every tenth has none
    language: i % 2 ? ('nl' as const) : ('fr' as const),
    country: i % 4 === 0 ? ('BE' as const) : i % 4 === 1 ? ('LU' as const) : ('NL' as const),
    authors: i % 5 === 0 ? ['Anna de Wit', 'Zoë Müller'] : [],
  })),
)

/** The cursors of a sequence, in order. */
async function cursorsOf(query: string, base = api.base): Promise<string[]> {
  const cursors: string[] = []
  let cursor: string | null = ''
  do {
    const { status, json } = await ask(
      `${base}/v1/articles?${query}${cursor ? `&cursor=${cursor}` : ''}`,
      secret,
    )
    if (status !== 200) throw new Error(JSON.stringify(json))
    cursor = json.next_cursor
    if (cursor !== null) cursors.push(cursor)
  } while (cursor !== null)
  return cursors
}

t.test(
  'decision 22: next_cursor is null on the page that ends the set, also when it is full',
  async t => {
    const { json } = await api.ask(secret, '/v1/articles?per_page=40')
    t.equal(json.articles.length, 40)
    t.equal(json.next_cursor, null)
    t.equal((await cursorsOf('per_page=20')).length, 1)
  },
)

t.test(
  'decision 21: the same request has the same cursor, byte for byte, in every process',
  async t => {
    const other = await api.another()
    const query = 'q=brug&per_page=4&order=asc'
    const here = await cursorsOf(query)
    t.strictSame(await cursorsOf(query, other.base), here)
    t.ok(here.length > 3)
  },
)

t.test(
  'decision 21: a cursor goes on only with the parameters it came from, however they are written',
  async t => {
    const query = 'q=brug&country=NL,BE,LU&per_page=4&has_author=false&published_after=2026-01-01'
    const { json } = await api.ask(secret, `/v1/articles?${query}`)
    const cursor = json.next_cursor
    const follow = (other: string, from = cursor) =>
      api.ask(secret, `/v1/articles?cursor=${from}&${other}`)
    const expected = (await follow(query)).json.articles
    t.equal(expected.length, 4)
    for (const same of [
      'country=lu&country[]=BE&country=NL&q=brug&per_page=4&has_author=no&published_after=2026-01-01T00:00:00Z',
      'q=+brug+&country[]=NL,BE&country=LU&per_page=4&has_author=0&published_after=2026-01-01T01:00:00%2B01:00&sort=published_at',
      `${query}&search=KEYWORD&search_in=title&order=desc&language=`,
    ]) {
      t.strictSame((await follow(same)).json.articles, expected, same)
    }
    const none = ['x', `${cursor}x`, `B${cursor.slice(1)}`].map(bad => [query, bad])
    const changed = [
      query.replace('per_page=4', 'per_page=5'),
      query.replace('q=brug', 'q=bruggen'),
      query.replace('q=brug', 'q=Brug'),
      query.replace('country=NL,BE,LU', 'country=NL,BE'),
      query.replace('&country=NL,BE,LU', ''),
      query.replace('has_author=false', 'has_author=true'),
      query.replace('01-01', '01-02'),
      query.replace('&published_after=2026-01-01', ''),
      `${query}&order=asc`,
      `${query}&sort=ingested_at`,
      `${query}&search=boolean`,
      `${query}&search_in=title_body`,
      `${query}&language=nl`,
      `${query}&ingested_after=2026-01-01T00:00:00Z`,
      `${query}&published_before=2026-12-31`,
      `${query}&outlet=dag`,
      `${query}&author=a`,
    ].map(other => [other, cursor])
    for (const [other, from] of [...none, ...changed]) {
      const { status, json: error } = await follow(other, from)
      t.equal(status, 422, `${other} from ${from}`)
      t.equal(error.code, 'invalid_request')
      t.strictSame(Object.keys(error.errors), ['cursor'])
    }
  },
)

t.test('decision 21: bound to the reach, not to the key', async t => {
  const one = await api.issue({ countries: ['NL', 'BE'] })
  const twin = await api.issue({ countries: ['BE', 'NL'], rate: 77, quota: 9 })
  const wider = await api.issue({ countries: ['NL', 'BE', 'LU'] })
  const longer = await api.issue({
    countries: ['NL', 'BE'],
    history: { kind: 'fixed', at: new Date('2019-01-01') },
  })
  const { json } = await api.ask(one.secret, '/v1/articles?per_page=4')
  const follow = async (secret: string) =>
    (await api.ask(secret, `/v1/articles?per_page=4&cursor=${json.next_cursor}`)).status
  t.equal(await follow(twin.secret), 200)
  t.equal(await follow(wider.secret), 422)
  t.equal(await follow(longer.secret), 422)
  await updateKey(api.pool, one.key.id, { plan: { countries: ['NL'] } })
  await new Promise(resolve => setTimeout(resolve, 1_100))
  t.equal(await follow(one.secret), 422, 'a changed plan counts at once')
})

t.test('decision 8: a 304 leaves a good cursor, also after a change of plan', async t => {
  const { key, secret } = await api.issue({ countries: ['NL', 'BE'] })
  const path = '/v1/articles?country=NL&per_page=4'
  const first = await api.ask(secret, path)
  await updateKey(api.pool, key.id, { plan: { countries: ['NL', 'LU'] } })
  const headers = { 'If-None-Match': first.headers.get('etag') ?? '' }
  const again = await api.ask(secret, path, { headers })
  const cursor = again.status === 304 ? first.json.next_cursor : again.json.next_cursor
  t.equal((await api.ask(secret, `${path}&cursor=${cursor}`)).status, 200)
})

t.test(
  'decision 13: a rolling history starts at midnight, and a sequence keeps the bound it began with',
  async t => {
    const midnight = new Date()
    midnight.setUTCHours(0, 0, 0, 0)
    const start = new Date(midnight.getTime() - 30 * 86_400_000)
    await api.index(
      [-1, 0, 1, 2].map(hours => ({
        title: `rollend ${hours}`,
        publishedAt: new Date(start.getTime() + hours * 3_600_000),
      })),
    )
    const rolling = await api.issue({ history: { kind: 'rolling', days: 30 } })
    const titles = (json: { articles: { title: string }[] }) =>
      json.articles.map(article => article.title)
    const all = await api.ask(rolling.secret, '/v1/articles?q=rollend&order=asc')
    t.strictSame(titles(all.json), ['rollend 0', 'rollend 1', 'rollend 2'])

    const allowed = `published_after=${start.toISOString()}`
    const first = await api.ask(
      rolling.secret,
      `/v1/articles?q=rollend&order=asc&per_page=1&${allowed}`,
    )
    t.equal(first.status, 200, 'the start itself may be asked for')
    const before = new Date(start.getTime() - 1).toISOString()
    t.equal(
      (await api.ask(rolling.secret, `/v1/articles?published_after=${before}`)).json.code,
      'history_not_included',
    )
    const justBefore = before.replace('999Z', '9999Z')
    t.equal(
      (await api.ask(rolling.secret, `/v1/articles?published_after=${justBefore}`)).json.code,
      'history_not_included',
    )
  },
)

t.test('decision 13: midnight breaks no sequence: it keeps the bound it began with', async t => {
  const days = (n: number) => new Date(Math.floor(Date.now() / 86_400_000 - n) * 86_400_000)
  await api.index(
    [1, 2, 3].map(hour => ({
      title: `nachtelijk ${hour}`,
      publishedAt: new Date(days(10).getTime() + hour),
    })),
  )
  const plan = { countries: ['NL' as const], history: { kind: 'rolling' as const, days: 9 } }
  const rolling = await api.issue(plan)
  const query = `q=nachtelijk&order=asc&per_page=1&published_after=${days(10).toISOString()}`
  t.equal(
    (await api.ask(rolling.secret, `/v1/articles?${query}`)).json.code,
    'history_not_included',
    'today it is too early',
  )

  // The first page as of yesterday: it has the cursor of a plan that reaches one day further
  // today.
  const further = await api.issue({ ...plan, history: { kind: 'rolling', days: 10 } })
  const first = await api.ask(further.secret, `/v1/articles?${query}`)
  const { rows } = await api.pool.query("select value from secrets where name = 'cursor'")
  const request = readRequest(query, 'articles')
  const binding = (days: number) =>
    bindingOf(request, { ...plan, history: { kind: 'rolling', days }, rate: 1, quota: null })
  const cursor = readCursor(rows[0].value, binding(10), first.json.next_cursor)
  t.ok(cursor)
  const yesterdays = cursor && writeCursor(rows[0].value, binding(9), cursor)
  const second = await api.ask(rolling.secret, `/v1/articles?${query}&cursor=${yesterdays}`)
  t.equal(second.status, 200)
  const titles = second.json.articles.map((article: { title: string }) => article.title)
  t.strictSame(titles, ['nachtelijk 2'])
})
t.test('decision 13: a published_before that lies before the history is an empty 200', async t => {
  const { status, json } = await api.ask(secret, '/v1/articles?published_before=2019-12-31')
  t.equal(status, 200)
  t.strictSame(json, { status: 'ok', total_results: 0, next_cursor: null, articles: [] })
})

t.test('decision 22: what became visible later never shows in a sequence', async t => {
  const first = await api.ask(
    secret,
    '/v1/articles?q=water&search_in=title_body&per_page=5&order=asc',
  )
  await api.index([
    { title: 'Nieuw water', publishedAt: new Date('2026-01-01T12:00:00Z') },
    { title: 'Oud water', publishedAt: new Date('2021-01-01T12:00:00Z') },
    { title: 'Tijdloos water', publishedAt: null },
  ])
  const ids = new Set<string>(first.json.articles.map((article: { id: string }) => article.id))
  let cursor = first.json.next_cursor
  while (cursor) {
    const { json } = await api.ask(
      secret,
      `/v1/articles?q=water&search_in=title_body&per_page=5&order=asc&cursor=${cursor}`,
    )
    t.equal(json.total_results, first.json.total_results)
    for (const article of json.articles) {
      t.notMatch(article.title, /Nieuw|Oud|Tijdloos/)
      ids.add(article.id)
    }
    cursor = json.next_cursor
  }
  t.equal(ids.size, first.json.total_results)
})

t.test('decision 8: a 304 leaves a good cursor, also after a backup was restored', async t => {
  const path = '/v1/articles?per_page=4'
  const first = await api.ask(secret, path)
  await api.pool.query("delete from secrets where name = 'cursor'") // as a restore does
  const { base } = await api.another()
  const headers = { 'If-None-Match': first.headers.get('etag') ?? '' }
  t.equal((await ask(`${base}${path}`, secret, { headers })).status, 200)
})
