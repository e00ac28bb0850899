import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { runMigrations } from 'bullmq'
import type pg from 'pg'
import { PgBoss } from 'pg-boss'
import { describe } from '#shared/log/printable'
import { FOLDER, migrationFiles, missingFiles, numberOf } from '#shared/postgres/migrations'
import {
  FIRST_SCHEMA,
  HeardClient,
  readColumn,
  refuseOlder,
  refuseUnusable,
  startupOptions,
} from '#shared/postgres/pool'
import { MAINTENANCE } from '#shared/queues/queues'
import { QUEUE_SCHEMA } from '#shared/queues/stores'

// Any number would do. The process that migrates holds this lock; the others wait.
const MIGRATION_LOCK = 7_211_004_221n

/**
 * This session is idle while libraries migrate in sessions of their own, which takes less than
 * this.
 */
const IDLE = '10min'

export interface Migrated {
  applied: string[]
  version: number
}

/**
 * Brings the database to the current schema: our numbered files, then the migrations of BullMQ and
 * pg-boss. It is safe to call it from several processes at once, and again at any time.
 *
 * @param mayBeUnfinished a database whose restore did not end is accepted, too
 * @returns the files that this call applied, in order, and the number of the current schema
 * @throws when the database is older than `FIRST_SCHEMA` or newer than this checkout, when a
 * restore of it did not end, or when it is unreachable
 */
export async function migrate(
  databaseUrl: string,
  { mayBeUnfinished = false } = {},
): Promise<Migrated> {
  // `restore` looks for sessions of this name. The time limits end the session of a migration that
  // hangs, and release its lock.
  const options = startupOptions({
    idle_session_timeout: IDLE,
    idle_in_transaction_session_timeout: IDLE,
  })
  const settings = { application_name: 'perscope migrate', connectionTimeoutMillis: 5_000, options }
  const client = new HeardClient({ connectionString: databaseUrl, ...settings })
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
    if (!mayBeUnfinished) await refuseUnusable(databaseUrl)
    const applied = await applyFiles(client)
    await runMigrations(client, QUEUE_SCHEMA)
    await migrateCron(databaseUrl)
    const files = await migrationFiles()
    return { applied, version: numberOf(files.at(-1) ?? '0') }
  } finally {
    await client.end()
  }
}

async function applyFiles(client: pg.Client): Promise<string[]> {
  await client.query(
    'create table if not exists migrations (number int primary key, name text not null, applied_at timestamptz not null default now())',
  )
  const known = await readColumn<number>(client, 'select number from migrations')
  const newest = Math.max(0, ...known)
  const files = await migrationFiles()
  if (newest > numberOf(files.at(-1) ?? '0'))
    throw new Error(
      `The database is at migration ${newest}, newer than this checkout; update the checkout.`,
    )
  refuseOlder(newest)
  const missing = await missingFiles(known)
  // An empty database gets the whole first schema or, if this process is killed, nothing.
  const first = missing.filter(file => numberOf(file) <= FIRST_SCHEMA)
  if (first.length > 0) await applyTogether(client, first)
  for (const file of missing.slice(first.length)) await applyTogether(client, [file])
  return missing
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

/**
 * Runs files and records them as applied, in one transaction. While a statement waits for a lock
 * that a long query holds, all other statements on the table wait behind it. So the statement gives
 * up soon, and everything is tried again.
 */
async function applyTogether(client: pg.Client, files: readonly string[]): Promise<void> {
  for (let left = LOCK_TRIES - 1; ; left--) {
    let file = ''
    try {
      await client.query(`begin; set local lock_timeout = ${LOCK_TIMEOUT}`)
      for (file of files) {
        const sql = await readFile(new URL(file, FOLDER), 'utf8')
        if (sql.startsWith(OUTSIDE)) {
          await client.query('commit')
          for (const statement of statementsOf(sql)) await client.query(statement)
          await client.query('begin')
        } else await client.query(sql)
        await client.query('insert into migrations (number, name) values ($1, $2)', [
          numberOf(file),
          file,
        ])
      }
      return void (await client.query('commit'))
    } catch (error) {
      await client.query('rollback')
      const isLocked = error instanceof Error && 'code' in error && LOCKED.includes(error.code)
      if (!isLocked)
        throw new Error(`Migration ${file} failed: ${describe(error)}`, { cause: error })
      if (left === 0)
        throw new Error(
          `Migration ${file} did not get its locks, because a long query or transaction uses the tables; end it (pg_stat_activity) and migrate again.`,
          { cause: error },
        )
      await pause(LOCK_PAUSE)
    }
  }
}

/** Codes of the errors for a lock that was not granted in time, and for a deadlock. */
const LOCKED: unknown[] = ['55P03', '40P01']
/**
 * ms that a statement waits for a lock, the number of tries, and ms between tries. Together they
 * take two minutes.
 */
const LOCK_TIMEOUT = 2_000
const LOCK_TRIES = 24
const LOCK_PAUSE = 3_000

/**
 * Makes the tables of pg-boss. Its statements have no time limit here, unlike those of services
 * (`shared/queues/boss.ts`): a migration of pg-boss may rewrite a large table.
 */
async function migrateCron(databaseUrl: string): Promise<void> {
  const boss = new PgBoss({
    connectionString: databaseUrl,
    max: 2,
    supervise: false,
    schedule: false,
  })
  boss.on('error', () => {}) // the calls below report the error
  await boss.start()
  try {
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
