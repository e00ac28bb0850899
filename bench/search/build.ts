import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'
import { indexArticles } from '../../shared/articles/indexing/index.ts'
import { migrate } from '../../shared/postgres/migrations.ts'
import { createPool } from '../../shared/postgres/pool.ts'
import { createBoss } from '../../shared/promises/boss.ts'
import { sealRest } from '../../shared/segments/background.ts'
import { type Archive, createArchive } from './generator.ts'

export interface BuiltArchive {
  url: string
  archive: Archive
  /** Seconds that the building took; null: it stood from an earlier run. */
  seconds: { insert: number; index: number } | null
}

const PART = 2_000

/**
 * A database with so many generated articles, put in as `import` does. Kept for the next run with the same generator, schema
 * and index.
 *
 * @param server address of a database on the server
 */
export async function buildArchive(server: string, rows: number, signal: AbortSignal): Promise<BuiltArchive> {
  const archive = createArchive(rows)
  const name = `bench_${rows}_${await recipe()}`
  const url = inDatabase(server, name)
  const admin = new pg.Client(server)
  await admin.connect()
  try {
    const present = await admin.query('select from pg_database where datname = $1', [name])
    if (present.rowCount !== 0) {
      if (await isWhole(url, rows)) return { url, archive, seconds: null }
      await admin.query(`drop database ${name} with (force)`)
    }
    await admin.query(`create database ${name}`)
  } finally {
    await admin.end()
  }
  await migrate(url)
  return { url, archive, seconds: await fill(url, archive, rows, signal) }
}

async function fill(url: string, archive: Archive, rows: number, signal: AbortSignal) {
  const pool = createPool(url, 'bench', () => {}, { statementTimeout: 0 })
  const boss = createBoss(url, () => {}, { supervise: false })
  try {
    await boss.start()
    const start = performance.now()
    for (let from = 0; from < rows; from += PART) {
      signal.throwIfAborted()
      await indexArticles(pool, boss, archive.articles(from, Math.min(from + PART, rows)), {
        embedDelay: 0,
        bulk: true,
      })
      if (from % 50_000 === 0) process.stderr.write(`${from} of ${rows} articles after ${seconds(start)} s\n`)
    }
    const inserted = seconds(start)
    const indexing = performance.now()
    await sealRest(pool)
    await pool.query('vacuum analyze')
    const times = { insert: inserted, index: seconds(indexing) }
    process.stderr.write(
      `${rows} articles: inserted in ${times.insert} s, the last segments made in ${times.index} s\n`,
    )
    return times
  } finally {
    await boss.stop({ graceful: false })
    await pool.end()
  }
}

async function isWhole(url: string, rows: number): Promise<boolean> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const { rows: found } = await client.query<{ whole: boolean }>(
      'select last_seq = $1 and last_seq - (select max(last_seq) from segments) < 4096 as whole from ingest_clock',
      [rows],
    )
    return found[0]?.whole === true
  } catch {
    return false
  } finally {
    await client.end()
  }
}

/** Changes with everything that decides what the database holds. */
async function recipe(): Promise<string> {
  const hash = createHash('sha256')
  for (const folder of [
    '../../infra/migrations/',
    '../../shared/text/',

    '../../shared/segments/',
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
