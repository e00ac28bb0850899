import { isDeepStrictEqual } from 'node:util'
import t, { type Test } from 'tap'
import { makeSegments } from '#search/indexer'
import { addDomains } from '#search/removals'
import { followHistory } from '#services/api/standbys/history'
import { openStandbys, refusals, statements } from '#services/api/standbys/servers'
import { openCopyGroups } from '#shared/copies/pass'
import { createLogger } from '#shared/log/logger'
import { createPool, type Pool, transaction } from '#shared/postgres/pool'
import { clearRemoved, removeArticles } from '#shared/removals/remove'
import { ask, noSemanticSearch, sent, startTestApi, type TestApi } from '#test/contract/api'
import { PATIENT } from '#test/database'
import { until } from '#test/fleet'
import { newArticle, openTestWriter } from '#test/search/short-articles'
import { openDoor } from './door.ts'
import { startTestCluster, type TestPostgres, type TestStandby } from './servers.ts'

const cluster = await startTestCluster(2)
t.teardown(() => cluster.stop())
process.env.DATABASE_URL = cluster.url
process.env.TEST_SUPERUSER_URL = cluster.primary.in(cluster.url)
process.env.TEST_READ_URL = cluster.standbys.map(standby => standby.in(cluster.url)).join()
const first = cluster.standbys[0]!
const second = cluster.standbys[1]!

type Sums = Partial<Record<string, number>>

async function sums(): Promise<Sums> {
  const { values: ofServers } = await statements.get()
  const { values: ofReasons } = await refusals.get()
  return Object.fromEntries([
    ...ofServers.map(({ labels, value }) => [labels.server, value]),
    ...ofReasons.map(({ labels, value }) => [labels.reason, value]),
  ])
}

/**
 * How many statements each server answered meanwhile, and how many were refused for each reason.
 */
async function countsOf(work: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = await sums()
  await work()
  return Object.fromEntries(
    Object.entries(await sums()).map(([name, sum = 0]) => [name, sum - (before[name] ?? 0)]),
  )
}

async function withApi(
  t: Test,
  reach?: Parameters<typeof startTestApi>[3],
): Promise<{ api: TestApi; secret: string }> {
  const api = await startTestApi(t, { DATABASE_POOL: '4' }, noSemanticSearch, reach)
  const { secret } = await api.issue()
  await api.index(
    Array.from({ length: 20 }, (_, n) => ({
      title: `Een brug ${n}`,
      body: `Over brug ${n} en water`,
    })),
  )
  return { api, secret }
}

/** Titles of all articles, page by page. */
async function titlesOf(base: string, secret: string): Promise<string[]> {
  const titles: string[] = []
  for (let cursor = ''; ; ) {
    const answer = await ask(`${base}/v1/articles?q=brug&per_page=5${cursor}`, secret)
    if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`)
    titles.push(...answer.json.articles.map((one: { title: string }) => one.title))
    if (answer.json.next_cursor === null) return titles
    cursor = `&cursor=${answer.json.next_cursor}`
  }
}

/** The words for which a part stands, in their order. */
async function wordsOf(base: string, secret: string, part: string): Promise<string[]> {
  const { json } = await ask(`${base}/explore/words?part=${part}`, secret)
  return json.data.map(({ word }: { word: string }) => word).sort()
}

/**
 * Waits until a process that knows nothing yet reads from standbys.
 *
 * @param read what it is asked
 */
async function untilStandbysServe(
  api: TestApi,
  secret: string,
  read: (base: string, secret: string) => Promise<unknown> = titlesOf,
): Promise<void> {
  const isRead = async () => {
    const { standby } = await countsOf(async () => {
      const fresh = await api.another()
      await read(fresh.base, secret)
      await fresh.stop()
    })
    return standby! > 0
  }
  await until(isRead, 60_000, () => 'the standbys are not read')
}

/** Of the outlet of all articles. */
const DOMAIN = 'dagkoerier.example'
const BRIDGES = ['brug', 'brug0', 'brug1', 'brug2', 'brug3', 'brug4']

/** Takes the newest article out, and clears it. */
async function removeLast(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ seq: bigint; id: string }>(
    'select seq, id from articles order by seq desc limit 1',
  )
  await removeArticles(pool, rows, 'a court has ordered it')
  await clearRemoved(pool, [], new AbortController().signal)
}

type Act = (standby: TestStandby) => unknown
const losses: [what: string, reason: 'behind' | 'timeout' | null, lose: Act, find: Act][] = [
  ['lags', 'behind', standby => standby.lag(), standby => standby.catchUp()],
  ['is paused', 'timeout', standby => standby.pause(), standby => standby.resume()],
  ['dies', null, standby => standby.kill(), standby => standby.start()],
]
for (const [what, reason, lose, find] of losses) {
  t.test(
    `a standby that ${what} costs no request and no article, and is read again afterwards`,
    async t => {
      const { api, secret } = await withApi(t)
      await untilStandbysServe(api, secret)
      for (const standby of [first, second]) await lose(standby)
      const counts = await countsOf(async () => {
        await transaction(api.pool, client => addDomains(client, [DOMAIN, 'moved.example']))
        const { json } = await ask(`${api.base}/explore/articles?outlets=moved.example`, secret)
        t.equal(json.total_results, 20)
        for (let n = 0; n < 5; n++) {
          await api.index([{ title: `Stenen brug ${n}, brug${n}` }])
          t.equal((await titlesOf(api.base, secret)).length, 21 + n)
          t.same(await wordsOf(api.base, secret, 'brug*'), BRIDGES.slice(0, n + 2))
          if (n === 2) await makeSegments(api.pool, { flushed: 8n, merged: 16n })
        }
        await removeLast(api.pool)
        t.same(await wordsOf(api.base, secret, 'brug*'), BRIDGES.slice(0, 5))
      })
      if (reason !== null) t.ok(counts[reason]! > 0, JSON.stringify(counts))
      for (const standby of [first, second]) await find(standby)
      await untilStandbysServe(api, secret)
      await makeSegments(api.pool, { flushed: 1n, merged: 16n })
      await untilStandbysServe(api, secret, async base =>
        t.same(await wordsOf(base, secret, 'brug*'), BRIDGES.slice(0, 5)),
      )
    },
  )
}

t.test('a standby that shows a removal before the primary does is not read for it', async t => {
  const { api, secret } = await withApi(t)
  await makeSegments(api.pool, { flushed: 1n, merged: 64n })
  await untilStandbysServe(api, secret)
  const known = await api.another()
  const page = async (cursor = '') =>
    (await ask(`${known.base}/v1/articles?q=brug&per_page=5${cursor}`, secret)).json
  const before = await page()
  // Each connection to a standby sees that it has the state of before.
  await Promise.all(BRIDGES.map(word => wordsOf(known.base, secret, `${word}*`)))
  const [gone] = (
    await api.pool.query(
      `select seq, id from articles join article_texts using (seq) where title = 'Een brug 12'`,
    )
  ).rows
  // The commits of the API wait for no standby. The commit of this test waits for a standby that
  // does not exist.
  await cluster.primary.query(
    `alter role ${new URL(cluster.url).username} set synchronous_commit = 'local'`,
  )
  await cluster.primary.query(`alter system set synchronous_standby_names = 'nobody'`)
  await cluster.primary.query('select pg_reload_conf()')
  // The postmaster reads the setting, and then the checkpointer, which tells all others.
  const names = async () =>
    (await cluster.primary.query('show synchronous_standby_names'))[0]?.synchronous_standby_names
  await until(async () => (await names()) === 'nobody', 60_000)
  await cluster.primary.query('checkpoint')
  const versionOn = async (server: TestPostgres) =>
    String(
      (await server.query('select version from segments_version', api.config.DATABASE_URL))[0]
        ?.version,
    )
  const old = await versionOn(cluster.primary)
  const settings = { synchronous_commit: 'on' }
  const waiting = createPool(api.config.DATABASE_URL, 'test', () => {}, { ...PATIENT, settings })
  const pending = removeArticles(waiting, [gone], 'a court has ordered it')
  await until(
    async () => (await versionOn(first)) !== old && (await versionOn(second)) !== old,
    60_000,
  )
  t.equal(await versionOn(cluster.primary), old)
  const titles = (from: number) => Array.from({ length: 5 }, (_, n) => `Een brug ${from - n}`)
  const shown = (answer: { articles: { title: string }[] }) =>
    answer.articles.map(({ title }) => title)
  const meanwhile = await page(`&cursor=${before.next_cursor}`)
  t.same(shown(meanwhile), titles(14))
  t.same(shown(await page(`&cursor=${meanwhile.next_cursor}`)), titles(9))
  const isRefused = async () => {
    const { ahead } = await countsOf(async () => {
      const fresh = await api.another()
      t.equal((await titlesOf(fresh.base, secret)).length, 20)
      await fresh.stop()
    })
    return ahead! > 0
  }
  await until(isRefused, 60_000, () => 'no standby was ahead')

  await cluster.primary.query('alter system reset synchronous_standby_names')
  await cluster.primary.query('select pg_reload_conf()')
  await pending
  await waiting.end()
  await untilStandbysServe(api, secret)
})

t.test('a server of another timeline than the primary is not read', async t => {
  const { api, secret } = await withApi(t)
  await untilStandbysServe(api, secret)
  await second.promote()
  // It gives numbers to articles of its own from now on.
  const diverges = 'update ingest_clock set last_seq = last_seq + 100'
  await until(
    async () => (await second.query(diverges, api.config.DATABASE_URL)).length === 0,
    60_000,
  )
  await api.index([{ title: 'Nog een brug' }])
  const counts = await countsOf(async () => {
    const fresh = await api.another()
    t.equal((await titlesOf(fresh.base, secret)).length, 21)
  })
  t.ok(counts.foreign! > 0, JSON.stringify(counts))

  const url = api.config.DATABASE_URL
  const readFirst = async (primaryUrl: string) => {
    const history = followHistory(() => pool)
    const pool: Pool = createPool(primaryUrl, 'test', () => {}, {
      ...PATIENT,
      onConnect: one => history.look(one),
    })
    const standbys = openStandbys([first.in(url)], 2, history, createLogger('test', 'silent'))
    await pool.query('select 1')
    await until(() => history.current() !== null, 60_000)
    let rows: unknown[] | null = null
    const counts = await countsOf(async () => {
      const isAnswered = async () => {
        rows = await standbys.rows({ text: 'select count(*) from articles' }, { lastSeq: 20n })
        return rows !== null || ((await sums()).foreign ?? 0) > foreign
      }
      const { foreign = 0 } = await sums()
      await until(isAnswered, 60_000)
    })
    await standbys.close()
    await pool.end()
    return { rows, foreign: counts.foreign! > 0 }
  }
  t.same(await readFirst(url), { rows: [{ count: 21n }], foreign: false })
  // Seen from the promoted server it is `first` that follows an abandoned timeline.
  t.same(await readFirst(second.in(url)), { rows: null, foreign: true })
})

/** A text that is long enough to be compared. */
const textOf = (word: string) => Array.from({ length: 80 }, (_, n) => `${word}${n}`).join(' ')

t.test(
  'an API forgets what a failover undoes, and leaves a former primary that lives on',
  async t => {
    process.env.TEST_READ_URL = ''
    const door = await openDoor(() => new URL(cluster.current().url))
    t.teardown(() => door.close())
    const { api, secret } = await withApi(t, async url => door.to(url))
    const url = api.config.DATABASE_URL
    const history = followHistory(() => through)
    const through = createPool(door.to(url), 'test', () => {}, {
      ...PATIENT,
      onConnect: history.look,
    })
    const copies = openCopyGroups(through)
    const { signal } = new AbortController()
    /**
     * Writes ten articles with the same text, of which the first has many words besides, and a
     * segment of the first 24 of all.
     *
     * @param others how many of them have another text; another process finds their group
     */
    const write = async (word: string, others: number) => {
      const many = Array.from({ length: 2_600 }, (_, n) => `${word}kabel${n}`).join(' ')
      const pool = createPool(cluster.current().in(url), 'test', () => {}, PATIENT)
      const { indexer, write } = openTestWriter(pool, 3_600_000)
      const articles = Array.from({ length: 10 }, (_, n) =>
        newArticle(100 + n, {
          title: `${word} brug ${n}`,
          body: `${textOf(n < others ? 'ander' : 'woord')} ${n === 0 ? many : ''}`,
        }),
      )
      await write(articles.slice(0, others))
      await openCopyGroups(pool).pass(signal)
      await write(articles.slice(others))
      await copies.pass(signal)
      await makeSegments(pool, { flushed: 8n, merged: 24n })
      t.same((await pool.query('select last_seq as last from segments')).rows, [{ last: 24n }])
      await indexer.close()
      await pool.end()
    }
    const read = (path: string, init?: RequestInit) => ask(`${api.base}${path}`, secret, init)
    let cited = ''
    const told = async () => ({
      titles: (await titlesOf(api.base, secret)).filter(title => !title.startsWith('Een')).sort(),
      totals: await Promise.all(
        ['brug', 'houten', 'stenen'].map(
          async q => (await read(`/v1/articles?q=${q}`)).json.total_results,
        ),
      ),
      counts: await Promise.all(
        ['q=houten', 'q=brug&texts=true'].map(
          async q => (await read(`/explore/counts?by=country&${q}`)).json.total,
        ),
      ),
      feed: (await read('/v1/articles.rss?q=houten')).text.split('<item>').length - 1,
      citation: (await read(`${cited}.json`)).status,
      // The words of both histories would be more than a part may stand for.
      parts: (await read('/explore/words?part=*kabel*')).json.total,
    })
    const titles = (word: string) => Array.from({ length: 10 }, (_, n) => `${word} brug ${n}`)
    await copies.pass(signal)
    await first.catchUp()
    first.pause()
    await cluster.primary.query('select pg_terminate_backend(pid) from pg_stat_replication')
    await write('Houten', 0)
    cited = (await read('/explore/citations', sent('POST', { search: 'q=houten' }))).json.address
    t.same(await told(), {
      titles: titles('Houten'),
      totals: [30, 10, 0],
      counts: [10, 22],
      feed: 10,
      citation: 200,
      parts: 2_600,
    })
    await Promise.all(Array.from({ length: 8 }, told))
    const open = await through.connect()
    await open.query('begin')
    await cluster.failOver()
    await write('Stenen', 5)
    cluster.primary.resume()
    await t.rejects(open.query('commit'), 'a transaction does not end at the former primary')
    open.release()
    await through.end()
    // The door leads new connections to the new primary. The others still lead to the former one.
    const ofApi =
      "from pg_stat_activity where application_name ^@ 'perscope api' and datname = current_database()"
    t.ok((await cluster.primary.query(`select pid ${ofApi}`, url)).length > 1)
    await cluster.primary.query(`select pg_terminate_backend(pid) ${ofApi} limit 1`, url)
    const again = () => Promise.all(Array.from({ length: 8 }, () => told().catch(() => null)))
    const due = {
      titles: titles('Stenen'),
      totals: [30, 0, 10],
      counts: [0, 23],
      feed: 0,
      citation: 404,
      parts: 2_600,
    }
    await until(async () => isDeepStrictEqual((await again())[0], due), 60_000)
    for (let n = 0; n < 5; n++)
      t.same(
        new Set((await again()).map(one => JSON.stringify(one))),
        new Set([JSON.stringify(due)]),
      )
  },
)
