import { fork } from 'node:child_process'
import { once } from 'node:events'
import { type ApiProcess, benchKey, withApi } from '#bench/api'
import { type Figures, quantile, quantiles, rounded, say } from '#bench/figures'
import {
  type Answer,
  type Asking,
  atSteadyRate,
  type Client,
  createClient,
  inTurn,
} from '#bench/load'
import type { BenchOptions } from '#bench/main'
import { type BuiltCorpus, buildCorpus } from '#bench/search/build'
import { createRandom, type Random } from '#bench/search/generator'
import { type Bench, inNewDatabase, withServers } from '#bench/servers'
import { fillVectors } from '#bench/vectors'
import { readConfig } from '#shared/config/config'
import { sourceOf } from '#shared/embeddings/embeddings'
import { RECIPE } from '#shared/embeddings/recipe'
import { openVectorStore } from '#shared/vectors/qdrant-store'
import { registerServing } from '#shared/vectors/registry'
import { withDatabase } from '#test/database'
import type { Written } from './writer.ts'

const ROWS = 1_000_000
const SECONDS = 3_600
/** The number of newest articles that have vectors. */
const VECTORS = 50_000
/** The number of subjects around which the vectors lie. */
const SUBJECTS = 256
const COLLECTION = 'mixed'
const CONNECTIONS = 64
/**
 * Seconds in which the bench finds out how many requests the API can answer. Before that, it warms
 * up for as long.
 */
const LIMIT_SECONDS = 60
/** The measured hour sends this share of the requests that the API can answer. */
const LOAD = 0.6
/** Articles that are written in a second. */
const WRITTEN = 30
const PATIENCE = 120_000
const MINUTE = 60_000

/**
 * Measures an hour of an API process, at three fifths of the requests that it can answer. Clients
 * search, poll, read feeds and ask by meaning, while articles are written. The figures are p99 of
 * each kind by minute, memory and commits.
 *
 * @returns among others `flat_ratio`. It is the p99 of the worst minute, divided by the p99 of the
 * median minute, for the kind of request with the largest such ratio
 */
export function run(options: BenchOptions): Promise<Figures> {
  return withServers('mixed', 'bench-search', options.signal, async bench => {
    const rows = options.rows ?? ROWS
    const built = await buildCorpus(bench.server, rows, options.signal)
    say('Copying the corpus …')
    return inNewDatabase(
      bench,
      `${new URL(built.url).pathname.slice(1)}_mixed`,
      built.url,
      async url => {
        await addVectors(bench, url, rows)
        const { addresses, settings } = bench.servers
        const env = { ...addresses, ...settings, DATABASE_URL: url, LOG_LEVEL: 'warn' }
        return withApi(bench, url, { env }, api => measure(api, { ...built, url }, options))
      },
    )
  })
}

/** Gives the newest articles vectors that lie around a number of subjects. */
export async function addVectors({ servers }: Bench, url: string, rows: number): Promise<void> {
  const config = readConfig({ ...servers.settings, DATABASE_URL: url })
  const { name: model, dimensions } = sourceOf(config).model
  if (dimensions === null) throw new Error(`The dimensions of ${model} are not known.`)
  const random = createRandom(9)
  // The vector gets a length of about 1, because the model's vectors have this length.
  const number = () => (random.next() - 0.5) * Math.sqrt(12 / dimensions)
  const vector = () => Array.from({ length: dimensions }, number)
  const subjects = Array.from({ length: SUBJECTS }, vector)
  const vectors = openVectorStore(config, PATIENCE)
  await vectors.drop(COLLECTION).catch(() => {})
  await vectors.ensure(COLLECTION, dimensions)
  await withDatabase(url, async database => {
    await registerServing(database, { name: COLLECTION, model, recipe: RECIPE, dimensions })
    await fillVectors(config, database, COLLECTION, subjects, Math.min(VECTORS, rows))
  })
}

async function measure(
  api: ApiProcess,
  copy: BuiltCorpus,
  options: BenchOptions,
): Promise<Figures> {
  const { url, rows, corpus, classes } = copy
  const { rate, signal } = options
  const key = await withDatabase(url, database => benchKey(database, null))
  const searches = classes.flatMap(one => one.queries.map(({ path }) => path))
  const words = corpus.vocabularies.nl.words.slice(200, 5_000)
  const ask = async (perSecond: number | null, seconds: number, seed: number) => {
    const newest = await withDatabase(url, async database => {
      const { rows } = await database.query('select max(ingested_at) as newest from articles')
      return rows[0].newest.toISOString()
    })
    const next = createRequests(searches, words, newest, seed)
    return askFor(createClient(api.base, key, CONNECTIONS), next, perSecond, seconds, signal)
  }

  // The bench finds the limit while articles are written and every second question is new, because
  // both use much of the machine. With `--rate`, it does not look for the limit.
  say(rate === null ? 'Looking for the limit …' : 'Warming up …')
  const warming = await startWriter(url, rows, rows, 2 * LIMIT_SECONDS, signal)
  await ask(rate, LIMIT_SECONDS, 1)
  const limit = (await ask(rate, LIMIT_SECONDS, 2)).requests / LIMIT_SECONDS
  const { articles } = await warming.result

  const seconds = options.seconds ?? SECONDS
  const perSecond = rate ?? Math.floor(LOAD * limit)
  const writer = await startWriter(url, rows, rows + articles, seconds, signal)
  say(`${perSecond} requests/s and ${WRITTEN} articles/s for ${seconds} s …`)
  const begun = await api.usage()
  await api.requests()
  const memory: number[] = []
  const watch = setInterval(() => api.usage().then(now => memory.push(now.memory), say), MINUTE)
  const answered = await ask(perSecond, seconds, 3).finally(() => clearInterval(watch))
  const { transactions, batches } = await writer.result
  const ended = await api.usage()
  return {
    rows,
    ...(rate === null && { limit_per_s: Math.round(limit) }),
    asked_per_s: perSecond,
    minutes: Math.max(...answered.times.values().map(minutes => minutes.length)),
    failures: answered.failures,
    slow_requests: (await api.requests()).filter(one => one.waited !== undefined).length,
    ...figuresOf(answered),
    cpu_ms: rounded(((ended.cpu - begun.cpu) * 1_000) / answered.requests),
    rss_first_mb: rounded(memory[0] ?? begun.memory),
    rss_last_mb: rounded(ended.memory),
    ...quantiles('commit_', transactions, [0.95]),
    commit_worst_ms: rounded(quantile(transactions, 1)),
    batch_worst_ms: rounded(quantile(batches, 1)),
  }
}

/**
 * Starts a process that writes articles for a number of seconds. Returns when that process has
 * begun to write.
 */
async function startWriter(
  url: string,
  rows: number,
  from: number,
  seconds: number,
  signal: AbortSignal,
) {
  const numbers = [rows, from, WRITTEN, seconds].map(String)
  const child = fork(new URL('./writer.ts', import.meta.url), [url, ...numbers], { signal })
  const ended = new AbortController()
  child.once('exit', () => ended.abort(new Error('The writer ended before it was done.')))
  await once(child, 'message', { signal: ended.signal })
  const result = once(child, 'message', { signal: ended.signal }).then(
    ([written]): Written => written,
  )
  return { result: result.finally(() => child.kill()) }
}

interface Answered {
  requests: number
  failures: number
  /** ms from when a request was due until its answer came, by kind and minute. */
  times: Map<Kind, number[][]>
}

/**
 * @param perSecond requests/s, sent also while earlier ones have no answer; null: each connection
 * sends its next request when it has an answer
 */
async function askFor(
  client: Client,
  next: () => NextRequest,
  perSecond: number | null,
  seconds: number,
  signal: AbortSignal,
): Promise<Answered> {
  const answered: Answered = {
    requests: 0,
    failures: 0,
    times: new Map(KINDS.map(kind => [kind, []])),
  }
  const begun = performance.now()
  const one = async (due: number) => {
    const { kind, read, ...request } = next()
    const answer = await client.ask(request)
    answered.requests++
    if (answer.status === 200 || answer.status === 304) {
      const minutes = answered.times.get(kind)!
      const minute = Math.floor((due - begun) / MINUTE)
      minutes[minute] ??= []
      minutes[minute].push(performance.now() - due)
      read(answer)
    } else answered.failures++
  }
  const until = AbortSignal.any([signal, AbortSignal.timeout(seconds * 1_000)])
  if (perSecond === null) await inTurn(CONNECTIONS, until, () => one(performance.now()))
  else await atSteadyRate(perSecond, until, one)
  await client.close()
  signal.throwIfAborted()
  return answered
}

/**
 * The figures of each kind of request: p50 and p99 of all requests, the worst request, and the p99
 * of the worst minute divided by that of the median minute.
 */
function figuresOf({ times }: Answered): Figures {
  const figures: Figures = { flat_ratio: 0 }
  for (const [kind, minutes] of times) {
    const all = minutes.flat()
    // The last minute is not complete, so it does not count.
    const byMinute = minutes
      .slice(0, Math.max(1, minutes.length - 1))
      .map(some => quantile(some, 0.99))
    say(`p99 of ${kind} by minute: ${byMinute.map(ms => ms.toFixed(1)).join(' ')} ms`)
    const ratio = rounded(quantile(byMinute, 1) / quantile(byMinute, 0.5))
    Object.assign(figures, quantiles(`${kind}_`, all, [0.5, 0.99]))
    figures[`${kind}_worst_ms`] = rounded(quantile(all, 1))
    figures[`${kind}_worst_minute_ratio`] = ratio
    figures.flat_ratio = Math.max(figures.flat_ratio!, ratio)
  }
  return figures
}

/** The kinds of requests, and what percentage of all requests each kind is. */
const SHARES = { search: 60, poll: 25, feed: 10, semantic: 5 } as const

type Kind = keyof typeof SHARES

const KINDS = Object.keys(SHARES) as Kind[]

/** The number of readers that poll. Each reader has its own position in the order of ingestion. */
const READERS = 200
/** This many questions are asked by many readers. All other questions are asked once. */
const POPULAR = 50

interface NextRequest extends Asking {
  kind: Kind
  /** The client hands the answer to this function. */
  read(answer: Answer): void
}

/**
 * Makes requests of all kinds at random.
 *
 * @param searches first pages of lists and searches by words
 * @param words words of which questions are made
 * @param newest ISO 8601; polls begin at this time
 * @param seed of the random choice. Each phase needs its own, or its questions would have been
 * asked before
 */
function createRequests(
  searches: string[],
  words: string[],
  newest: string,
  seed: number,
): () => NextRequest {
  const random = createRandom(seed)
  const readers = Array.from({ length: READERS }, () => ({ after: newest, etag: '' }))
  const question = (from: Random) => Array.from({ length: 6 }, () => from.one(words)).join(' ')
  // The popular questions are the same for every seed, as many readers ask them.
  const always = createRandom(5)
  const popular = Array.from({ length: POPULAR }, () => question(always))
  const hundred = KINDS.flatMap(kind => Array.from({ length: SHARES[kind] }, () => kind))
  const poll = (): NextRequest => {
    const reader = random.one(readers)
    const asked = {
      sort: 'ingested_at',
      order: 'asc',
      ingested_after: reader.after,
      per_page: '100',
    }
    return {
      kind: 'poll',
      path: `/v1/articles?${new URLSearchParams(asked)}`,
      headers: reader.etag === '' ? {} : { 'if-none-match': reader.etag },
      read({ status, etag, body }) {
        if (status === 304) return
        const last: string | undefined = JSON.parse(body.toString()).articles.at(-1)?.ingested_at
        reader.etag = last === undefined ? etag : ''
        reader.after = last ?? reader.after
      },
    }
  }
  const pathOf: Record<Exclude<Kind, 'poll'>, () => string> = {
    search: () => random.one(searches),
    feed: () => random.one(searches).replace('/v1/articles?', '/v1/articles.rss?'),
    semantic: () => {
      const q = random.chance(0.5) ? random.one(popular) : question(random)
      return `/v1/articles?${new URLSearchParams({ search: 'semantic', q })}`
    },
  }
  return () => {
    const kind = random.one(hundred)
    return kind === 'poll' ? poll() : { kind, path: pathOf[kind](), read() {} }
  }
}
