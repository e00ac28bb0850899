import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { createKey } from '../../shared/plans/keys.ts'
import { createPool } from '../../shared/postgres/pool.ts'
import { PLAN } from '../contract/api.ts'
import { createTestDatabase, PATIENT } from '../database.ts'
import { createFindings, type Findings } from '../faults/findings.ts'
import { createOutages } from '../faults/outages.ts'
import { createRandom } from '../faults/random.ts'
import { type Client, createClient, type Page } from '../faults/readers/client.ts'
import { createPoller } from '../faults/readers/poller.ts'
import { until } from '../fleet.ts'
import { startWriters } from '../search/writers.ts'
import { startApis } from './apis.ts'
import { startTestCluster } from './servers.ts'

t.setTimeout(600_000)

const APIS = 3
/** ms of each fault, and of the time between two. */
const FAULT = 5_000
const WRITING = 7 * FAULT

const cluster = await startTestCluster(2)
t.teardown(() => cluster.stop())
process.env.DATABASE_URL = cluster.url
process.env.TEST_SUPERUSER_URL = cluster.primary.in(cluster.url)
const [first, second] = [cluster.standbys[0]!, cluster.standbys[1]!]

t.test('three APIs on two standbys: one lags, is paused, dies, and no client notices', async t => {
  const database = await createTestDatabase()
  const pool = createPool(database.url, 'test', () => {}, PATIENT)
  t.teardown(() => pool.end())
  const history = { kind: 'fixed' as const, at: new Date('1900-01-01T00:00:00Z') }
  const { secret } = await createKey(pool, 'test', { ...PLAN, history, rate: 1_000_000 })
  const apis = await startApis(APIS, {
    DATABASE_URL: database.url,
    DATABASE_READ_URL: cluster.standbys.map(standby => standby.in(database.url)).join(),
    // Everything is read anew.
    SEARCH_CACHE: '8MB',
  })
  t.teardown(() => apis.stop())

  const findings = createFindings(sentence => t.comment(sentence))
  const client = createClient(apis.bases, secret, createOutages(), findings)
  const poller = createPoller({
    ...{ name: 'a poller', client, apis: APIS, findings, keepsPlace: 'page' },
    random: createRandom(1, 'poller'),
  })
  const polling = poller.run()
  const ending = new AbortController()
  const reading = [walkAlways(client, findings, ending.signal), askNewest(client, findings, ending.signal)]
  const writers = startWriters(database.url, 2, WRITING)

  await pause(FAULT)
  await first.lag()
  await pause(FAULT)
  second.pause()
  await pause(FAULT)
  second.resume()
  await first.catchUp()
  await pause(FAULT)
  await first.kill()
  await pause(FAULT)
  await first.start()
  await writers.done

  const { rows } = await pool.query<{ id: string }>('select id from articles')
  await until(() => rows.every(({ id }) => poller.seen.has(id)), 60_000).catch(() => {})
  ending.abort()
  const walks = await Promise.all(reading)
  poller.stop()
  await polling
  t.equal(rows.filter(({ id }) => !poller.seen.has(id)).length, 0, 'the poller missed nothing')
  t.same(findings.sentences(), [])
  t.ok(
    walks.every(count => count > 3),
    `sequences and looks: ${walks}`,
  )
  const { primary, standby } = await apis.statements()
  t.ok(standby > 0 && primary > 0)
  const { asked, slowest } = client.counts
  t.comment(`${rows.length} articles, ${asked} requests, slowest ${slowest} ms, ${standby} statements on standbys`)
})

const api = (count: number) => count % APIS

/** Whether a sequence has all of its articles. Totals are counted up to 10,000 (decision 25). */
function isWhole(ids: string[], { total_results: total, total_results_is_estimate: isLeast }: Page): boolean {
  return isLeast ? ids.length >= total : ids.length === total
}

/** Reads sequences of pages, each page from another API. */
async function walkAlways(client: Client, findings: Findings, signal: AbortSignal): Promise<number> {
  let asked = 0
  let walks = 0
  while (!signal.aborted) {
    const query = new URLSearchParams({ per_page: '20', sort: walks % 2 === 0 ? 'published_at' : 'ingested_at' })
    const ids: string[] = []
    for (;;) {
      const page = await client.page(api(asked++), query)
      if (page === null) return walks
      ids.push(...page.articles.map(({ id }) => id))
      if (page.next_cursor === null) {
        if (new Set(ids).size !== ids.length) findings.add(`A sequence shows an article twice: ${ids}`)
        if (!isWhole(ids, page)) findings.add(`A sequence of ${page.total_results} has ${ids.length}.`)
        break
      }
      query.set('cursor', page.next_cursor)
      await pause(20)
    }
    walks++
  }
  return walks
}

/** Asks one API after another for the newest article: a first page is never older than the last. */
async function askNewest(client: Client, findings: Findings, signal: AbortSignal): Promise<number> {
  let latest = ''
  let total = 0
  let asked = 0
  while (!signal.aborted) {
    const page = await client.page(api(asked++), new URLSearchParams({ sort: 'ingested_at', per_page: '1' }))
    if (page === null) return asked
    const at = page.articles[0]?.ingested_at ?? ''
    if (at < latest || page.total_results < total) findings.add(`A first page of ${at} follows one of ${latest}.`)
    latest = at
    total = page.total_results
    await pause(10)
  }
  return asked
}
