import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type ArticleQuery, openIndex, SEARCH_SETTINGS, type SearchIndex } from '../../search/index.ts'
import { createPool, type Pool } from '../../shared/postgres/pool.ts'
import { copyArchive } from './build.ts'
import type { QueryClass } from './classes.ts'
import { type Archive, createRandom } from './generator.ts'
import { quantile } from './measure.ts'

/** As many as the archive has, and at most so many. */
const MOST_ARTICLES = 100_000
/** Articles a second of an import that leaves the processors to searches, and how many it has. */
const RATE = 300
const GENTLE_ARTICLES = 15_000
/** Seconds of reading alone, and searches a second. */
const ALONE = 30
const PER_SECOND = 100
/** Articles generated at a time. */
const PART = 1_000

interface ImportBench {
  /** Address of a database on the server. */
  server: string
  /** Address of the archive; it stays as it is, a copy is written to. */
  url: string
  archive: Archive
  rows: number
  classes: QueryClass[]
  signal: AbortSignal
  say: (line: string) => void
}

/**
 * Measures `npm run import` of 100,000 articles of 2,000 characters with nobody reading, and
 * `npm run reindex` of the same articles. Then searches come at fixed moments: alone, beside an
 * import of 100,000 more, and beside one of 15,000 at 300 a second. Last, two clients ask without a
 * pause, alone and beside an import of 100,000. The time of an import ends with its last segment.
 */
export async function measureImport(bench: ImportBench): Promise<Record<string, number>> {
  const { archive, rows, signal, say } = bench
  const articles = Math.min(rows, MOST_ARTICLES)
  bench.say('Copying the archive …')
  const copy = await copyArchive(bench.server, bench.url, 'written')
  const folder = await mkdtemp(join(tmpdir(), 'perscope-import-'))
  await chmod(folder, 0o755)
  const pool = createPool(copy.url, 'bench', () => {}, { settings: SEARCH_SETTINGS })
  try {
    const file = join(folder, 'archive.ndjson')
    let from = rows
    /** Writes the next articles to the file. @returns imports them, and tells its seconds */
    const next = async (count: number, args: string[] = []) => {
      await writeArchive(archive, from, count, file)
      from += count
      return () => runImport(copy.url, file, signal, args)
    }
    const quiet = articles / (await (await next(articles))())
    say(`Nobody reading: ${quiet.toFixed(0)} articles/s`)
    const reindexed = await runReindex(copy.url, archive.end, signal)
    say(`Reindexed: ${reindexed.toFixed(0)} articles/s`)
    return {
      import_per_s: Math.round(quiet),
      reindex_per_s: Math.round(reindexed),
      ...(await measureBeside(bench, pool, articles, next)),
    }
  } finally {
    await pool.end()
    await rm(folder, { recursive: true, force: true })
    await copy.drop()
  }
}

/** Searches alone and beside imports. The process reads ahead, as an API does. */
async function measureBeside(
  { classes, signal, say }: ImportBench,
  pool: Pool,
  articles: number,
  next: (count: number, args?: string[]) => Promise<() => Promise<number>>,
): Promise<Record<string, number>> {
  const index = openIndex(pool)
  try {
    await index.warm()
    const queries = classes.flatMap(one => one.queries)
    for (const query of queries) await index.search(query)
    const steadily: Reading = until => readSteadily(index, queries, PER_SECOND, AbortSignal.any([signal, until]))
    const byClients: Reading = until => readFor(index, queries, Infinity, AbortSignal.any([signal, until]))

    const alone = await steadily(AbortSignal.timeout(ALONE * 1_000))
    const fast = await readDuring(steadily, await next(articles))
    const slow = await readDuring(steadily, await next(Math.min(articles, GENTLE_ARTICLES), ['--rate', `${RATE}`]))
    say('Two clients …')
    const clientsAlone = await byClients(AbortSignal.timeout(ALONE * 1_000))
    const clients = await readDuring(byClients, await next(articles))
    return {
      import_alone_p95_ms: rounded(quantile(alone, 0.95)),
      import_beside_per_s: Math.round(articles / fast.seconds),
      ...figuresOf('import_reading', fast.times, alone),
      ...figuresOf('import_rate', slow.times, alone),
      import_clients_per_s: Math.round(articles / clients.seconds),
      import_clients_alone_p95_ms: rounded(quantile(clientsAlone, 0.95)),
      ...figuresOf('import_clients', clients.times, clientsAlone),
    }
  } finally {
    await index.close()
  }
}

/** ms of each search until the signal. */
type Reading = (until: AbortSignal) => Promise<number[]>

/** Searches as long as an import runs; with its seconds. */
async function readDuring(read: Reading, runImport: () => Promise<number>) {
  const ended = new AbortController()
  const [seconds, times] = await Promise.all([runImport().finally(() => ended.abort()), read(ended.signal)])
  return { seconds, times }
}

function figuresOf(name: string, times: number[], alone: number[]): Record<string, number> {
  return {
    [`${name}_p50_ms`]: rounded(quantile(times, 0.5)),
    [`${name}_p95_ms`]: rounded(quantile(times, 0.95)),
    [`${name}_p99_ms`]: rounded(quantile(times, 0.99)),
    [`${name}_worst_ms`]: rounded(quantile(times, 1)),
    [`${name}_p95_ratio`]: rounded(quantile(times, 0.95) / quantile(alone, 0.95)),
  }
}

/** Writes the articles after the first `from` as lines for `import`. */
async function writeArchive(archive: Archive, from: number, articles: number, file: string): Promise<void> {
  const stream = createWriteStream(file)
  for (let at = from; at < from + articles; at += PART) {
    const lines = archive.articles(at, Math.min(at + PART, from + articles)).map(article =>
      JSON.stringify({
        ...{ url: article.url, title: article.title, body: article.body, authors: article.authors },
        ...{ published_at: article.publishedAt, ingested_at: article.ingestedAt, outlet: article.outlet },
        ...{ language: article.language, country: article.country },
      }),
    )
    if (!stream.write(`${lines.join('\n')}\n`)) await once(stream, 'drain')
  }
  stream.end()
  await once(stream, 'close')
}

/** @returns its seconds */
async function runImport(url: string, file: string, signal: AbortSignal, args: string[] = []): Promise<number> {
  return (await runScript(url, 'import', [file, ...args], signal)).seconds
}

/** Rebuilds the words of the articles published at a time or later. @returns how many a second */
async function runReindex(url: string, from: number, signal: AbortSignal): Promise<number> {
  const { seconds, output } = await runScript(url, 'reindex', ['--json', '--from', new Date(from).toJSON()], signal)
  const report: unknown = JSON.parse(output)
  const articles = typeof report === 'object' && report !== null && 'articles' in report ? report.articles : 0
  return Number(articles) / seconds
}

async function runScript(url: string, name: string, args: string[], signal: AbortSignal) {
  const start = performance.now()
  const script = new URL(`../../../scripts/${name}.ts`, import.meta.url).pathname
  const child = spawn(process.execPath, [script, ...args], {
    env: { ...process.env, DATABASE_URL: url, EMBED_DELAY: '2h' },
    stdio: ['ignore', 'pipe', 'inherit'],
    signal,
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`The ${name} ended with exit code ${code}.`)
  return { seconds: (performance.now() - start) / 1_000, output }
}

const rounded = (value: number) => Math.round(value * 100) / 100

/**
 * Searches at fixed moments until the signal, the queries at random but always in the same order.
 * A search that takes long delays none, so whatever holds up searches is measured in all that fall
 * due meanwhile.
 *
 * @returns ms of each search, from the moment when it was due
 */
async function readSteadily(
  index: SearchIndex,
  queries: ArticleQuery[],
  perSecond: number,
  signal: AbortSignal,
): Promise<number[]> {
  const times: number[] = []
  const asked: Promise<void>[] = []
  const random = createRandom(1)
  const start = performance.now()
  for (let number = 0; !signal.aborted; number++) {
    const due = start + (number * 1_000) / perSecond
    const wait = due - performance.now()
    if (wait > 0) await pause(wait, undefined, { signal }).catch(() => {})
    if (signal.aborted) break
    const search = async () => {
      await index.search(random.one(queries))
      times.push(performance.now() - due)
    }
    asked.push(search())
  }
  await Promise.all(asked)
  return times
}

const CLIENTS = 2

/** ms of each search of the clients, the queries at random but always in the same order. */
async function readFor(
  index: SearchIndex,
  queries: ArticleQuery[],
  seconds: number,
  signal: AbortSignal,
): Promise<number[]> {
  const times: number[] = []
  const end = performance.now() + seconds * 1_000
  const client = async (number: number) => {
    const random = createRandom(number)
    while (!signal.aborted && performance.now() < end) {
      const start = performance.now()
      await index.search(random.one(queries))
      times.push(performance.now() - start)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number + 1)))
  return times
}
