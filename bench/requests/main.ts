import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { request } from 'undici'
import { type ApiProcess, benchKey, withApi } from '#bench/api'
import { type Figures, quantile, quantiles, rounded, sum } from '#bench/figures'
import { createClient, type Load, load, timesOf } from '#bench/load'
import type { BenchOptions } from '#bench/main'
import { processes } from '#bench/processes'
import { buildCorpus, type SearchBench } from '#bench/search/build'
import { shuffled } from '#bench/search/generator'
import { type Bench, withServers } from '#bench/servers'
import { freePort } from '#infra/embedded/data-directory'
import { API_NODE_OPTIONS } from '#shared/process/node'
import { withDatabase } from '#test/database'
import type { RecordedAnswer } from './bare.ts'

const ROWS = 100_000
const CONNECTIONS = [8, 64]
const SECONDS = 8
/** The API and the bare handler take turns, so that both meet the same noise of the machine. */
const ROUNDS = 3
/** Headers that the connection decides, and not the handler. */
const OF_CONNECTION = ['connection', 'keep-alive', 'date', 'transfer-encoding']
const BARE = fileURLToPath(new URL('bare.ts', import.meta.url))

/**
 * Compares the API with a bare Express handler, which sends the same bytes with the same headers,
 * over the same connections. What lies above it is Perscope's own work: key, limits, quota, search,
 * answer, log and metrics.
 *
 * @returns requests a second, ms, and processor time of one request in the process that answers.
 *   `api_N_…` asks the same questions again, whose answers the API keeps; `new_N_…` asks each in a
 *   new spelling, so that a search finds its answer. `above_N_cpu_ms` and `above_new_N_cpu_ms` are
 *   the API's time without that of the bare handler
 */
export function run({ signal, ...options }: BenchOptions): Promise<Figures> {
  const measure = async (servers: Bench): Promise<Figures> => {
    const built = await buildCorpus(servers.server, options.rows ?? ROWS, signal)
    return measureRequests({ ...servers, ...built })
  }
  return withServers('requests', 'bench-search', signal, measure, ['postgres'])
}

/** A server, and how to read the ms of processor time that its process has used. */
interface Answering {
  base: string
  used: () => number
}

const measureRequests = (bench: SearchBench): Promise<Figures> =>
  withDatabase(bench.url, async database => {
    const key = await benchKey(database, 2_000_000_000)
    const paths = shuffled(bench.classes.flatMap(one => one.queries)).map(({ path }) => path)
    return withApi(bench, bench.url, {}, async api => {
      const own = { base: api.base, used: () => processorMs(api.pid()) }
      const answers = await recordAnswers(api, key, paths)
      return withBare(bench, answers, async bare => {
        const figures: Figures = { rows: bench.rows, paths: paths.length }
        for (const connections of CONNECTIONS)
          Object.assign(figures, await compare(own, bare, key, paths, connections, bench.signal))
        return figures
      })
    })
  })

const processorMs = (pid: number): number => sum(processes([pid]).map(one => one.ms))

/** Asks for each path twice, and keeps the second answer. */
async function recordAnswers(
  api: ApiProcess,
  key: string,
  paths: string[],
): Promise<Record<string, RecordedAnswer>> {
  const answers: Record<string, RecordedAnswer> = {}
  for (const path of [...paths, ...paths]) {
    const { statusCode, headers, body } = await request(api.base + path, {
      headers: { authorization: `Bearer ${key}` },
    })
    const kept = Object.entries(headers).filter(([name]) => !OF_CONNECTION.includes(name))
    answers[path] = {
      status: statusCode,
      headers: Object.fromEntries(kept.map(([name, value]) => [name, String(value)])),
      body: Buffer.from(await body.arrayBuffer()).toString('base64'),
    }
  }
  return answers
}

async function withBare<T>(
  { servers, dataDir }: Bench,
  answers: Record<string, RecordedAnswer>,
  work: (bare: Answering) => Promise<T>,
): Promise<T> {
  const file = join(dataDir.path, 'answers.json')
  await writeFile(file, JSON.stringify(answers))
  const port = await freePort()
  const base = `http://127.0.0.1:${port}`
  const supervised = await servers.supervise({
    name: 'The bare handler',
    cwd: dataDir.path,
    command: process.execPath,
    owner: null,
    log: join(dataDir.path, 'logs', 'bare.log'),
    args: [...API_NODE_OPTIONS, BARE, file, String(port)],
    env: { PATH: process.env.PATH, NODE_ENV: 'production' },
    isReady: async () => (await fetch(`${base}/readyz`)).ok,
    stop: [{ signal: 'SIGTERM', wait: 5_000 }],
    gentle: 'SIGTERM',
  })
  try {
    return await work({ base, used: () => processorMs(supervised.pid() ?? 0) })
  } finally {
    await supervised.stop()
  }
}

async function compare(
  own: Answering,
  bare: Answering,
  key: string,
  paths: string[],
  connections: number,
  signal: AbortSignal,
): Promise<Figures> {
  const figures: Figures = {}
  const seen = new Map<string, (Load & { cpu: number })[]>([
    ['api', []],
    ['new', []],
    ['bare', []],
  ])
  const again = paths.map(path => ({ path }))
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, { base, used }] of Object.entries({ api: own, new: own, bare })) {
      const client = createClient(base, key, connections)
      const requests = name === 'new' ? spelledAnew(paths, round) : again
      const before = used()
      const loaded = await load(client, requests, connections, { seconds: SECONDS }, signal)
      await client.close()
      // The first round warms both up.
      const cpu = (used() - before) / loaded.asked.length
      if (round > 0) seen.get(name)!.push({ ...loaded, cpu })
    }
  }
  for (const [name, loads] of seen) {
    const prefix = `${name}_${connections}_`
    figures[`${prefix}per_s`] = Math.round(
      quantile(
        loads.map(one => one.perSecond),
        0.5,
      ),
    )
    figures[`${prefix}cpu_ms`] = rounded(
      quantile(
        loads.map(one => one.cpu),
        0.5,
      ),
      4,
    )
    Object.assign(
      figures,
      quantiles(
        prefix,
        loads.flatMap(one => timesOf(one.asked)),
        [0.5, 0.95, 0.99],
      ),
    )
    figures[`${prefix}failures`] = sum(loads.map(one => one.failures))
  }
  const of = (name: string, figure: string) => figures[`${name}_${connections}_${figure}`]!
  const aboveBare = (name: string) => rounded(of(name, 'cpu_ms') - of('bare', 'cpu_ms'), 4)
  figures[`ratio_${connections}_per_s`] = rounded(of('api', 'per_s') / of('bare', 'per_s'), 3)
  figures[`above_${connections}_cpu_ms`] = aboveBare('api')
  figures[`above_new_${connections}_cpu_ms`] = aboveBare('new')
  return figures
}

/** In how many spellings a round has each question: more than a round can ask for. */
const SPELLINGS = 20

/** The same questions, each time in a spelling that the API has not seen: no answer is kept. */
const spelledAnew = (paths: string[], round: number): { path: string }[] =>
  Array.from({ length: SPELLINGS }, (_, at) => '&'.repeat(1 + round * SPELLINGS + at)).flatMap(
    more => paths.map(path => ({ path: `${path}${more}` })),
  )
