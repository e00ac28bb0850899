import { type ChildProcess, fork } from 'node:child_process'
import { loadavg } from 'node:os'
import { type ArticleQuery, openIndex, SEARCH_SETTINGS, type SearchIndex } from '../../../search/index.ts'
import { BATCH } from '../../../search/indexing/writer.ts'
import { createPool, type Pool } from '../../../shared/postgres/pool.ts'
import type { QueryClass } from '../classes.ts'
import { copyArchive } from '../copy.ts'
import { quantile } from '../measure.ts'
import type { Job, Making, Written } from './messages.ts'
import { readFor } from './readers.ts'

const PER_SECOND = 300
const SECONDS = 300
/** Longest time, in seconds, of reading alone and of writing as fast as it can. */
const MINUTE = 60

export interface WritingBench {
  /** Address of a database on the server. */
  server: string
  /** Address of the archive; it stays as it is, a copy is written to. */
  url: string
  rows: number
  classes: QueryClass[]
  /** Seconds of writing; null: five minutes. */
  seconds: number | null
  signal: AbortSignal
  say: (line: string) => void
}

/**
 * Measures the searches of two clients alone, then while another process writes 300 articles a
 * second, then the most that this process can write. The writer makes segments meanwhile in a
 * thread of its own, as always.
 */
export async function measureWriting(bench: WritingBench): Promise<Record<string, number>> {
  const { say, signal, rows } = bench
  say('Copying the archive …')
  const copy = await copyArchive(bench.server, bench.url, 'written')
  const pool = createPool(copy.url, 'bench', () => {}, { settings: SEARCH_SETTINGS })
  const index = openIndex(pool)
  const writer = fork(new URL('./writer.ts', import.meta.url), [copy.url, String(rows)])
  const end = () => void writer.kill('SIGTERM')
  signal.addEventListener('abort', end, { once: true })
  try {
    await message(writer)
    const queries = bench.classes.flatMap(one => one.queries)
    say(`Reading ${queries.length} queries once …`)
    for (const query of queries) await index.search(query)
    const alone = await readFor(index, queries, Math.min(secondsOf(bench), MINUTE), signal)
    signal.throwIfAborted()
    tell(say, 'reading alone', alone)
    const { written, beside } = await readBeside(bench, writer, index, queries)
    const made = await segmentsSince(pool, rows)
    say(`${made.segments} segments were made meanwhile; ${made.backlog} articles have no segment yet`)
    const limit = await writeAlone(bench, writer, rows + written.articles)
    return {
      ...readingFigures(alone, beside),
      ...writtenFigures(written),
      segments_made: made.segments,
      writer_limit_per_s: rounded(perSecondOf(limit)),
    }
  } finally {
    signal.removeEventListener('abort', end)
    end()
    await pool.end()
    await copy.drop()
  }
}

const secondsOf = ({ seconds }: WritingBench) => seconds ?? SECONDS

/** Searches while another process writes 300 articles a second. */
async function readBeside(
  bench: WritingBench,
  writer: ChildProcess,
  index: SearchIndex,
  queries: ArticleQuery[],
): Promise<{ written: Written; beside: number[] }> {
  const { say, signal, rows } = bench
  const seconds = secondsOf(bench)
  const job: Job = { perSecond: PER_SECOND, seconds, from: rows }
  writer.send({ from: rows, articles: Math.ceil(PER_SECOND * seconds) + BATCH } satisfies Making)
  await message(writer)
  const reading = new AbortController()
  const [written, beside] = await Promise.all([
    work(writer, job).finally(() => reading.abort()),
    readFor(index, queries, Infinity, AbortSignal.any([signal, reading.signal])),
  ])
  signal.throwIfAborted()
  tell(say, 'while writing', beside)
  tell(say, `transactions of ${perSecondOf(written).toFixed(0)} articles/s`, written.transactions)
  tell(say, 'the same with what follows the commit', written.batches)
  return { written, beside }
}

async function writeAlone(bench: WritingBench, writer: ChildProcess, from: number): Promise<Written> {
  const limit = await work(writer, { perSecond: null, seconds: Math.min(secondsOf(bench), MINUTE), from })
  tell(bench.say, 'transactions of a writer alone, as fast as it can', limit.transactions)
  bench.say(`One writer: ${perSecondOf(limit).toFixed(0)} articles/s; load ${loadavg()[0]!.toFixed(1)}`)
  return limit
}

const perSecondOf = ({ articles, ms }: Written) => articles / (ms / 1_000)

function readingFigures(alone: number[], beside: number[]): Record<string, number> {
  return {
    reading_p50_ms: rounded(quantile(alone, 0.5)),
    reading_p95_ms: rounded(quantile(alone, 0.95)),
    writing_p50_ms: rounded(quantile(beside, 0.5)),
    writing_p95_ms: rounded(quantile(beside, 0.95)),
    writing_worst_ms: rounded(quantile(beside, 1)),
    writing_p95_ratio: rounded(quantile(beside, 0.95) / quantile(alone, 0.95)),
  }
}

function writtenFigures(written: Written): Record<string, number> {
  return {
    written_per_s: rounded(perSecondOf(written)),
    commit_p95_ms: rounded(quantile(written.transactions, 0.95)),
    commit_worst_ms: rounded(quantile(written.transactions, 1)),
    batch_worst_ms: rounded(quantile(written.batches, 1)),
  }
}

async function segmentsSince(db: Pool, rows: number): Promise<{ segments: number; backlog: number }> {
  const { rows: found } = await db.query<{ segments: number; backlog: number }>(
    `select (select count(*)::int from segments where last_seq > $1) as segments,
       (select last_seq - (select max(last_seq) from segments) from ingest_clock)::int as backlog`,
    [rows],
  )
  return found[0]!
}

async function work(writer: ChildProcess, job: Job): Promise<Written> {
  writer.send(job)
  return message<Written>(writer)
}

/** The next message of the writer. */
function message<T>(writer: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error('The writer ended before it was done.'))
    if (writer.exitCode !== null || writer.signalCode !== null) return ended()
    writer.once('exit', ended)
    writer.once('message', said => {
      writer.off('exit', ended)
      resolve(said as T)
    })
  })
}

function tell(say: (line: string) => void, what: string, times: number[]): void {
  const parts = [0.5, 0.95, 0.99].map(part => `p${part * 100} ${quantile(times, part).toFixed(1)}`)
  say(`${what}: ${times.length}, ${parts.join(', ')}, longest ${quantile(times, 1).toFixed(1)} ms`)
}

const rounded = (value: number) => Math.round(value * 100) / 100
