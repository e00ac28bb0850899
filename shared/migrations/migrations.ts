import { readdir, readFile } from 'node:fs/promises'
import { runMigrations } from 'bullmq'
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { QUEUE_SCHEMA } from '../queues/backend.ts'
import { EMBED_DUE, MAINTENANCE } from '../queues/delayed-jobs.ts'

const FOLDER = new URL('../../infra/migrations/', import.meta.url)

// Any number. The process that migrates holds this lock; the others wait.
const MIGRATION_LOCK = 7_211_004_221n

export interface Migrated {
  /** Files applied by this call, in order. */
  applied: string[]
  /** Number of the schema now. */
  version: number
}

/**
 * Brings the database to the present schema: our numbered files, then BullMQ's and pg-boss's own
 * migrations. Safe to call from several processes at once and again at any time.
 *
 * @throws when the database is newer than this checkout, or out of reach
 */
export async function migrate(databaseUrl: string): Promise<Migrated> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000 })
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
    const applied = await applyFiles(client)
    await runMigrations(client, QUEUE_SCHEMA)
    await migrateDelayedJobs(databaseUrl)
    const files = await migrationFiles()
    return { applied, version: numberOf(files.at(-1) ?? '0') }
  } finally {
    await client.end()
  }
}

/** Names of the numbered files, in order. */
export async function migrationFiles(): Promise<string[]> {
  return (await readdir(FOLDER)).filter(name => /^\d{4}_.*\.sql$/.test(name)).sort()
}

/**
 * The first line of a file whose statements run one by one: an index on a large table is created
 * `concurrently`, which is not possible in a transaction. Such a file has no function bodies, and
 * each of its statements must be safe to run twice.
 */
const OUTSIDE = '-- outside a transaction'

const statementsOf = (sql: string) =>
  sql
    .replace(/--.*$/gm, '')
    .split(';')
    .filter(statement => statement.trim() !== '')

async function applyFiles(client: pg.Client): Promise<string[]> {
  await client.query(
    'create table if not exists migrations (number int primary key, name text not null, applied_at timestamptz not null default now())',
  )
  const { rows } = await client.query<{ number: number }>('select number from migrations order by number')
  const done = new Set(rows.map(row => row.number))
  const files = await migrationFiles()
  const newest = rows.at(-1)?.number ?? 0
  if (newest > numberOf(files.at(-1) ?? '0')) {
    throw new Error(`The database is at migration ${newest}, newer than this checkout; update the checkout.`)
  }
  const applied: string[] = []
  for (const file of files) {
    if (done.has(numberOf(file))) continue
    const sql = await readFile(new URL(file, FOLDER), 'utf8')
    try {
      if (sql.startsWith(OUTSIDE)) for (const statement of statementsOf(sql)) await client.query(statement)
      await client.query('begin')
      if (!sql.startsWith(OUTSIDE)) await client.query(sql)
      await client.query('insert into migrations (number, name) values ($1, $2)', [numberOf(file), file])
      await client.query('commit')
    } catch (error) {
      await client.query('rollback')
      throw new Error(`Migration ${file} failed: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      })
    }
    applied.push(file)
  }
  return applied
}

async function migrateDelayedJobs(databaseUrl: string): Promise<void> {
  const boss = new PgBoss({ connectionString: databaseUrl, max: 2, supervise: false, schedule: false })
  boss.on('error', () => {}) // reported by the calls below
  await boss.start()
  try {
    // Retried until the work queue has the message. The sweeper finds lost jobs.
    await boss.createQueue(EMBED_DUE, {
      retryLimit: 20,
      retryBackoff: true,
      expireInSeconds: 300,
      deleteAfterSeconds: 3_600,
    })
    await boss.createQueue(MAINTENANCE, {
      retryLimit: 2,
      expireInSeconds: 900,
      policy: 'singleton',
      deleteAfterSeconds: 86_400,
    })
  } finally {
    await boss.stop({ graceful: false })
  }
}

const numberOf = (file: string) => Number(file.slice(0, 4))
