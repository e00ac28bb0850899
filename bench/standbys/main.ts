import { loadavg } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { createPool } from '../../shared/postgres/pool.ts'
import { type Apis, startApis } from '../../test/standbys/apis.ts'
import { startTestCluster, type TestCluster } from '../../test/standbys/servers.ts'
import { postgresTime } from '../../test/standbys/usage.ts'
import type { BenchOptions } from '../main.ts'
import { buildArchive } from '../search/build.ts'
import { queryClasses } from '../search/classes.ts'
import { benchKey } from '../search/http/keys.ts'
import { type Load, load } from '../search/http/load.ts'
import { pathOf } from '../search/http/urls.ts'
import { quantile } from '../search/measure.ts'
import { shuffled } from '../search/shuffled.ts'

const ROWS = 50_000
const QUERIES = 5
/** Times that all queries are asked, in each part of the comparison. */
const ROUNDS = 3
const SECONDS = 20
const CONNECTIONS = 12
/** Caches so small that searches read their lists and articles from Postgres each time. */
const SMALL = {
  ...{ SEARCH_CACHE_POSTINGS: '1MB', SEARCH_CACHE_VERIFIED: '1MB' },
  ...{ SEARCH_CACHE_COUNTS: '1MB', SEARCH_CACHE_ARTICLES: '1MB' },
}

const say = (line: string) => void process.stderr.write(`${line}\n`)

/**
 * One API on the primary, then three on two standbys, with the same clients and queries, side by
 * side in one run; then what clients see while a standby lags, is paused and dies. All servers,
 * APIs and clients share the machine, so requests a second do not grow: the processor time of the
 * primary is what standbys save.
 */
export async function run({ rows, seconds, signal }: BenchOptions): Promise<Record<string, number>> {
  const cluster = await startTestCluster(2)
  try {
    const { url, archive } = await buildArchive(cluster.url, rows ?? ROWS, signal)
    for (const standby of cluster.standbys) await standby.catchUp()
    const paths = shuffled(queryClasses(archive, QUERIES).flatMap(one => one.queries.map(pathOf)))
    const pool = createPool(url, 'bench', () => {})
    const { secret } = await benchKey(pool, null)
    await pool.end()
    const bench: Bench = { cluster, url, paths, secret, seconds: seconds ?? SECONDS, signal }
    const figures: Record<string, number> = { rows: rows ?? ROWS }
    for (const [caches, env] of [
      ['small', SMALL],
      ['usual', {}],
    ] as const) {
      Object.assign(figures, await measure(bench, `one_${caches}`, 1, env))
      Object.assign(figures, await measure(bench, `three_${caches}`, 3, { ...env, ...standbysOf(bench) }))
    }
    Object.assign(figures, await measureFaults(bench))
    say(`load ${loadavg()[0]!.toFixed(1)}`)
    return figures
  } finally {
    await cluster.stop()
  }
}

interface Bench {
  cluster: TestCluster
  /** Address of the archive on the primary. */
  url: string
  paths: string[]
  secret: string
  seconds: number
  signal: AbortSignal
}

const standbysOf = ({ cluster, url }: Bench) => ({
  DATABASE_READ_URL: cluster.standbys.map(standby => standby.in(url)).join(),
})

type Until = { seconds: number } | { requests: number }

/** The same number of clients, spread over all APIs. */
async function askAll({ paths, secret, signal }: Bench, { bases }: Apis, until: Until) {
  const each = CONNECTIONS / bases.length
  const own = 'seconds' in until ? until : { requests: Math.ceil(until.requests / bases.length) }
  const loads = await Promise.all(bases.map(base => load(base, secret, paths, each, own, signal)))
  return {
    requests: sum(loads, one => one.requests),
    perSecond: sum(loads, one => one.perSecond),
    times: loads.flatMap(one => one.times),
    failures: sum(loads, one => one.failures),
  } satisfies Load
}

const sum = <T>(all: T[], of: (one: T) => number) => all.reduce((total, one) => total + of(one), 0)

/**
 * Requests a second, p95, and processor time of a request by server; and what it takes of the
 * primary to start an API and to ask it each query once.
 */
async function measure(bench: Bench, name: string, count: number, env: Record<string, string>) {
  const { cluster, url, paths } = bench
  const idle = postgresTime(cluster.primary.folder)
  const apis = await startApis(count, { DATABASE_URL: url, ...env })
  try {
    // Each process compiles its code and reads its lists first.
    await askAll(bench, apis, { requests: count * paths.length })
    const started = postgresTime(cluster.primary.folder)
    const usage = () => ({
      api: apis.cpu(),
      primary: postgresTime(cluster.primary.folder),
      standbys: sum(cluster.standbys, standby => postgresTime(standby.folder)),
    })
    const before = { ...usage(), read: await apis.statements() }
    const { requests, perSecond, times, failures } = await askAll(bench, apis, { requests: ROUNDS * paths.length })
    const after = { ...usage(), read: await apis.statements() }
    const each = (what: 'api' | 'primary' | 'standbys') => rounded(((after[what] - before[what]) * 1_000) / requests)
    const figures = {
      per_s: Math.round(perSecond),
      p95_ms: rounded(quantile(times, 0.95)),
      worst_ms: rounded(Math.max(...times)),
      start_primary_cpu_ms: Math.round(((started - idle) * 1_000) / count),
      api_cpu_ms: each('api'),
      primary_cpu_ms: each('primary'),
      standbys_cpu_ms: each('standbys'),
      standby_statements: after.read.standby - before.read.standby,
      primary_statements: after.read.primary - before.read.primary,
      failures,
    }
    say(`${name}: ${JSON.stringify(figures)}`)
    return named(name, figures)
  } finally {
    await apis.stop()
  }
}

/** Three APIs under load while one of two standbys lags, is paused and dies. */
async function measureFaults(bench: Bench): Promise<Record<string, number>> {
  const [standby] = bench.cluster.standbys
  const apis = await startApis(3, { DATABASE_URL: bench.url, ...SMALL, ...standbysOf(bench) })
  const figures: Record<string, number> = {}
  const during = async (name: string, begin: () => unknown, end: () => unknown) => {
    const asked = askAll(bench, apis, { seconds: bench.seconds })
    await pause(bench.seconds * 250)
    await begin()
    const { times, failures, requests } = await asked
    await end()
    const found = {
      requests,
      failures,
      p95_ms: rounded(quantile(times, 0.95)),
      p999_ms: rounded(quantile(times, 0.999)),
      worst_ms: rounded(Math.max(...times)),
    }
    say(`${name}: ${JSON.stringify(found)}`)
    if (failures > 0) say(apis.log().slice(-4_000))
    Object.assign(figures, named(name, found))
  }
  try {
    await askAll(bench, apis, { requests: 3 * bench.paths.length })
    await during(
      'undisturbed',
      () => {},
      () => {},
    )
    await during(
      'lag',
      () => standby!.lag(),
      () => standby!.catchUp(),
    )
    await during(
      'paused',
      () => standby!.pause(),
      () => standby!.resume(),
    )
    await during(
      'killed',
      () => standby!.kill(),
      () => standby!.start(),
    )
    return figures
  } finally {
    await apis.stop()
  }
}

const named = (name: string, figures: Record<string, number>) =>
  Object.fromEntries(Object.entries(figures).map(([figure, value]) => [`${name}_${figure}`, value]))

const rounded = (ms: number) => Math.round(ms * 100) / 100
