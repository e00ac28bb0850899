import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { type Figures, rounded, say } from '#bench/figures'
import { type Bench, ensureDatabase } from '#bench/servers'
import { migrate } from '#infra/migrations/migrate'
import { openIndexer } from '#search/indexer'
import { openImporter } from '#search/indexing/import'
import { openArticleWriter } from '#search/indexing/writer'
import { createPool } from '#shared/postgres/pool'
import { SEGMENT_THREAD } from '#shared/postgres/segment-thread'
import { withDatabase } from '#test/database'
import { type QueryClass, queryClasses } from './classes.ts'
import { BODY_WORDS, createCorpus, type GeneratedCorpus } from './generator.ts'

export interface BuiltCorpus {
  url: string
  rows: number
  corpus: GeneratedCorpus
  /** The queries that the bench sends to this corpus. */
  classes: QueryClass[]
  /** Seconds that building took. Null: an earlier run has built the corpus or a part of it. */
  seconds: { insert: number; index: number } | null
}

/** The servers of a bench, and the corpus in their database. */
export type SearchBench = Bench & BuiltCorpus

/** Queries of each class. */
const QUERIES = 5
const PART = 2_000
const WHOLE = 'whole'

/**
 * A database with generated articles, which are written as `import` writes them. The next run uses
 * the database again if generator, schema and index are the same. When a run was interrupted, the
 * next run continues it.
 *
 * @param server address of a database on the server
 * @param bodyWords words of a body, on average
 * @param edited changes the generated articles
 */
export async function buildCorpus(
  server: string,
  rows: number,
  signal: AbortSignal,
  bodyWords: number = BODY_WORDS,
  edited?: (corpus: GeneratedCorpus, rows: number) => GeneratedCorpus,
): Promise<BuiltCorpus> {
  const generated = createCorpus(rows, bodyWords)
  const corpus = edited?.(generated, rows) ?? generated
  const name = `bench_${rows}_${bodyWords === BODY_WORDS ? '' : `${bodyWords}w_`}${await recipe(edited)}`
  const url = await ensureDatabase(server, name)
  await migrate(url)
  const { articles, whole } = await readState(url)
  const built = { url, rows, corpus, classes: queryClasses(corpus, QUERIES) }
  if (whole) return { ...built, seconds: null }
  const pool = createPool(url, 'bench', () => {}, { statementTimeout: 0 })
  const indexer = openIndexer(pool, SEGMENT_THREAD)
  const writer = openArticleWriter({ pool, indexer, embedDelay: 0 })
  const importer = openImporter({ pool, writer, indexer, embedDelay: 0, written() {} })
  try {
    const start = performance.now()
    for (let from = articles; from < rows; from += PART) {
      signal.throwIfAborted()
      await importer.add(corpus.articles(from, Math.min(from + PART, rows)))
      if ((from - articles) % 50_000 === 0)
        say(`${from} of ${rows} articles after ${secondsSince(start)} s`)
    }
    await importer.flush()
    const insert = secondsSince(start)
    const indexing = performance.now()
    await indexer.finish()
    await pool.query('vacuum analyze')
    await pool.query(`comment on database ${name} is '${WHOLE}'`)
    const seconds = { insert, index: secondsSince(indexing) }
    say(`${rows} articles: inserted in ${insert} s, the last segments made in ${seconds.index} s`)
    return { ...built, seconds: articles === 0 ? seconds : null }
  } finally {
    await indexer.close()
    await pool.end()
  }
}

const secondsSince = (start: number) => rounded((performance.now() - start) / 1_000, 1)

/**
 * `articles`: how many articles the database has. They are the first ones of the corpus. `whole`:
 * an earlier run has built the whole database, with all segments and Postgres's statistics.
 */
function readState(url: string): Promise<{ articles: number; whole: boolean }> {
  return withDatabase(url, async database => {
    const { rows } = await database.query(
      `select last_seq::int as articles, coalesce(shobj_description(d.oid, 'pg_database') = $1, false) as whole
       from ingest_clock, pg_database d where d.datname = current_database()`,
      [WHOLE],
    )
    return rows[0]
  })
}

/** A hash of everything that decides what the database contains. */
async function recipe(edited: unknown): Promise<string> {
  const hash = createHash('sha256').update(await readFile(new URL('generator.ts', import.meta.url)))
  hash.update(String(edited ?? ''))
  for (const folder of [
    'infra/migrations/',
    'search/analysis/',
    'search/segment/',
    'search/store/',
  ]) {
    const place = new URL(`../../${folder}`, import.meta.url)
    for (const file of (await readdir(place)).sort()) {
      if (/(?<!\.test)\.(ts|json|sql)$/.test(file))
        hash.update(await readFile(new URL(file, place)))
    }
  }
  return hash.digest('hex').slice(0, 10)
}

/** Tables by what they are for. A partitioned table counts with its partitions. */
const PARTS = {
  texts: ['article_texts'],
  words: ['article_words'],
  segments: ['segments', 'segment_buckets'],
  articles: ['articles', 'article_ids', 'article_addresses'],
  promises: ['embeddings'],
}

/** MB of a corpus on disk with all indexes: in all, and by what the tables are for. */
export function measureSizes(url: string): Promise<Figures> {
  return withDatabase(url, async database => {
    const { rows } = await database.query<{ mb: number }>(
      'select (pg_database_size(current_database()) / 1e6)::float8 as mb',
    )
    const figures: Figures = { disk_mb: Math.round(rows[0]!.mb) }
    for (const [part, tables] of Object.entries(PARTS)) {
      const { rows: sizes } = await database.query<{ mb: number }>(
        `select (sum(pg_total_relation_size(c.oid)) / 1e6)::float8 as mb
         from pg_class c left join pg_inherits i on i.inhrelid = c.oid left join pg_class parent on parent.oid = i.inhparent
         where c.relkind = 'r' and (c.relname = any ($1) or parent.relname = any ($1))`,
        [tables],
      )
      figures[`disk_${part}_mb`] = Math.round(sizes[0]!.mb)
    }
    return figures
  })
}
