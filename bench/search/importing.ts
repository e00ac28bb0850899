import { createWriteStream } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Figures, quantile, quantiles, rounded, say } from '#bench/figures'
import { atSteadyRate, inTurn } from '#bench/load'
import { inNewDatabase } from '#bench/servers'
import { repeatEvery } from '#shared/process/repeat'
import { runScript } from '#test/fleet'
import type { SearchBench } from './build.ts'
import { createRandom, type GeneratedCorpus } from './generator.ts'
import { timed, withIndex } from './measure.ts'

/** An import has as many articles as the corpus, but not more than this. */
const MOST_ARTICLES = 100_000
/**
 * An import that leaves processor time to searches writes this many articles a second, and has at
 * most `GENTLE_ARTICLES`.
 */
const RATE = 300
const GENTLE_ARTICLES = 15_000
/** Seconds of searches without an import, and searches a second. */
const ALONE = 30
const PER_SECOND = 100
const CLIENTS = 2
/** Number of articles that are generated at a time. */
const PART = 1_000

/**
 * Writes the next articles to a file. @returns a function that imports them and returns the seconds
 */
type NextImport = (count: number, ...args: string[]) => Promise<() => Promise<number>>

/**
 * Measures imports, with searches beside them and without.
 * - First, nobody searches. It times `npm run import`, and `npm run reindex` of the same articles.
 * - Then searches come at fixed moments: without an import, beside an import, and beside a slow
 *   import.
 * - Last, two clients search without a pause: without an import, and beside one.
 *
 * The time of an import ends when its last segment is written.
 */
export async function measureImport(bench: SearchBench): Promise<Figures> {
  const { corpus, rows } = bench
  const articles = Math.min(rows, MOST_ARTICLES)
  const folder = await mkdtemp(join(tmpdir(), 'perscope-import-'))
  await chmod(folder, 0o755)
  say('Copying the corpus …')
  const measured = inNewDatabase(
    bench,
    `${new URL(bench.url).pathname.slice(1)}_written`,
    bench.url,
    async url => {
      const env = { ...process.env, DATABASE_URL: url, EMBED_DELAY: '2h' }
      const file = join(folder, 'corpus.ndjson')
      let from = rows
      const next: NextImport = async (count, ...args) => {
        await pipeline(Readable.from(linesOf(corpus, from, count)), createWriteStream(file))
        from += count
        return async () => (await timed(() => runScript(env, 'import', file, ...args))) / 1_000
      }
      const seconds = await (await next(articles))()
      const start = performance.now()
      const output = await runScript(
        env,
        'reindex',
        '--json',
        '--from',
        new Date(corpus.end).toJSON(),
      )
      const reindexed: { articles?: number } = JSON.parse(output)
      return {
        import_per_s: Math.round(articles / seconds),
        reindex_per_s: Math.round(
          ((reindexed.articles ?? 0) * 1_000) / (performance.now() - start),
        ),
        ...(await measureBeside(bench, url, articles, next)),
      }
    },
  )
  return measured.finally(() => rm(folder, { recursive: true, force: true }))
}

/**
 * Measures searches without an import and beside imports. This process warms up, as an API does.
 */
const measureBeside = (
  { classes, signal }: SearchBench,
  url: string,
  articles: number,
  next: NextImport,
) =>
  withIndex(url, async (index): Promise<Figures> => {
    await index.warm(repeatEvery)
    const searches = classes.flatMap(one => one.queries)
    for (const { query } of searches) await index.search(query)
    /** ms of each search until the signal, from the moment when the search was due. */
    const read = async (until: AbortSignal, steadily: boolean) => {
      const times: number[] = []
      const random = createRandom(1)
      const search = async (due = performance.now()) => {
        await index.search(random.one(searches).query)
        times.push(performance.now() - due)
      }
      const ended = AbortSignal.any([signal, until])
      if (steadily) await atSteadyRate(PER_SECOND, ended, search)
      else await inTurn(CLIENTS, ended, () => search())
      return times
    }
    const beside = async (run: () => Promise<number>, steadily: boolean) => {
      const ended = new AbortController()
      const seconds = run().finally(() => ended.abort())
      const [took, times] = await Promise.all([seconds, read(ended.signal, steadily)])
      return { seconds: took, times }
    }
    const alone = await read(AbortSignal.timeout(ALONE * 1_000), true)
    const fast = await beside(await next(articles), true)
    const slow = await beside(
      await next(Math.min(articles, GENTLE_ARTICLES), '--rate', `${RATE}`),
      true,
    )
    const clientsAlone = await read(AbortSignal.timeout(ALONE * 1_000), false)
    const clients = await beside(await next(articles), false)
    return {
      ...quantiles('import_alone_', alone, [0.95]),
      import_beside_per_s: Math.round(articles / fast.seconds),
      ...figuresOf('import_reading', fast.times, alone),
      ...figuresOf('import_rate', slow.times, alone),
      import_clients_per_s: Math.round(articles / clients.seconds),
      ...quantiles('import_clients_alone_', clientsAlone, [0.95]),
      ...figuresOf('import_clients', clients.times, clientsAlone),
    }
  })

const figuresOf = (name: string, times: number[], alone: number[]): Figures => ({
  ...quantiles(`${name}_`, times, [0.5, 0.95, 0.99]),
  [`${name}_worst_ms`]: rounded(quantile(times, 1)),
  [`${name}_p95_ratio`]: rounded(quantile(times, 0.95) / quantile(alone, 0.95)),
})

/** Articles from number `from` on, as lines for `import`. */
export function* linesOf(corpus: GeneratedCorpus, from: number, count: number): Generator<string> {
  for (let at = from; at < from + count; at += PART) {
    for (const article of corpus.articles(at, Math.min(at + PART, from + count))) {
      // The lines have no time of ingestion. These articles follow the corpus, which ends near the
      // present, and an import refuses times in the future.
      const { publishedAt: published_at, ingestedAt: _at, addresses: _, ...rest } = article
      yield `${JSON.stringify({ ...rest, published_at, ingested_at: null })}\n`
    }
  }
}
