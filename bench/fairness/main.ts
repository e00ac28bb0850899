import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { type ApiProcess, benchKey, withApi } from '#bench/api'
import { type Figures, quantile, rounded, say } from '#bench/figures'
import { atSteadyRate, createClient } from '#bench/load'
import type { BenchOptions } from '#bench/main'
import { addVectors } from '#bench/mixed/main'
import { type BuiltCorpus, buildCorpus } from '#bench/search/build'
import { type GeneratedCorpus, shuffled } from '#bench/search/generator'
import { type Bench, inNewDatabase, withServers } from '#bench/servers'
import { signed } from '#services/api/contract/cursor'
import { COUNTRIES } from '#shared/articles/article'
import { openCopyGroups } from '#shared/copies/pass'
import { keepSearch } from '#shared/desk/searches'
import { createKey } from '#shared/plans/keys'
import { createPool, loadSharedSecret } from '#shared/postgres/pool'
import { withDatabase } from '#test/database'
import type { Sent, SentLoad } from './sender.ts'

/*
 * One key never slows another. One key asks as much as its plan allows, over many connections. The
 * bench measures what another key, which asks a few searches a second, then waits for its answers.
 */

const ROWS = 15_000
/** Seconds of each load. */
const SECONDS = 60
/** The plan of the key that asks much: requests a minute. */
const RATE = 600
const CONNECTIONS = 32
const PROCESSES = 2
/** Searches a second of the other key. */
const OTHERS = 10
const KEPT_SEARCHES = 200
/** ms in which a key that is not measured sends each load first. */
const WARM_UP = 2_000

/** Every second article has the text of the one before it. */
const paired = (corpus: GeneratedCorpus): GeneratedCorpus => ({
  ...corpus,
  articles(from, to) {
    const articles = corpus.articles(from, to)
    return articles.map((one, at) =>
      at % 2 === 1
        ? { ...one, body: articles[at - 1]!.body, language: articles[at - 1]!.language }
        : one,
    )
  },
})

export function run({ rows, seconds, only, signal }: BenchOptions): Promise<Figures> {
  return withServers('fairness', 'bench-fairness', signal, async bench => {
    const built = await buildCorpus(bench.server, rows ?? ROWS, signal, undefined, paired)
    return inNewDatabase(bench, 'bench_fairness', built.url, async url => {
      const pool = createPool(url, 'bench', () => {})
      await openCopyGroups(pool)
        .pass(signal)
        .finally(() => pool.end())
      await addVectors(bench, url, built.rows)
      const { addresses, settings } = bench.servers
      const env = { ...addresses, ...settings, DATABASE_URL: url, LOG_LEVEL: 'warn' }
      return withApi(bench, url, { processes: PROCESSES, env }, api =>
        measure(api, { ...built, url }, bench, { seconds: seconds ?? SECONDS, only }),
      )
    })
  })
}

async function measure(
  { base }: ApiProcess,
  corpus: BuiltCorpus,
  { signal }: Bench,
  { seconds, only }: { seconds: number; only: string | null },
): Promise<Figures> {
  const searches = shuffled(corpus.classes.flatMap(one => one.queries.map(({ path }) => path)))
  const other = await withDatabase(corpus.url, database => benchKey(database, null))
  const client = createClient(base, other)

  /** ms that the other key waits for each of its searches. */
  const waits = async (): Promise<number[]> => {
    const times: number[] = []
    let at = 0
    await atSteadyRate(
      OTHERS,
      AbortSignal.any([signal, AbortSignal.timeout(seconds * 1_000)]),
      async due => {
        const { status } = await client.ask({ path: searches[at++ % searches.length]! })
        if (status !== 200) throw new Error(`The other key got ${status}.`)
        times.push(performance.now() - due)
      },
    )
    signal.throwIfAborted()
    return times
  }
  const figures: Figures = {}
  const note = (name: string, times: number[]) => {
    for (const part of [0.5, 0.99])
      figures[`${name}_p${part * 100}_ms`] = rounded(quantile(times, part))
  }
  await waits()
  const loads = Object.entries(loadsOf(corpus.corpus))
  const issue = () =>
    withDatabase(corpus.url, database => {
      const plan = { countries: [...COUNTRIES], history: ALL, rate: RATE, quota: null }
      return createKey(database, 'bench', plan)
    })
  const named = only?.split(',')
  for (const [name, load] of loads.filter(([name]) => named?.includes(name) ?? true)) {
    const { key, secret } = await issue()
    const requests = await load({ keyId: key.id, url: corpus.url })
    // A process loads the code of a request when it answers the first one.
    await sendAll(base, (await issue()).secret, requests, AbortSignal.timeout(WARM_UP))
    note(`${name}_alone`, await waits())
    const ended = new AbortController()
    const loading = sendAll(base, secret, requests, AbortSignal.any([signal, ended.signal]))
    note(name, await waits())
    ended.abort()
    const { good, refused } = await loading
    Object.assign(figures, { [`${name}_answers`]: good, [`${name}_refused`]: refused })
    const by = (part: string) =>
      rounded(figures[`${name}_${part}_ms`]! / figures[`${name}_alone_${part}_ms`]!)
    say(`${name}: median × ${by('p50')}, p99 × ${by('p99')}, ${good} answers`)
    figures[`${name}_p50_times`] = by('p50')
    figures[`${name}_p99_times`] = by('p99')
  }
  await client.close()
  return figures
}

const ALL = { kind: 'fixed', at: new Date('2000-01-01T00:00:00Z') } as const

/** Sends requests from a thread of its own, until the signal. */
async function sendAll(base: string, secret: string, requests: Sent[], until: AbortSignal) {
  // Many of the dearest requests at once would use up the minute before one is answered.
  const connections = Math.min(CONNECTIONS, requests.length)
  const workerData: SentLoad = { base, secret, requests, connections }
  const worker = new Worker(new URL('./sender.ts', import.meta.url), { workerData })
  until.addEventListener('abort', () => worker.postMessage('end'), { once: true })
  const [sent]: { good: number; refused: number }[] = await once(worker, 'message')
  return sent!
}

/** @param of the key that asks much */
type Load = (of: { keyId: string; url: string }) => Promise<Sent[]>

/** The loads: of each kind of request the dearest that the API lets through. */
function loadsOf({ vocabularies }: GeneratedCorpus): Record<string, Load> {
  const { nl, fr } = vocabularies
  const word = (at: number) => nl.words[60 + (at % 2_000)]!
  const get = (paths: string[]): Sent[] => paths.map(path => ({ method: 'GET', path }))
  const many = (make: (at: number) => string): Load => {
    const requests = get(Array.from({ length: RATE }, (_, at) => make(at)))
    return async () => requests
  }
  const near = (at: number, words: number) => {
    const side = (from: number) =>
      Array.from({ length: words }, (_, n) => `~${(n % 2 ? nl : fr).words[from + n]}`).join(' OR ')
    return `search=expression&q=${encodeURIComponent(`(${side(30 + at)}) NEAR/2 (${side(50 + at)})`)}`
  }
  return {
    searches: many(
      at => `/v1/articles?per_page=100&search_in=title_body&q=${word(at)}+${word(at + 7)}`,
    ),
    phrases: many(
      at =>
        `/explore/counts?by=country&search=boolean&search_in=title_body&q="${nl.words.slice(at % 50, 4 + (at % 50)).join('+')}"`,
    ),
    counts: many(
      at =>
        `/explore/counts?by=week&then=outlet&texts=true&q=${word(at)}&published_after=2026-09-01`,
    ),
    copies: many(at => `/explore/copies?per_page=100&q=${word(at)}`),
    expressions: many(
      at => `/explore/counts?by=day&published_after=2020-01-01&${near(at % 100, 1)}`,
    ),
    wide_expressions: many(
      at => `/explore/articles?${near(at % 100, 12)}&published_after=2026-06-01`,
    ),
    meaning: many(at => `/v1/articles?search=semantic&per_page=100&q=${word(at)}+${word(at + 3)}`),
    mcp: async () =>
      Array.from({ length: RATE }, (_, at) => ({
        method: 'POST' as const,
        path: '/mcp',
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: at,
          method: 'tools/call',
          params: { name: 'search_news', arguments: { q: word(at), per_page: 50 } },
        }),
      })),
    async new({ keyId, url }) {
      // The dearest mark is the oldest: it stands before all articles. One such request costs the
      // whole minute, so the searches are kept without requests.
      const pool = createPool(url, 'bench', () => {})
      const cursors = await loadSharedSecret(pool, 'cursor')
      const ids: string[] = []
      for (let at = 0; at < KEPT_SEARCHES; at++) {
        const kept = await keepSearch(pool, keyId, { name: `${at}`, search: near(at % 100, 2) })
        if (kept !== null) ids.push(kept.id)
      }
      await pool.end()
      const mark = signed(cursors, `mark ${keyId}`, Buffer.alloc(14))
      const body = JSON.stringify({ marks: Object.fromEntries(ids.map(id => [id, mark])) })
      return [{ method: 'POST', path: '/explore/searches/new', body }]
    },
  }
}
