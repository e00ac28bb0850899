import t from 'tap'
import { readConfig } from '#shared/config/config'
import { readLag } from '#status/flow'
import { ask, startTestApi } from '#test/contract/api'
import { until } from '#test/fleet'

const KEY = 'a-key-for-operators-of-tests'
const api = await startTestApi(t, { OPERATOR_KEY: KEY, AUTH_LOCK_FAILURES: '3' })
const { secret } = await api.issue()
const basic = (password: string) => ({
  headers: { Authorization: `Basic ${Buffer.from(`anyone:${password}`).toString('base64')}` },
})

t.test(
  'without the key for operators their pages tell nothing, and ask a browser for it',
  async t => {
    for (const path of ['/status', '/status/figures', '/status/nothing']) {
      const none = await api.ask(null, path)
      t.equal(none.status, 401, path)
      t.equal(none.json.code, 'missing_token')
      t.match(none.headers.get('www-authenticate'), /^Basic realm=/)
    }
  },
)

t.test(
  'the key opens them as a Bearer token and as a password, and is refused everywhere else',
  async t => {
    t.equal((await api.ask(KEY, '/status')).status, 200)
    t.equal((await api.ask(null, '/status', basic(KEY))).status, 200)
    t.equal(
      (await api.ask(null, '/status', basic(''))).json.code,
      'missing_token',
      'a dialogue that was left empty',
    )
    t.equal((await api.ask(KEY, '/v1/articles')).json.code, 'invalid_token')
    t.equal(
      (await api.ask(secret, '/status')).json.code,
      'invalid_token',
      'nor does a client’s key open them',
    )
  },
)

t.test('wrong keys lock the address, what no person guesses locks nobody out', async t => {
  const other = await startTestApi(t, { OPERATOR_KEY: KEY, AUTH_LOCK_FAILURES: '3' })
  const image = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Dest': 'image' }
  const junk = ['Basic ?', 'Digest x', 'Bearer a b']
  for (let n = 0; n < 5; n++) {
    const headers = { ...basic(`wrong${n}`).headers, ...image }
    t.equal(
      (await other.ask(null, '/status', { headers })).json.code,
      'missing_token',
      'an image of another site',
    )
    const malformed = await other.ask(null, '/status', {
      headers: { Authorization: junk[n % 3] ?? '' },
    })
    t.equal(malformed.json.code, 'invalid_token')
    t.match(malformed.headers.get('www-authenticate'), /^Basic realm=/)
    const path = n % 2 === 0 ? '/feeds/x.rss' : `/feeds/psf_${'A'.repeat(43)}.atom`
    t.equal((await other.ask(null, path, { headers: image })).status, 404)
  }
  const right = { headers: { ...basic(KEY).headers, ...image } }
  t.equal((await other.ask(null, '/status', right)).status, 401, 'another site sees nothing')
  const link = { ...right.headers, 'Sec-Fetch-Dest': 'document' }
  t.equal(
    (await other.ask(null, '/status', { headers: link })).status,
    200,
    'a link that somebody follows',
  )
  const codes = []
  for (let n = 0; n < 5; n++)
    codes.push((await other.ask(null, '/status', basic(`wrong${n}`))).json.code)
  const locked = 'too_many_failed_attempts'
  t.strictSame(codes, ['invalid_token', 'invalid_token', 'invalid_token', locked, locked])
  t.equal((await other.ask(null, '/status', basic(KEY))).status, 200, 'the right one still works')
  t.equal((await other.ask('psk_wrong', '/v1/articles')).json.code, locked, 'one lock for both')
  const asked = await other.ask(null, '/status')
  t.equal(asked.status, 401)
  t.match(asked.headers.get('www-authenticate'), /^Basic realm=/)
})

t.test('nothing can be changed, and the page has files of its own', async t => {
  for (const method of ['POST', 'PUT', 'DELETE']) {
    const { status, headers } = await api.ask(KEY, '/status/figures', { method })
    t.equal(status, 405)
    t.equal(headers.get('allow'), 'GET, HEAD')
  }
  const { text, headers } = await api.ask(KEY, '/status')
  t.equal(headers.get('cache-control'), 'private, no-cache')
  t.equal(headers.get('x-powered-by'), null)
  const files = [...text.matchAll(/\/explore\/assets\/[\w.-]+/g)].map(([path]) => path)
  t.ok(files.length >= 2, 'a script and a style')
  const hasExplorer = files.some(path => path.includes('/explorer-'))
  t.notOk(hasExplorer, 'nothing of the page for people who search')
  for (const path of files) {
    t.equal((await api.ask(null, path)).status, 200, `${path} is the program, and holds no figure`)
  }
  t.equal((await api.ask(KEY, '/status/nothing')).status, 404)
})

t.test('the figures are those of the database', async t => {
  await insertOutlets()
  await insertPages()
  await indexArticles()
  await api.ask(secret, '/v1/articles')

  const fresh = await api.another()
  const { json } = await ask(`${fresh.base}/status/figures`, KEY)
  t.strictSame(json.unread, [])
  t.match(json.flow, {
    articles: 5,
    embedded: 1,
    embeddings: { promised: 2, due: 1, failed: 1 },
    pages: { waiting: 2, due: 1, stored: 1, failed: 2, resting: 0 },
  })
  t.ok(
    json.flow.pages.oldest >= 90 && json.flow.pages.oldest < 120,
    'age of the oldest stored page',
  )
  t.ok(
    json.flow.embeddings.oldest >= 300 && json.flow.embeddings.oldest < 330,
    'age of what is due',
  )
  t.strictSame(
    json.outlets.map((outlet: { domain: string; health: string }) => [
      outlet.domain,
      outlet.health,
    ]),
    [
      ['stuk.example', 'failing'],
      ['stil.example', 'silent'],
      ['goed.example', 'healthy'],
    ],
    'those in trouble first',
  )
  t.strictSame(
    json.quarantine.counts.map(({ kind, reason, n, ours }: Record<string, unknown>) => [
      kind,
      reason,
      n,
      ours,
    ]),
    [
      ['embedding', 'embedding', 1, true],
      ['page', 'server error', 1, false],
      ['page', 'timeout', 1, true],
    ],
  )
  t.equal(json.queues.embed.delayed, 2, 'what is promised is delayed work, as in `npm run status`')
  t.equal(json.running.requests, 1)
  t.equal(json.running.processes.crawler, 0)
  t.match(json.machines, {
    hosts: [{ api: 1, crawler: 0 }],
    postgres: { role: 'primary', mayLook: true, standbys: [], slots: [], archive: null },
    redis: null,
  })
  t.equal(json.running.processes.api, 1, 'one process with many connections')
  t.equal(json.lag.length, 24)
  // The hour may have ended since the articles came.
  const hourOf = (told: 'index' | 'vector') =>
    json.lag.findLast((hour: Record<string, unknown>) => hour[told] !== null)
  const now = hourOf('index')
  const embedded = hourOf('vector')
  t.equal(now.articles, 4, 'what came with an import says nothing about the crawl')
  t.ok(Math.abs(now.index.median - 3_600) < 60, 'an hour from publication to index')
  t.ok(
    Math.abs(now.index.p95 - 3_600) < 60,
    'the age of articles older than their outlet is no lag',
  )
  t.ok(embedded.vector.median >= 9 && embedded.vector.median < 60, 'from index to vector')
  await api.pool.query(`
    update articles set ingested_at = ingested_at - interval '5 hours' where seq = 1;
    update embeddings set due_at = now() where seq = 1`)
  const later = await readLag(api.pool, 7_200_000)
  const again = later.findLast(({ vector }) => vector !== null)!.vector!.median
  t.ok(Math.abs(again - 7_200) < 60, 'what lost its vector counts as if it had come anew')
  t.strictSame(json.missing, ['model'])
})

/** A silent, a failing and a healthy outlet. */
async function insertOutlets(): Promise<void> {
  await api.pool.query(
    `with o as (
       insert into outlets (domain, name, country, languages, time_zone, created_at)
       values ('stil.example', 'Stil', 'NL', '{nl}', 'Europe/Amsterdam', now() - interval '1 day'),
              ('stuk.example', 'Stuk', 'BE', '{nl}', 'Europe/Brussels', now() - interval '1 day'),
              ('goed.example', 'Goed', 'LU', '{fr}', 'Europe/Luxembourg', now() - interval '1 day') returning outlet_no, domain)
     insert into feeds (outlet_no, url, kind, host, last_success_at, last_new_at, failures, last_error)
     select outlet_no, 'https://' || domain, 'feed', domain, now(),
            now() - case domain when 'stil.example' then interval '30 days' else interval '1 hour' end,
            case domain when 'stuk.example' then 4 else 0 end, case domain when 'stuk.example' then 'answers 503' end
       from o`,
  )
}

/** Two pages that wait, two that failed, and one that has been stored for 90 seconds. */
async function insertPages(): Promise<void> {
  const insertPage = `
    insert into pages (outlet_no, url, crawl_key, host, state, reason, next_try_at, finished_at)
    select outlet_no, $1, $1, domain, $2, $3, now() + $4::interval, case when $2 = 'failed' then now() end
      from outlets where domain = 'goed.example' returning page_no`
  for (const page of [
    ['https://goed.example/1', 'waiting', null, '0'],
    ['https://goed.example/2', 'waiting', 'server error', '1 hour'],
    ['https://goed.example/3', 'failed', 'timeout', '0'],
    ['https://goed.example/4', 'failed', 'server error', '0'],
  ]) {
    await api.pool.query(insertPage, page)
  }
  const stored = await api.pool.query<{ page_no: bigint }>(insertPage, [
    'https://goed.example/5',
    'stored',
    null,
    '0',
  ])
  await api.pool.query(
    `insert into page_sources (page_no, final_url, status, fetched_at) values ($1, 'x', 200, now() - interval '90 s')`,
    [stored.rows[0]?.page_no],
  )
}

/** Three articles of pages (one embedded, one due, one that failed) and one of an import. */
async function indexArticles(): Promise<void> {
  const hourAgo = new Date(Date.now() - 3_600_000)
  await api.index(
    ['een', 'twee', 'drie'].map((title, at) => ({
      title,
      publishedAt: hourAgo,
      pageNo: BigInt(at + 1),
    })),
  )
  await api.index([{ title: 'uit een archief', publishedAt: new Date('2021-01-01') }])
  await api.index([
    {
      title: 'ouder dan de krant',
      publishedAt: new Date(Date.now() - 26 * 86_400_000),
      pageNo: 4n,
    },
  ])
  await api.pool.query(
    `update embeddings set embedded_at = now() + interval '10 s' where page_no = 1`,
  )
  await api.pool.query(
    `update embeddings set due_at = now() - interval '5 minutes' where page_no = 2`,
  )
  await api.pool.query(
    `update embeddings set failed_at = now(), error = 'too long' where page_no = 3`,
  )
}

t.test('many viewers cost one look at the database: figures are good for some seconds', async t => {
  const { base, pool } = await startTestApi(t, { OPERATOR_KEY: KEY })
  const read = async (): Promise<number> =>
    (await ask(`${base}/status/figures`, KEY)).json.flow.pages.waiting
  t.equal(await read(), 0)
  await pool.query(
    `insert into outlets (domain, name, country, languages, time_zone)
     values ('a.example', 'A', 'NL', '{nl}', 'Europe/Amsterdam')`,
  )
  let waiting = 0
  const addPage = () =>
    pool.query(
      `insert into pages (outlet_no, url, crawl_key, host) select outlet_no, $1, $1, 'a.example' from outlets`,
      [`x${waiting++}`],
    )
  // On a slow machine the seconds may be over before all have asked, so there are several rounds.
  let answers: number[] = []
  let seen = -1
  for (
    let round = 0;
    round < 30 && (round === 0 || answers.some(answer => answer !== seen));
    round++
  ) {
    seen = await read()
    await addPage()
    answers = await Promise.all(Array.from({ length: 40 }, read))
  }
  t.strictSame([...new Set(answers)], [seen])
  await until(async () => (await read()) === waiting, 60_000)
  t.pass('and then they are read again')
})

t.test(
  'without OPERATOR_KEY there are no such pages: a client is told so, nobody else anything',
  async t => {
    const plain = await startTestApi(t)
    const client = await plain.issue()
    t.equal((await plain.ask(null, '/status')).status, 401)
    const { status, json } = await plain.ask(client.secret, '/status')
    t.equal(status, 404)
    t.match(json.message, 'OPERATOR_KEY is not set')
  },
)

t.test(
  '/metrics on the port of the API is an unknown path; a client with a key learns where metrics are',
  async t => {
    t.equal((await api.ask(null, '/metrics')).json.code, 'missing_token')
    const { status, json } = await api.ask(secret, '/metrics')
    t.strictSame([status, json.code], [404, 'not_found'])
    t.match(json.message, 'METRICS_PORT')
  },
)

t.test('a key that can be guessed or sent by no browser stops the start', async t => {
  for (const key of ['short', 'spaces are not for headers at all', 'ünïcödé-ünïcödé-ünïcödé']) {
    t.throws(() => readConfig({ OPERATOR_KEY: key }), {
      message: /^OPERATOR_KEY cannot be used; write at least 24 /,
    })
  }
  t.throws(
    () => readConfig({ OPERATOR_KEY: 'short' }),
    { message: /^(?!.*short)/ },
    'it is not shown',
  )
})

t.test('the page is there, and says what is wrong, while the database is away', async t => {
  const gone = await startTestApi(t, { OPERATOR_KEY: KEY })
  const { rows } = await gone.pool.query<{ name: string }>('select current_database() as name')
  await api.pool.query(`alter database ${rows[0]?.name} with allow_connections false`)
  t.teardown(() => api.pool.query(`alter database ${rows[0]?.name} with allow_connections true`))
  await api.pool.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1',
    [rows[0]?.name],
  )
  t.equal((await ask(`${gone.base}/status`, null)).status, 401, 'the key is asked for')
  t.equal((await ask(`${gone.base}/status`, KEY)).status, 200)
  const { status, json } = await ask(`${gone.base}/status/figures`, KEY)
  t.equal(status, 200)
  t.equal(json.flow, null)
  t.ok(json.unread.includes('flow'))
  t.ok(json.missing.includes('postgres'))
})
