import t from 'tap'
import { createKey } from '#shared/plans/keys'
import { countOf } from '#shared/postgres/pool'
import { until } from '#test/fleet'
import { createWorld } from '#test/semantic/world'
import { ask, PLAN } from './api.ts'

const world = await createWorld(t)
const { secret } = await createKey(world.pool, 'test', { ...PLAN, quota: 1_000 })

const words = ['water', 'brug', 'storm', 'kaas', 'fiets']
await world.index(
  Array.from({ length: 30 }, (_, n) => ({
    title: words.filter((_, bit) => (n + 1) & (1 << bit)).join(' '),
    publishedAt: n % 7 === 0 ? null : new Date(Date.UTC(2026, 0, 1 + (n % 4))),
  })),
)
const embedder = await world.fleet.start('embedder')
await world.embedded(30, 90_000)
// The vectors exist now, and the API needs no running embedder.
embedder.process.kill('SIGTERM')
await embedder.exited
const api = await world.fleet.start('api')
const get = (query: string) => ask(`${world.fleet.base()}/v1/articles?${query}`, secret)

t.test(
  'decision 28: a cursor outlives its set by five minutes; then it is expired, over HTTP',
  async t => {
    const query = 'search=semantic&q=water+brug&per_page=10'
    const first = await get(query)
    t.equal(first.status, 200)
    const follow = () => get(`${query}&cursor=${first.json.next_cursor}`)
    const second = await follow()
    t.equal(second.json.articles.length, 10)
    const age = (minutes: number) =>
      world.pool.query(
        `update semantic_sets set made_at = made_at - $1::float8 * interval '1 minute'`,
        [minutes],
      )
    await age(9.5)
    t.strictSame((await follow()).json, second.json)
    await age(0.5)
    const expired = await follow()
    t.equal(expired.status, 422)
    t.equal(expired.json.code, 'invalid_request')
    t.strictSame(expired.json.errors, { cursor: ['expired'] })
    t.equal(
      expired.headers.get('x-quota-remaining'),
      '997',
      'decision 5: it costs nothing of the month',
    )
    t.equal(
      (await get(query)).json.next_cursor,
      first.json.next_cursor,
      'decision 21: the same question begins anew',
    )
    t.strictSame((await follow()).json, second.json)
  },
)

t.test(
  'each new set removes some of those that no cursor can name any more, without an embedder',
  async t => {
    // As autovacuum may have left it: Postgres plans for one set.
    await world.pool.query(
      'delete from semantic_sets where ctid <> (select min(ctid) from semantic_sets)',
    )
    await world.pool.query('analyze semantic_sets')
    await world.pool.query(
      `insert into semantic_sets (set_id, question, made_at, seqs, relevances)
     select 'old ' || n, '\\x00'::bytea, now() - interval '1 hour', '{1}'::bigint[], '{1}'::smallint[] from generate_series(1, 50) n
     union all select 'recent', '\\x00', now() - interval '10 minutes', '{1}', '{1}'`,
    )
    const old = () =>
      countOf(world.pool, `select count(*)::int from semantic_sets where set_id like 'old %'`)
    for (const [q, expected] of [
      ['kaas brug', 30],
      ['kaas storm', 10],
      ['kaas fiets', 0],
    ] as const) {
      t.equal((await get(`search=semantic&q=${encodeURIComponent(q)}`)).status, 200)
      // The search does not wait for it.
      await until(async () => (await old()) === expected, 60_000)
      t.pass(q)
    }
    const recent = await world.pool.query(`select from semantic_sets where set_id = 'recent'`)
    t.equal(recent.rowCount, 1, 'what a cursor may still name stays')
  },
)

t.test('the contract, semantic: the feed has the same rows, and their relevance', async t => {
  const query = 'search=semantic&q=storm+kaas&per_page=7'
  const { json } = await get(query)
  const metrics = `http://127.0.0.1:${/"metrics":(\d+)/.exec(api.log())?.[1]}/metrics`
  const kept = async () =>
    Number(
      /search_cache_bytes\{cache="articles",kind="used"[^}]*\} (\d+)/.exec(
        (await ask(metrics, null)).text,
      )?.[1],
    )
  const before = await kept()
  const feed = await ask(`${world.fleet.base()}/v1/articles.rss?${query}`, secret)
  t.ok((await kept()) > before, 'the items count in the cache that keeps them')
  const found = [
    ...feed.text.matchAll(/<guid isPermaLink="false">([^<]+)<[\s\S]*?<pc:relevance>([^<]+)</g),
  ]
  t.strictSame(
    found.map(([, id, relevance]) => ({ id, relevance: Number(relevance) })),
    json.articles.map(({ id, relevance }: { id: string; relevance: number }) => ({
      id,
      relevance,
    })),
  )
})

t.test('counts of a semantic search are those of its pages', async t => {
  const count = (query: string) => ask(`${world.fleet.base()}/explore/counts?${query}`, secret)
  for (const filter of [
    '',
    '&published_after=2026-01-02',
    '&sort=ingested_at',
    '&language=nl',
    '&country=BE',
  ]) {
    const query = `search=semantic&q=water${filter}`
    const { total_results } = (await get(`${query}&per_page=1`)).json
    for (const by of ['hour', 'day', 'week', 'month', 'outlet', 'language', 'country']) {
      const { status, json } = await count(`${query}&by=${by}`)
      t.equal(status, 200, `${by} ${filter}`)
      t.equal(json.total, total_results, `${by} ${filter}`)
      const counted = json.data.reduce((sum: number, one: { count: number }) => sum + one.count, 0)
      t.equal(counted + json.other + json.undated, json.total, `${by} ${filter}`)
    }
  }
})

t.test('each text of a search by meaning is counted once, in its parts too', async t => {
  const count = async (query: string) =>
    (await ask(`${world.fleet.base()}/explore/counts?search=semantic&q=water&${query}`, secret))
      .json
  const articles = (await count('by=month')).total
  // Five articles have the text of the first one, as the pass over copies stores it.
  await world.pool.query(`
    with rows as (insert into copy_sketches (seq, id, day, first_seq) select seq, id, 0, 1 from articles where seq <= 6
                  on conflict (seq) do update set first_seq = 1 returning seq)
    update copies_state set version = version + 1, changed = version + 1, seq = 30 where (select count(*) from rows) = 6`)
  for (const then of ['', '&then=language', '&then=country', '&then=outlet']) {
    const { total, data, undated } = await count(`by=month&texts=true${then}`)
    t.equal(total, articles - 5, then)
    const counted = data.reduce((sum: number, one: { count: number }) => sum + one.count, undated)
    t.equal(counted, total, then)
  }
  await world.pool.query('delete from copy_sketches')
  await world.pool.query('update copies_state set version = version + 1, changed = version + 1')
})

t.test('counts of a search by meaning say how much has a vector so far', async t => {
  const counts = async () =>
    (await ask(`${world.fleet.base()}/explore/counts?search=semantic&q=kaas&by=country`, secret))
      .json
  t.same((await counts()).meaning, { found: 30, of: 30, waiting_from: null, near: null })
  await world.index([{ title: 'brug', publishedAt: new Date('2026-02-01T10:00:00Z') }], 3_600_000)
  const date = { publishedAt: new Date('2026-01-01T10:00:00Z') }
  await world.index([{ title: 'stil', rights: { bounded: false, vector: false }, ...date }])
  const [refused] = await world.index([{ title: 'stuk', ...date }], 3_600_000)
  await world.pool.query('update embeddings set failed_at = now() where seq = $1', [refused])
  const other = await world.fleet.start('api')
  const base = `http://127.0.0.1:${Number(/"port":(\d+),"msg":"listening"/.exec(other.log())?.[1])}`
  const { json } = await ask(`${base}/explore/counts?search=semantic&q=kaas&by=country`, secret)
  t.same(json.meaning, { found: 30, of: 33, waiting_from: '2026-02-01T10:00:00.000Z', near: null })
  const words = await ask(`${base}/explore/counts?q=kaas&by=country`, secret)
  t.notOk('meaning' in words.json, 'a search by words has no need of it')
})

t.test(
  'decision 8: other candidates have another ETag, so that a 304 leaves no dead cursor',
  async t => {
    const query = 'search=semantic&q=storm+fiets&per_page=3&country=NL'
    const first = await get(query)
    const etag = first.headers.get('etag') ?? ''
    const again = (path: string) =>
      ask(`${world.fleet.base()}/v1/${path}`, secret, { headers: { 'If-None-Match': etag } })
    t.equal((await again(`articles?${query}`)).status, 304)
    const feed = await ask(`${world.fleet.base()}/v1/articles.rss?${query}`, secret)
    // The plan's reach has a new candidate, which the request's own filter leaves out.
    await world.fleet.start('embedder')
    await world.index([{ title: 'kaas', country: 'BE' }])
    await world.embedded(31, 90_000)
    await world.pool.query(`update semantic_sets set made_at = made_at - interval '12 minutes'`)
    const other = await again(`articles?${query}`)
    t.equal(other.status, 200)
    t.strictSame(
      { ...other.json, next_cursor: '' },
      { ...first.json, next_cursor: '' },
      'though the page is the same',
    )
    t.equal((await get(`${query}&cursor=${first.json.next_cursor}`)).json.code, 'invalid_request')
    t.equal((await get(`${query}&cursor=${other.json.next_cursor}`)).status, 200)
    const feedAgain = await ask(`${world.fleet.base()}/v1/articles.rss?${query}`, secret)
    t.equal(
      feedAgain.headers.get('etag'),
      feed.headers.get('etag'),
      'a feed has no cursor (decision 30)',
    )
  },
)
