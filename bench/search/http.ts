import { availableParallelism } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { type ApiLoad, type ApiProcess, benchKey, withApi } from '#bench/api'
import { type Figures, quantile, quantiles, rounded } from '#bench/figures'
import { type Asking, createClient, timesOf } from '#bench/load'
import type { Queryable } from '#shared/postgres/pool'
import { withDatabase } from '#test/database'
import type { SearchBench } from './build.ts'
import type { Search } from './classes.ts'
import { shuffled } from './generator.ts'
import { withIndex } from './measure.ts'

const CONNECTIONS = [1, 8, 64]
const SECONDS = 20
const REQUESTS = 100_000
/** ms in which the process that started last warms up and begins to get connections. */
const SETTLING = 10_000

/** A running API, and what the bench asks it. */
interface Measured {
  api: ApiProcess
  key: string
  searches: Search[]
}

/**
 * Measures the API as its clients see it, in a process of its own. Requests have keys, limits and a
 * quota. They ask for the first pages of all classes, in the same order in every run. The API's own
 * share of a request is its time without the search and without `access`: the statements for key,
 * minute and month.
 *
 * @param requests after which the bench reads the memory
 */
export const measureHttp = (bench: SearchBench, requests: number | null): Promise<Figures> =>
  withDatabase(bench.url, async database => {
    const searches = shuffled(bench.classes.flatMap(one => one.queries))
    const withoutQuota = await benchKey(database, null)
    const key = await benchKey(database, 2_000_000_000)
    const figures: Figures = await withApi(bench, bench.url, {}, async api => {
      const free = { api, key: withoutQuota, searches }
      const counted = { api, key, searches }
      await api.load(key, searches, 4, { requests: searches.length })
      await api.requests()
      return {
        ...(await measureShare(free, 'no_quota')),
        ...(await measureShare(counted, 'quota')),
        cpu_search_ms: rounded(await searchCpu(bench.url, searches)),
        ...(await measureRates(counted, 'http', CONNECTIONS)),
        ...(await measureForms(counted)),
        ...(await measurePolls(free, 'polls_no_quota', database)),
        ...(await measurePolls(counted, 'polls_quota', database)),
        ...(await measureMemory(counted, requests ?? REQUESTS)),
        http_failures: api.failures(),
      }
    })
    for (const processes of new Set([1, 2, availableParallelism()])) {
      const measure = (api: ApiProcess) => measureProcesses({ api, key, searches }, processes)
      Object.assign(figures, await withApi(bench, bench.url, { processes }, measure))
    }
    return figures
  })

/** Measures over one connection the API's own share of each request, and its processor time. */
async function measureShare({ api, key, searches }: Measured, name: string): Promise<Figures> {
  const { cpu } = await api.load(key, searches, 1, { requests: searches.length })
  const logged = await api.requests()
  const own = logged.map(one => one.ms - one.searchMs - one.accessMs)
  const access = logged.map(one => one.accessMs)
  return {
    [`cpu_${name}_ms`]: rounded(cpu),
    ...quantiles(`own_${name}_`, own),
    ...quantiles(`access_${name}_`, access),
  }
}

/** ms of processor time of each of the same searches, when this process runs them. */
const searchCpu = (url: string, searches: Search[]): Promise<number> =>
  withIndex(url, async index => {
    for (const { query } of searches) await index.search(query)
    const before = process.cpuUsage()
    for (const { query } of searches) await index.search(query)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000 / searches.length
  })

/** Measures requests a second, their times and their processor time, by number of connections. */
async function measureRates(
  { api, key, searches }: Measured,
  name: string,
  connections: number[],
): Promise<Figures> {
  const figures: Figures = {}
  for (const number of connections) {
    const { perSecond, asked, cpu } = await api.load(key, searches, number, { seconds: SECONDS })
    figures[`${name}_${number}_per_s`] = rounded(perSecond)
    figures[`${name}_${number}_cpu_ms`] = rounded(cpu)
    Object.assign(figures, quantiles(`${name}_${number}_`, timesOf(asked)))
  }
  return figures
}

const FORMS = ['json', 'rss', 'json_br', 'rss_br', 'json_gzip', 'rss_gzip']
const ROUNDS = 3

/**
 * Compares JSON and RSS, with and without compression: requests a second, and processor time of a
 * request. The forms take turns, so that they all meet the same noise of the machine. In the first
 * round, nobody has asked for the pages in this form yet. In the other rounds, the API has kept
 * their bytes.
 */
async function measureForms({ api, key, searches }: Measured): Promise<Figures> {
  const rounds = new Map(FORMS.map(form => [form, [] as ApiLoad[]]))
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, seen] of rounds) {
      const [form, encoding] = name.split('_')
      const headers: Record<string, string> =
        encoding === undefined ? {} : { 'accept-encoding': encoding }
      const operation = form === 'rss' ? '/v1/articles.rss' : '/v1/articles'
      const own = searches.map(({ path }) => ({
        path: path.replace('/v1/articles', operation),
        headers,
      }))
      seen.push(await api.load(key, own, 8, { requests: own.length }))
    }
  }
  const figures: Figures = {}
  const middle = (values: number[]) => rounded(quantile(values, 0.5), 3)
  for (const [name, [first, ...kept]] of rounds) {
    figures[`${name}_first_cpu_ms`] = rounded(first!.cpu, 3)
    figures[`${name}_cpu_ms`] = middle(kept.map(one => one.cpu))
    figures[`${name}_per_s`] = middle(kept.map(one => one.perSecond))
  }
  // Divides RSS by JSON: the processor time, and the time between two answers.
  for (const suffix of ['', '_br', '_gzip']) {
    const ratio = (above: string, below: string) => rounded(figures[above]! / figures[below]!, 3)
    figures[`rss_by_json${suffix}_cpu`] = ratio(`rss${suffix}_cpu_ms`, `json${suffix}_cpu_ms`)
    figures[`rss_by_json${suffix}_time`] = ratio(`json${suffix}_per_s`, `rss${suffix}_per_s`)
  }
  return figures
}

/** ms after which the database's counters show everything that has happened. */
const COUNTED = 2_000
const POLL_SECONDS = 10

/**
 * Measures polls that find nothing new: empty pages after the newest article, and pages and feeds
 * that the client has. It measures their processor time and their statements, by number of
 * connections. When requests of a key come together, they share statements.
 */
async function measurePolls(
  { api, key }: Measured,
  name: string,
  database: Queryable,
): Promise<Figures> {
  const polls = await findPolls(api.base, key)
  const figures: Figures = {}
  for (const connections of CONNECTIONS) {
    const before = await statementsOf(database)
    const loaded = await api.load(key, polls, connections, { seconds: POLL_SECONDS }, [200, 304])
    const statements = ((await statementsOf(database)) - before) / loaded.asked.length
    figures[`${name}_${connections}_per_s`] = rounded(loaded.perSecond, 3)
    figures[`${name}_${connections}_cpu_ms`] = rounded(loaded.cpu, 3)
    figures[`${name}_${connections}_statements`] = rounded(statements, 3)
  }
  return figures
}

/** The number of statements in this database so far. Each statement is a transaction of its own. */
async function statementsOf(database: Queryable): Promise<number> {
  await pause(COUNTED)
  const { rows } = await database.query<{ commits: number }>(
    'select xact_commit::float8 as commits from pg_stat_database where datname = current_database()',
  )
  return rows[0]!.commits
}

async function findPolls(base: string, key: string): Promise<Asking[]> {
  const client = createClient(base, key)
  const first = await client.ask({ path: '/v1/articles?sort=ingested_at&per_page=1' })
  const newest: { articles: { ingested_at: string }[] } = JSON.parse(first.body.toString())
  const after = new Date(Date.parse(newest.articles[0]!.ingested_at) + 1).toISOString()
  const polls: Asking[] = ['', '&q=brug', '&country=NL'].map(more => ({
    path: `/v1/articles?sort=ingested_at&order=asc&ingested_after=${after}${more}`,
  }))
  for (const path of [
    '/v1/articles?country=NL',
    '/v1/articles?q=brug&per_page=100',
    '/v1/articles.rss?country=BE',
  ])
    polls.push({ path, headers: { 'if-none-match': (await client.ask({ path })).etag } })
  await client.close()
  return polls
}

/** MB of resident memory after a number of requests, and how much it grew in them. */
async function measureMemory({ api, key, searches }: Measured, requests: number): Promise<Figures> {
  const { memory: before } = await api.usage()
  await api.load(key, searches, 8, { requests })
  const { memory } = await api.usage()
  return { rss_mb: rounded(memory), rss_growth_mb: rounded(memory - before) }
}

/**
 * Measures several processes behind one port. The clients and Postgres share the cores with them.
 */
async function measureProcesses(measured: Measured, processes: number): Promise<Figures> {
  const { api, key, searches } = measured
  const name = `http_processes_${processes}`
  if (processes > 1) await pause(SETTLING)
  // Warms up: asks every path as often as there are processes.
  await api.load(key, searches, 4 * processes, { requests: searches.length * processes })
  const rates = await measureRates(measured, name, CONNECTIONS.slice(1))
  return { ...rates, [`${name}_mb`]: rounded((await api.usage()).memory) }
}
