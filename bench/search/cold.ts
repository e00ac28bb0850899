import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { type ApiProcess, benchKey, withApi } from '#bench/api'
import { type Figures, quantile, quantiles, rounded } from '#bench/figures'
import { type Asked, atSteadyRate, createClient, inTurn, timesOf } from '#bench/load'
import type { SearchIndex } from '#search/index'
import type { Pool } from '#shared/postgres/pool'
import { repeatEvery } from '#shared/process/repeat'
import { withDatabase } from '#test/database'
import { until } from '#test/fleet'
import type { SearchBench } from './build.ts'
import { hardClasses, type QueryClass, type Search } from './classes.ts'
import { shuffled } from './generator.ts'
import { timed, withIndex } from './measure.ts'

/**
 * Measures requests that nobody has sent before. It asks a process that has just started. Then it
 * asks the hardest queries that the contract allows, with words that nobody has asked for. Last, it
 * restarts two processes under load.
 */
export async function measureCold(bench: SearchBench): Promise<Figures> {
  return {
    ...(await measureStart(bench)),
    ...(await measureHard(bench)),
    ...(await measureRolling(bench)),
  }
}

const keyOf = ({ url }: SearchBench) => withDatabase(url, database => benchKey(database, null))
const searchesOf = (classes: QueryClass[]) => shuffled(classes.flatMap(one => one.queries))

const CONNECTIONS = 8
const MILLION = 1_000_000
/** Seconds that the bench watches from `settledAfter` on. */
const SECONDS = 7
const FIRST = 20

/**
 * Asks a process as soon as it says that it is ready, and again when it is warm.
 *
 * @param env settings of the process
 * @returns also the MB of memory of the process, when it is ready and at the end
 */
export async function measureStart(
  bench: SearchBench,
  env: Record<string, string> = {},
): Promise<Figures> {
  const { rows, classes } = bench
  // After this many seconds, a process must be as fast as a warm one.
  const settledAfter = rows > MILLION ? 10 : 5
  const searches = searchesOf(classes)
  const key = await keyOf(bench)
  return withApi(bench, bench.url, { env }, async api => {
    const ready = await api.usage()
    const start = performance.now()
    const first = await api.load(key, searches.slice(0, FIRST), 1, { requests: FIRST })
    const early = await api.load(key, searches, CONNECTIONS, { seconds: settledAfter + SECONDS })
    // Asks every query once, so that all words are in memory.
    await api.load(key, searches, CONNECTIONS, { requests: searches.length })
    const warm = await api.load(key, searches, CONNECTIONS, { seconds: settledAfter + SECONDS })
    const settled = early.asked.filter(one => one.at - start >= settledAfter * 1_000)
    const firstMs = timesOf(first.asked)
    return {
      cold_ready_ms: rounded(api.readyMs),
      cold_first_ms: rounded(firstMs[0] ?? 0),
      cold_first_worst_ms: rounded(Math.max(...firstMs)),
      settled_p95_ms: p95(settled),
      warm_p95_ms: p95(warm.asked),
      settled_after_s: settledAfter,
      settled_worst_ratio: worstRatio(classes, settled, warm.asked),
      start_failures: api.failures(),
      ready_rss_mb: rounded(ready.memory),
      warm_rss_mb: rounded((await api.usage()).memory),
    }
  })
}

const p95 = (asked: Asked[]) => rounded(quantile(timesOf(asked), 0.95))

/**
 * The p95 of the process divided by the p95 of a warm process, for the kind of match where this is
 * largest.
 */
function worstRatio(classes: QueryClass[], settled: Asked[], warm: Asked[]): number {
  const kinds = new Map(
    classes.flatMap(one => one.queries.map(({ path }) => [path, one.name.split(' · ')[0]!])),
  )
  const byKind = (asked: Asked[]) => Map.groupBy(asked, one => kinds.get(one.path)!)
  const later = byKind(warm)
  return rounded(
    Math.max(...[...byKind(settled)].map(([kind, own]) => p95(own) / p95(later.get(kind) ?? []))),
  )
}

/** Queries of each hard class. */
const QUERIES = 3

/**
 * Times hard queries whose words nobody has asked for. The index that answers them has no room for
 * posting lists, so that it reads the words each time. Another index keeps its lists.
 */
async function measureHard({ url, signal, corpus, classes }: SearchBench): Promise<Figures> {
  const light = classes.filter(one =>
    /^(listing|medium|rare) · .* · (first page|ascending)$/.test(one.name),
  )
  const beside = light.flatMap(one => one.queries)
  const all = {
    first: [] as number[],
    again: [] as number[],
    stall: [] as number[],
    statements: [] as number[],
  }
  const during: number[] = []
  let alone: number[] = []
  const measure = async (keeping: SearchIndex, forgetful: SearchIndex, pool: Pool) => {
    let statements = 0
    pool.on('acquire', () => void statements++)
    for (const index of [forgetful, keeping]) await index.warm(repeatEvery)
    for (const { query } of beside) await keeping.search(query)
    alone = await lightTimes(keeping, beside, pause(3_000))
    for (const { query } of hardClasses(corpus, QUERIES).flatMap(one => one.queries)) {
      signal.throwIfAborted()
      const before = statements
      const first = await stalled(() => forgetful.search(query))
      all.statements.push(statements - before)
      await keeping.search(query)
      all.again.push(await timed(() => keeping.search(query)))
      during.push(...(await lightTimes(keeping, beside, forgetful.search(query))))
      all.first.push(first.ms)
      all.stall.push(first.stallMs)
    }
  }
  await withIndex(url, keeping =>
    withIndex(url, (forgetful, pool) => measure(keeping, forgetful, pool), FORGETFUL),
  )
  return {
    ...quantiles('hard_first_', all.first),
    hard_first_worst_ms: rounded(Math.max(...all.first)),
    hard_again_worst_ms: rounded(Math.max(...all.again)),
    hard_stall_worst_ms: rounded(Math.max(...all.stall)),
    hard_statements_worst: Math.max(...all.statements),
    ...quantiles('light_', alone),
    ...quantiles('light_beside_hard_', during),
  }
}

const FORGETFUL = { postings: 1, verified: 1, counts: 1 }

/** Runs the work. Returns its ms, and the longest ms for which nothing else could run. */
async function stalled(work: () => Promise<unknown>): Promise<{ ms: number; stallMs: number }> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  // The histogram takes its first sample before the work begins.
  await pause(5)
  delay.reset()
  const ms = await timed(work)
  await pause(3)
  delay.disable()
  return { ms, stallMs: delay.max / 1e6 }
}

/** ms of light queries, one after the other, until a promise settles. */
async function lightTimes(index: SearchIndex, searches: Search[], until: Promise<unknown>) {
  const times: number[] = []
  const ended = new AbortController()
  const end = until.finally(() => ended.abort())
  await inTurn(1, ended.signal, async (_, turn) => {
    times.push(await timed(() => index.search(searches[turn % searches.length]!.query)))
  })
  await end
  return times
}

/** Requests a second. Two processes on two cores can answer them while a third one starts. */
const PER_SECOND = 100
const PROCESSES = 2
/** ms of load before the restart, and after it. */
const QUIET = 5_000
/** ms that the restart of all processes may take. */
const LIMIT = 240_000

/** Restarts the processes of an API under load, one after the other (SIGUSR2). */
async function measureRolling(bench: SearchBench): Promise<Figures> {
  const searches = searchesOf(bench.classes)
  const key = await keyOf(bench)
  return withApi(bench, bench.url, { processes: PROCESSES }, async api => {
    const client = createClient(api.base, key)
    // Both processes are warm before the load begins.
    await api.load(key, searches, 1, { requests: 2_000 })
    const asked: Asked[] = []
    const ended = new AbortController()
    const loaded = atSteadyRate(
      PER_SECOND,
      AbortSignal.any([bench.signal, ended.signal]),
      async at => {
        const { path } = searches[asked.length % searches.length]!
        const { status } = await client.ask({ path })
        asked.push({ path, at, ms: performance.now() - at, status })
      },
    )
    let from = 0
    let to = 0
    try {
      await pause(QUIET)
      from = performance.now()
      await replaceAll(api)
      to = performance.now()
      await pause(QUIET)
    } finally {
      ended.abort()
      await loaded
      await client.close()
    }
    const during = timesOf(asked.filter(one => one.at >= from && one.at <= to))
    const quiet = timesOf(asked.filter(one => one.at < from))
    return {
      rolling_seconds: rounded((to - from) / 1_000),
      rolling_requests: during.length,
      ...quantiles('rolling_quiet_', quiet, [0.99]),
      ...quantiles('rolling_', during, [0.5, 0.99]),
      rolling_worst_ms: rounded(Math.max(...during)),
      rolling_failures: asked.filter(one => one.status !== 200).length,
    }
  })
}

/** Restarts all processes except the primary, and waits until new ones have replaced them. */
async function replaceAll(api: ApiProcess): Promise<void> {
  const before = await api.starts()
  process.kill(api.pid(), 'SIGUSR2')
  await until(async () => {
    const now = await api.starts()
    return now.length === before.length && now.filter(one => before.includes(one)).length === 1
  }, LIMIT)
}
