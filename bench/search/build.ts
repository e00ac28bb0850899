import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'
import { migrate } from '../../infra/migrations/migrate.ts'
import { openIndexer } from '../../search/indexer.ts'
import { openImporter } from '../../search/indexing/import.ts'
import { openArticleWriter } from '../../search/indexing/writer.ts'
import { createPool } from '../../shared/postgres/pool.ts'
import { type Archive, BODY_WORDS, createArchive } from './generator.ts'

export interface BuiltArchive {
  url: string
  rows: number
  archive: Archive
  /** Seconds that the building took; null: some of it stood from an earlier run. */
  seconds: { insert: number; index: number } | null
}

const PART = 2_000

/**
 * A database with so many generated articles, put in as `import` does. Kept for the next run with
 * the same generator, schema and index; what an interrupted run put in is taken up again.
 *
 * @param server address of a database on the server
 * @param bodyWords words of a body, on average
 */
export async function buildArchive(
  server: string,
  rows: number,
  signal: AbortSignal,
  bodyWords = BODY_WORDS,
): Promise<BuiltArchive> {
  const archive = createArchive(rows, bodyWords)
  const name = `bench_${rows}_${bodyWords === BODY_WORDS ? '' : `${bodyWords}w_`}${await recipe()}`
  const url = inDatabase(server, name)
  const admin = new pg.Client(server)
  await admin.connect()
  try {
    const present = await admin.query('select from pg_database where datname = $1', [name])
    if (present.rowCount === 0) await admin.query(`create database ${name}`)
  } finally {
    await admin.end()
  }
  await migrate(url)
  const { articles, whole } = await readState(url)
  if (whole) return { url, rows, archive, seconds: null }
  const seconds = await fill({ url, archive }, articles, rows, signal)
  return { url, rows, archive, seconds: articles === 0 ? seconds : null }
}

/** @param present articles that are in already */
async function fill(
  { url, archive }: Pick<BuiltArchive, 'url' | 'archive'>,
  present: number,
  rows: number,
  signal: AbortSignal,
) {
  const pool = createPool(url, 'bench', () => {}, { statementTimeout: 0 })
  const indexer = openIndexer(pool)
  const writer = openArticleWriter({ pool, indexer, embedDelay: 0 })
  const importer = openImporter({ pool, writer, indexer, embedDelay: 0, written() {} })
  try {
    const start = performance.now()
    for (let from = present; from < rows; from += PART) {
      signal.throwIfAborted()
      await importer.add(archive.articles(from, Math.min(from + PART, rows)))
      if ((from - present) % 50_000 === 0)
        process.stderr.write(`${from} of ${rows} articles after ${seconds(start)} s\n`)
    }
    await importer.flush()
    const inserted = seconds(start)
    const indexing = performance.now()
    await indexer.finish()
    await pool.query('vacuum analyze')
    await pool.query(`comment on database ${new URL(url).pathname.slice(1)} is '${WHOLE}'`)
    const times = { insert: inserted, index: seconds(indexing) }
    process.stderr.write(
      `${rows} articles: inserted in ${times.insert} s, the last segments made in ${times.index} s\n`,
    )
    return times
  } finally {
    await indexer.close()
    await pool.end()
  }
}

const WHOLE = 'whole'

/**
 * How many articles are in, which are the first ones, and whether everything that follows them is
 * done.
 */
async function readState(url: string): Promise<{ articles: number; whole: boolean }> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const { rows } = await client.query<{ articles: number; whole: boolean }>(
      `select last_seq::int as articles, coalesce(shobj_description(d.oid, 'pg_database') = $1, false) as whole
       from ingest_clock, pg_database d where d.datname = current_database()`,
      [WHOLE],
    )
    return rows[0]!
  } finally {
    await client.end()
  }
}

/** Changes with everything that decides what the database holds. */
async function recipe(): Promise<string> {
  const hash = createHash('sha256')
  for (const folder of [
    '../../infra/migrations/',
    '../../search/analysis/',
    '../../search/segment/',
    '../../search/store/',
    './',
  ]) {
    const place = new URL(folder, import.meta.url)
    for (const file of (await readdir(place)).sort()) {
      if (/\.test\.ts$/.test(file) || (folder === './' && !/^(generator|random)\.ts$/.test(file))) continue
      if (/\.(ts|sql)$/.test(file)) hash.update(await readFile(new URL(file, place)))
    }
  }
  return hash.digest('hex').slice(0, 10)
}

const seconds = (since: number) => Math.round((performance.now() - since) / 100) / 10

function inDatabase(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

/**
 * Copies an archive within its server, to write to. A copy that an earlier run left is replaced.
 *
 * @param server address of a database on the server
 * @param url address of the archive
 * @param suffix of the copy's name
 */
export function copyArchive(server: string, url: string, suffix: string): Promise<BenchDatabase> {
  const original = new URL(url).pathname.slice(1)
  return createDatabase(server, `${original}_${suffix}`, original)
}

/** A database of a bench's own. */
interface BenchDatabase {
  url: string
  drop(): Promise<void>
}

/**
 * Makes a database beside the server's own. One that an earlier run left is replaced.
 *
 * @param server address of a database on the server
 * @param template database that is copied; absent: the new one is empty
 */
export async function createDatabase(server: string, name: string, template?: string): Promise<BenchDatabase> {
  const onServer = async (...statements: string[]) => {
    const client = new pg.Client(server)
    await client.connect()
    try {
      for (const statement of statements) await client.query(statement)
    } finally {
      await client.end()
    }
  }
  const drop = () => onServer(`drop database if exists ${name} with (force)`)
  await drop()
  if (template === undefined) await onServer(`create database ${name}`)
  else await onServer(`create database ${name} template ${template} strategy file_copy`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href, drop }
}

/** Tables by what they are for; a partitioned one with its partitions. */
const PARTS = {
  texts: ['article_texts'],
  words: ['article_words'],
  segments: ['segments', 'segment_buckets'],
  articles: ['articles', 'article_ids', 'article_addresses'],
  promises: ['embeddings'],
}

/** What an archive takes on disk, in MB with all indexes: as a whole, and what for. */
export async function measureSizes(url: string): Promise<Record<string, number>> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const { rows } = await client.query<{ mb: number }>(
      'select (pg_database_size(current_database()) / 1e6)::float8 as mb',
    )
    const figures: Record<string, number> = { disk_mb: Math.round(rows[0]!.mb) }
    for (const [part, tables] of Object.entries(PARTS)) {
      const { rows: sizes } = await client.query<{ mb: number }>(
        `select (sum(pg_total_relation_size(c.oid)) / 1e6)::float8 as mb
         from pg_class c
         left join pg_inherits i on i.inhrelid = c.oid
         left join pg_class parent on parent.oid = i.inhparent
         where c.relkind = 'r' and (c.relname = any ($1) or parent.relname = any ($1))`,
        [tables],
      )
      figures[`disk_${part}_mb`] = Math.round(sizes[0]!.mb)
    }
    return figures
  } finally {
    await client.end()
  }
}
