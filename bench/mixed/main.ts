import { mkdir, writeFile } from 'node:fs/promises'
import { loadavg } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import pg from 'pg'
import { openDataDirectory } from '../../infra/embedded/data-directory.ts'
import { type EmbeddedServers, startServers } from '../../infra/embedded/servers.ts'
import { COUNTRIES } from '../../shared/articles/article.ts'
import { readConfig } from '../../shared/config/config.ts'
import { createKey } from '../../shared/plans/keys.ts'
import type { BenchOptions } from '../main.ts'
import { buildArchive, copyArchive } from '../search/build.ts'
import { queryClasses } from '../search/classes.ts'
import { type LoggedRequest, pathOf, startApiProcess } from '../search/http/api.ts'
import { quantile } from '../search/measure.ts'
import { type Asker, startAsker, startWriter, type Writer } from './children.ts'
import { type Asking, KINDS, type Minute } from './messages.ts'
import { picture } from './picture.ts'
import { fillVectors } from './vectors.ts'

const ROWS = 1_000_000
const SECONDS = 3_600
/** Articles that have vectors, of the newest. */
const VECTORS = 50_000
const CONNECTIONS = 64
/** Seconds for which the limit is looked for; before, as many to warm up. */
const LIMIT_SECONDS = 60
/** Of the limit. */
const LOAD = 0.6
/** Articles a second that come in. */
const WRITTEN = 30

/** Requests that are told with what they waited for. */
const SLOWEST = 20

const say = (line: string) => void process.stderr.write(`${line}\n`)

/**
 * An hour as an API process has it: searches, polls, feeds, questions by meaning, at three fifths
 * of what it can do, while articles come in. Tells p99 of each kind by minute, memory and commits,
 * and draws them.
 *
 * @returns among others `flat_ratio`: the worst minute's p99 by the median minute's, of the worst
 * kind
 */
export async function run(options: BenchOptions): Promise<Record<string, number>> {
  const dataDir = await openDataDirectory(
    resolve(join(readConfig().DATA_DIR, 'bench-search')),
    'npm run bench -- mixed',
  )
  const servers = await startServers(dataDir, { report: say, signal: options.signal })
  try {
    const { DATABASE_URL: server = '', QDRANT_URL = '', EMBEDDINGS_URL = '' } = servers.addresses
    if (QDRANT_URL === '' || EMBEDDINGS_URL === '') throw new Error('This machine cannot run the embedded servers.')
    const rows = options.rows ?? ROWS
    const { url, archive } = await buildArchive(server, rows, options.signal)
    say('Copying the archive …')
    const copy = await copyArchive(server, url, 'mixed')
    try {
      const titles = archive.articles(rows - 256, rows).map(article => article.title)
      const config = readConfig({ ...servers.settings, DATABASE_URL: copy.url })
      await fillVectors(config, titles, Math.min(VECTORS, rows), say)
      return await measure({ options, rows, servers, dataDir, url: copy.url, archive })
    } finally {
      await copy.drop()
    }
  } finally {
    await servers.stop()
    dataDir.release()
  }
}

interface Place {
  options: BenchOptions
  rows: number
  servers: EmbeddedServers
  dataDir: Awaited<ReturnType<typeof openDataDirectory>>
  /** Of the copy. */
  url: string
  archive: Awaited<ReturnType<typeof buildArchive>>['archive']
}

async function measure({ options, rows, servers, dataDir, url, archive }: Place): Promise<Record<string, number>> {
  const { addresses, settings } = servers
  const env = Object.fromEntries(
    Object.entries({ ...addresses, ...settings, DATABASE_URL: url }).filter(([, value]) => value !== undefined),
  )
  const api = await startApiProcess(servers, dataDir, url, { env: { ...env, LOG_LEVEL: 'warn' } })
  const asker = await startAsker(options.signal)
  const writer = await startWriter(url, rows, options.signal)
  try {
    const asking = { ...(await questions(url, archive)), base: api.base, connections: CONNECTIONS }
    const { limit, from } = await findLimit(asker, writer, asking, rows, options.rate)
    const perSecond = options.rate ?? Math.floor(LOAD * limit)
    const seconds = options.seconds ?? SECONDS
    const job = { perSecond: WRITTEN, seconds, from }
    await writer.make(job)
    const newest = await withDatabase(url, newestOf)
    say(`${perSecond} requests/s and ${WRITTEN} articles/s for ${seconds} s …`)

    const memory: number[] = []
    const begun = await api.usage()
    await api.requests()
    const watch = setInterval(() => {
      api.usage().then(({ memory: now }) => memory.push(now), say)
    }, 60_000)
    const written = writer.write(job)
    const minutes = await asker.ask({ ...asking, newest, perSecond, seconds, seed: 3 }, tellMinute)
    clearInterval(watch)
    const { transactions, batches } = await written
    const ended = await api.usage()
    await draw(minutes, memory)
    const slow = (await api.requests()).filter(one => one.waited !== undefined)
    tellSlow(slow)
    say(`load ${loadavg()[0]!.toFixed(1)}`)
    return {
      rows,
      // With `--rate` it was not looked for.
      ...(options.rate === null ? { limit_per_s: Math.round(limit) } : {}),
      asked_per_s: perSecond,
      minutes: minutes.length,
      failures: sum(minutes.map(minute => minute.failures)),
      slow_requests: slow.length,
      ...figuresOf(minutes),
      cpu_ms: rounded(((ended.cpu - begun.cpu) * 1_000) / sum(minutes.map(minute => minute.requests))),
      rss_first_mb: rounded(memory[0] ?? begun.memory),
      rss_last_mb: rounded(ended.memory),
      commit_p95_ms: rounded(quantile(transactions, 0.95)),
      commit_worst_ms: rounded(quantile(transactions, 1)),
      batch_worst_ms: rounded(quantile(batches, 1)),
    }
  } finally {
    asker.end()
    writer.end()
    await api.stop()
  }
}

/**
 * The requests/s of clients that ask one request after the other, while articles come in and every
 * second question is new: both take a large part of what the machine can do.
 *
 * @param from number of the first article to write
 * @param rate requests/s; null: as many as the clients can ask
 * @returns also the number of the next one
 */
async function findLimit(asker: Asker, writer: Writer, asking: Omit<Asking, Load>, from: number, rate: number | null) {
  say(rate === null ? 'Looking for the limit …' : 'Warming up …')
  const rounds = rate === null ? [1, 2] : [1]
  const job = { perSecond: WRITTEN, seconds: rounds.length * LIMIT_SECONDS, from }
  await writer.make(job)
  const written = writer.write(job)
  let minutes: Minute[] = []
  for (const seed of rounds) minutes = await asker.ask({ ...asking, perSecond: rate, seconds: LIMIT_SECONDS, seed })
  const { articles } = await written
  return { limit: sum(minutes.map(minute => minute.requests)) / LIMIT_SECONDS, from: from + articles }
}

type Load = 'perSecond' | 'seconds' | 'seed'

/** The requests: first pages of all classes, words of the archive, and polls from its end on. */
function questions(url: string, archive: Place['archive']): Promise<Omit<Asking, 'base' | 'connections' | Load>> {
  return withDatabase(url, async database => {
    const { secret } = await createKey(database, 'bench', {
      countries: [...COUNTRIES],
      history: { kind: 'fixed', at: new Date('2000-01-01T00:00:00Z') },
      rate: 1_000_000_000,
      quota: null,
    })
    const searches = queryClasses(archive, 5).flatMap(one => one.queries.map(pathOf))
    return {
      key: secret,
      searches,
      feeds: searches.map(path => path.replace('/v1/articles?', '/v1/articles.rss?')),
      words: archive.vocabularies.nl.words.slice(200, 5_000),
      newest: await newestOf(database),
    }
  })
}

async function withDatabase<T>(url: string, work: (database: pg.Client) => Promise<T>): Promise<T> {
  const database = new pg.Client(url)
  await database.connect()
  try {
    return await work(database)
  } finally {
    await database.end()
  }
}

/** ISO 8601; ingestion time of the newest article. */
async function newestOf(database: pg.Client): Promise<string> {
  const { rows } = await database.query<{ newest: Date }>('select max(ingested_at) as newest from articles')
  return rows[0]!.newest.toISOString()
}

function tellMinute({ minute, requests, failures, times, slowest }: Minute): void {
  const kinds = KINDS.map(kind => `${kind} ${quantile(times[kind], 0.99).toFixed(1)}`).join(', ')
  const [worst] = slowest
  const late = worst ? `; longest ${worst.ms.toFixed(0)} ms: ${worst.kind} at ${worst.at}` : ''
  say(`minute ${minute}: ${requests} requests, ${failures} failed; p99 ${kinds} ms${late}`)
}

/** The slowest requests by the API's own log, with what they waited for. */
function tellSlow(slow: LoggedRequest[]): void {
  say(`${slow.length} requests were slow by the log of the API.`)
  for (const { ms, path, search, accessMs, waited = {} } of slow.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST)) {
    const waits = Object.entries({ access: accessMs, ...waited }).filter(([, long]) => long >= 1)
    const said = waits.map(([name, long]) => `${name} ${long.toFixed(0)}`).join(', ')
    say(`${ms.toFixed(0)} ms: ${path}, ${search}; waited for ${said}`)
  }
}

/** Of each kind: p50 and p99 of all, and how much worse than the median minute the worst was. */
function figuresOf(minutes: Minute[]): Record<string, number> {
  const figures: Record<string, number> = {}
  const whole = minutes.slice(0, -1).length > 0 ? minutes.slice(0, -1) : minutes
  let flat = 0
  for (const kind of KINDS) {
    const all = minutes.flatMap(minute => minute.times[kind])
    const byMinute = whole.map(minute => quantile(minute.times[kind], 0.99))
    const ratio = quantile(byMinute, 1) / quantile(byMinute, 0.5)
    flat = Math.max(flat, ratio)
    figures[`${kind}_p50_ms`] = rounded(quantile(all, 0.5))
    figures[`${kind}_p99_ms`] = rounded(quantile(all, 0.99))
    figures[`${kind}_worst_ms`] = rounded(quantile(all, 1))
    figures[`${kind}_worst_minute_ratio`] = rounded(ratio)
  }
  return { ...figures, flat_ratio: rounded(flat) }
}

async function draw(minutes: Minute[], memory: number[]): Promise<void> {
  const place = resolve(join(readConfig().DATA_DIR, 'bench-mixed'))
  await mkdir(place, { recursive: true })
  const lines = KINDS.map(kind => ({
    name: kind,
    values: minutes.map(({ times }) => (times[kind].length === 0 ? null : quantile(times[kind], 0.99))),
  }))
  const file = join(place, 'p99-by-minute.svg')
  await writeFile(file, picture('p99 of each kind of request, by minute', 'ms', lines))
  await writeFile(
    join(place, 'memory-by-minute.svg'),
    picture('Resident memory of the API process', 'MB', [{ name: 'memory', values: memory }]),
  )
  say(`The pictures are in ${dirname(file)}.`)
}

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)

const rounded = (value: number) => Math.round(value * 100) / 100
