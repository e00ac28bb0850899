import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openIndex, SEARCH_SETTINGS } from '../../../search/index.ts'
import { createPool, type Pool } from '../../../shared/postgres/pool.ts'
import type { QueryClass } from '../classes.ts'
import { copyArchive } from '../copy.ts'
import type { Archive } from '../generator.ts'
import { quantile } from '../measure.ts'
import { readSteadily } from './steady.ts'

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

export interface ImportBench {
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
 * import of 100,000 more, and beside one of 15,000 that comes at 300 a second. The time of an
 * import ends with its last segment.
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
    await writeArchive(archive, rows, articles, file)
    const quiet = articles / (await runImport(copy.url, file, signal))
    say(`Nobody reading: ${quiet.toFixed(0)} articles/s`)
    const reindexed = await runReindex(copy.url, archive.end, signal)
    say(`Reindexed: ${reindexed.toFixed(0)} articles/s`)
    await writeArchive(archive, rows + articles, articles, file)
    const slowFile = join(folder, 'slow.ndjson')
    await writeArchive(archive, rows + 2 * articles, Math.min(articles, GENTLE_ARTICLES), slowFile)
    const { alone, beside, seconds, gently } = await readBeside(bench, pool, {
      fast: () => runImport(copy.url, file, signal),
      slow: () => runImport(copy.url, slowFile, signal, ['--rate', `${RATE}`]),
    })
    return {
      import_per_s: Math.round(quiet),
      reindex_per_s: Math.round(reindexed),
      import_beside_per_s: Math.round(articles / seconds),
      import_alone_p95_ms: rounded(quantile(alone, 0.95)),
      import_reading_p50_ms: rounded(quantile(beside, 0.5)),
      import_reading_p95_ms: rounded(quantile(beside, 0.95)),
      import_reading_p99_ms: rounded(quantile(beside, 0.99)),
      import_reading_worst_ms: rounded(Math.max(...beside)),
      import_p95_ratio: rounded(quantile(beside, 0.95) / quantile(alone, 0.95)),
      import_rate_p50_ms: rounded(quantile(gently, 0.5)),
      import_rate_p95_ms: rounded(quantile(gently, 0.95)),
      import_rate_p99_ms: rounded(quantile(gently, 0.99)),
      import_rate_worst_ms: rounded(Math.max(...gently)),
      import_rate_p95_ratio: rounded(quantile(gently, 0.95) / quantile(alone, 0.95)),
    }
  } finally {
    await pool.end()
    await rm(folder, { recursive: true, force: true })
    await copy.drop()
  }
}

/**
 * Searches alone, then beside a fast import, with its seconds, then beside a slow one. The process
 * reads ahead, as an API does.
 */
async function readBeside(
  { classes, signal }: ImportBench,
  pool: Pool,
  { fast, slow }: Record<'fast' | 'slow', () => Promise<number>>,
) {
  const index = openIndex(pool)
  try {
    await index.warm()
    const queries = classes.flatMap(one => one.queries)
    for (const query of queries) await index.search(query)
    const until = (ended: AbortSignal) => readSteadily(index, queries, PER_SECOND, AbortSignal.any([signal, ended]))
    const alone = await until(AbortSignal.timeout(ALONE * 1_000))
    const readDuring = (runImport: () => Promise<number>) => {
      const reading = new AbortController()
      return Promise.all([runImport().finally(() => reading.abort()), until(reading.signal)])
    }
    const [seconds, beside] = await readDuring(fast)
    const [, gently] = await readDuring(slow)
    return { alone, beside, seconds, gently }
  } finally {
    await index.close()
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
