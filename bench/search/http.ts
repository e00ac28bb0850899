import { availableParallelism } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { openIndex, SEARCH_SETTINGS } from '../../search/index.ts'
import { createPool, type Pool } from '../../shared/postgres/pool.ts'
import { type ApiLoad, type ApiProcess, benchKey, deleteKeys, pathOf, startApi } from '../api.ts'
import { type Figures, quantile, quantiles, rounded, sayFigures } from '../figures.ts'
import { type Path, timesOf } from '../load.ts'
import type { SearchBench } from './build.ts'
import type { QueryClass } from './classes.ts'
import { shuffled } from './generator.ts'

const CONNECTIONS = [1, 8, 64]
const SECONDS = 20
const REQUESTS = 100_000
/** Memory is read after each of so many parts of the requests. */
const PARTS = 10

/** A running API with the requests that it is asked. */
interface Measured {
  api: ApiProcess
  /** Of the archive. */
  pool: Pool
  paths: string[]
  /** Counts the answers that were no success. */
  failed(loaded: ApiLoad): ApiLoad
}

/**
 * The API as its clients meet it: a process of its own, keys, limits and quota, and the first pages
 * of all classes in an order that is always the same. The API's own share of a request is its time
 * without the search and without the statements for the key, the minute and the month (`access`).
 *
 * @param requests over which memory is watched
 */
export async function measureHttp(bench: SearchBench, requests: number | null): Promise<Figures> {
  const { url, classes } = bench
  const pool = createPool(url, 'bench', () => {})
  const paths = shuffled(classes.flatMap(one => one.queries.map(pathOf)))
  const free = await benchKey(pool, null)
  const counted = await benchKey(pool, 2_000_000_000)
  let failures = 0
  const failed = (loaded: ApiLoad) => {
    failures += loaded.failures
    return loaded
  }
  const figures: Figures = {}
  const add = (what: string, found: Figures) => {
    sayFigures(what, found)
    Object.assign(figures, found)
  }
  try {
    const api = await startApi(bench, url)
    try {
      const measured = { api, pool, paths, failed }
      const warm = await api.load(counted.secret, paths, 4, { requests: paths.length })
      if (warm.failures > 0) throw new Error(`${warm.failures} requests failed; see logs/api.log.`)
      await api.requests()
      add('The own share, without a quota', await measureShare(measured, 'no_quota', free.secret))
      add('The own share, with a quota', await measureShare(measured, 'quota', counted.secret))
      add('A search alone', { cpu_search_ms: rounded(await searchCpu(url, classes)) })
      add('By connections', await measureRates(measured, counted.secret))
      add('By form', await measureForms(measured, counted.secret))
      add('Polls', await measurePolls(measured, 'polls_no_quota', free.secret))
      add('Polls with a quota', await measurePolls(measured, 'polls_quota', counted.secret))
      add('Memory', await measureMemory(measured, counted.secret, requests ?? REQUESTS))
    } finally {
      await api.stop()
    }
    for (const processes of new Set([1, 2, availableParallelism()])) {
      const several = await startApi(bench, url, { processes })
      const found = measureProcesses({ api: several, pool, paths, failed }, processes, counted.secret)
      add(`${processes} processes`, await found.finally(() => several.stop()))
    }
    return { ...figures, http_failures: failures }
  } finally {
    await deleteKeys(pool, [free.id, counted.id])
    await pool.end()
  }
}

/** The API's own share of each request, and its processor time, with one connection. */
async function measureShare({ api, paths }: Measured, name: string, key: string): Promise<Figures> {
  const { cpu } = await api.load(key, paths, 1, { requests: paths.length })
  const logged = await api.requests()
  const own = logged.map(one => one.ms - one.searchMs - one.accessMs)
  const access = logged.map(one => one.accessMs)
  return {
    [`cpu_${name}_ms`]: rounded(cpu),
    ...quantiles(`own_${name}_`, own),
    ...quantiles(`access_${name}_`, access),
  }
}

/** ms of processor time of each of the same searches, in this process. */
async function searchCpu(url: string, classes: QueryClass[]): Promise<number> {
  const pool = createPool(url, 'bench', () => {}, { settings: SEARCH_SETTINGS })
  const index = openIndex(pool)
  try {
    const queries = classes.flatMap(one => one.queries)
    for (const query of queries) await index.search(query)
    const before = process.cpuUsage()
    for (const query of queries) await index.search(query)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000 / queries.length
  } finally {
    await pool.end()
  }
}

/** Requests a second and their times, by number of connections. */
async function measureRates({ api, paths, failed }: Measured, key: string): Promise<Figures> {
  const figures: Figures = {}
  for (const connections of CONNECTIONS) {
    const { perSecond, asked } = failed(await api.load(key, paths, connections, { seconds: SECONDS }))
    figures[`http_${connections}_per_s`] = rounded(perSecond)
    Object.assign(figures, quantiles(`http_${connections}_`, timesOf(asked)))
  }
  return figures
}

const FORMS = ['json', 'rss', 'json_br', 'rss_br', 'json_gzip', 'rss_gzip']
const ROUNDS = 3

/**
 * JSON beside RSS, with and without compression: requests a second, and processor time of a
 * request. The forms take turns, so that the noise of the machine meets all. The first round is
 * that of pages that nobody asked for in this form yet; the others find their bytes kept.
 */
async function measureForms({ api, paths, failed }: Measured, key: string): Promise<Figures> {
  const rounds = new Map(FORMS.map(form => [form, [] as ApiLoad[]]))
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, seen] of rounds) {
      const [form, encoding] = name.split('_')
      const headers: Record<string, string> = encoding === undefined ? {} : { 'accept-encoding': encoding }
      const operation = form === 'rss' ? '/v1/articles.rss' : '/v1/articles'
      const own = paths.map(path => ({ path: path.replace('/v1/articles', operation), headers }))
      seen.push(failed(await api.load(key, own, 8, { requests: own.length })))
    }
  }
  const figures: Figures = {}
  const middle = (values: number[]) => rounded(quantile(values, 0.5), 3)
  for (const [name, [first, ...kept]] of rounds) {
    figures[`${name}_first_cpu_ms`] = rounded(first!.cpu, 3)
    figures[`${name}_cpu_ms`] = middle(kept.map(one => one.cpu))
    figures[`${name}_per_s`] = middle(kept.map(one => one.perSecond))
  }
  // RSS by JSON: of processor time, and of the time between two answers.
  for (const suffix of ['', '_br', '_gzip']) {
    const ratio = (above: string, below: string) => rounded(figures[above]! / figures[below]!, 3)
    figures[`rss_by_json${suffix}_cpu`] = ratio(`rss${suffix}_cpu_ms`, `json${suffix}_cpu_ms`)
    figures[`rss_by_json${suffix}_time`] = ratio(`json${suffix}_per_s`, `rss${suffix}_per_s`)
  }
  return figures
}

/** ms after which the database's counters show all that has happened. */
const COUNTED = 2_000
const POLL_SECONDS = 10

/**
 * Polls with nothing new: empty pages after the newest article, and pages and feeds that the client
 * has. Their processor time and their statements, by number of connections: requests of one key
 * that come together share statements.
 */
async function measurePolls({ api, pool, failed }: Measured, name: string, key: string): Promise<Figures> {
  const polls = await findPolls(api.base, key)
  const figures: Figures = {}
  for (const connections of CONNECTIONS) {
    const before = await statementsOf(pool)
    const loaded = failed(await api.load(key, polls, connections, { seconds: POLL_SECONDS }, [200, 304]))
    const statements = ((await statementsOf(pool)) - before) / loaded.asked.length
    figures[`${name}_${connections}_per_s`] = rounded(loaded.perSecond, 3)
    figures[`${name}_${connections}_cpu_ms`] = rounded(loaded.cpu, 3)
    figures[`${name}_${connections}_statements`] = rounded(statements, 3)
  }
  return figures
}

/** Statements of this database so far: each is a transaction of its own. */
async function statementsOf(pool: Pool): Promise<number> {
  await pause(COUNTED)
  const { rows } = await pool.query<{ commits: number }>(
    'select xact_commit::float8 as commits from pg_stat_database where datname = current_database()',
  )
  return rows[0]!.commits
}

async function findPolls(base: string, key: string): Promise<Path[]> {
  const ask = (path: string) => fetch(`${base}${path}`, { headers: { authorization: `Bearer ${key}` } })
  const first = await (await ask('/v1/articles?sort=ingested_at&per_page=1')).text()
  const newest: { articles: { ingested_at: string }[] } = JSON.parse(first)
  const after = new Date(Date.parse(newest.articles[0]!.ingested_at) + 1).toISOString()
  const empty = `/v1/articles?sort=ingested_at&order=asc&ingested_after=${after}`
  const kept = ['/v1/articles?country=NL', '/v1/articles?q=brug&per_page=100', '/v1/articles.rss?country=BE'].map(
    async path => ({ path, headers: { 'if-none-match': (await ask(path)).headers.get('etag') ?? '' } }),
  )
  return [empty, `${empty}&q=brug`, `${empty}&country=NL`, ...(await Promise.all(kept))]
}

/** Resident memory after so many requests, MB, and its growth. */
async function measureMemory({ api, paths, failed }: Measured, key: string, requests: number): Promise<Figures> {
  const { memory: before } = await api.usage()
  for (let part = 0; part < PARTS; part++)
    failed(await api.load(key, paths, 8, { requests: Math.ceil(requests / PARTS) }))
  const { memory } = await api.usage()
  return { rss_mb: rounded(memory), rss_growth_mb: rounded(memory - before) }
}

/** ms in which the last process reads ahead and gets connections. */
const SETTLING = 10_000
const PROCESSES_SECONDS = 15

/**
 * Requests a second, processor time of a request, and memory of so many processes behind the port.
 * The clients, and Postgres, share the cores with them.
 */
async function measureProcesses({ api, paths }: Measured, processes: number, key: string): Promise<Figures> {
  const figures: Figures = {}
  const name = `http_processes_${processes}`
  if (processes > 1) await pause(SETTLING)
  // Each process answers every path once.
  await api.load(key, paths, 4 * processes, { requests: paths.length * processes })
  for (const connections of CONNECTIONS.slice(1)) {
    const { perSecond, asked, cpu } = await api.load(key, paths, connections, { seconds: PROCESSES_SECONDS })
    figures[`${name}_${connections}_per_s`] = rounded(perSecond)
    Object.assign(figures, quantiles(`${name}_${connections}_`, timesOf(asked), [0.95]))
    figures[`${name}_${connections}_cpu_ms`] = rounded(cpu)
  }
  figures[`${name}_mb`] = rounded((await api.usage()).memory)
  return figures
}
