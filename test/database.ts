import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import pg from 'pg'
import type { Test } from 'tap'
import { createPool, type Pool } from '#shared/postgres/pool'

/** A migrated database for one test, on a real server. */
export interface TestDatabase {
  url: string
  /** Rows of one statement, with a superuser's rights, on a connection that soon ends. */
  query(sql: string, values?: unknown[]): Promise<Record<string, unknown>[]>
  /** Rows of a table, with its conditions: `count("pages where state = 'done'")`. */
  count(from: string): Promise<number>
  /** Removes it, connections or not. */
  drop(): Promise<undefined>
}

/** For the pools of tests: a machine that does ten things at once is slow, not broken. */
export const PATIENT = { connectTimeout: 60_000 }

/** ms after a look of a test, in which another one may come. `until` waits for at most as long. */
const IDLE_MS = 500

/** Any number: whoever makes the template holds it, the others wait. */
const TEMPLATE_LOCK = 5_502_118_430n
const TEMPLATE = 'perscope_template'

/**
 * Makes an empty database with the present schema: a clone of a template that is migrated once, so
 * it takes a tenth of a second and tests run side by side. Postgres copies the files. By default it
 * writes every page to its log, which takes five times the processor time.
 *
 * The server is that of DATABASE_URL, which `npm test` sets. A test file that is run by itself
 * starts an embedded one.
 *
 * @param test drops it when it ends; left out: the caller does
 */
export async function createTestDatabase(test?: Pick<Test, 'teardown'>): Promise<TestDatabase> {
  const server = process.env.DATABASE_URL || (await serverOfOurOwn())
  await makeTemplate(server)
  const name = `perscope_test_${randomBytes(8).toString('hex')}`
  await onServer(server, client =>
    client.query(`create database ${name} template ${TEMPLATE} strategy file_copy`),
  )
  // A look costs little where the connection of the look before is still there.
  const looks = new pg.Pool({
    connectionString: inDatabase(superuserOf(server), name),
    idleTimeoutMillis: IDLE_MS,
    allowExitOnIdle: true,
  })
  // A test may end connections.
  looks.on('error', () => {})
  const query = async (sql: string, values?: unknown[]): Promise<Record<string, unknown>[]> => {
    const look = () => looks.query(sql, values)
    // Somebody may have ended the connection of the look before.
    const result = await look().catch((error: Error) => {
      if (/terminat/.test(error.message)) return look()
      throw error
    })
    return result.rows
  }
  const database = {
    url: inDatabase(server, name),
    query,
    count: async (from: string) =>
      Number((await query(`select count(*)::int as n from ${from}`))[0]?.n),
    drop() {
      // It may wait for a look that hangs, which the drop ends.
      void looks.end().catch(() => {})
      // Only a superuser may end what autovacuum does there.
      return onServer(
        superuserOf(server),
        async client => void (await client.query(`drop database if exists ${name} with (force)`)),
      )
    },
  }
  test?.teardown(() => database.drop())
  return database
}

/** The same with a pool, both until the test ends. */
export async function createTestPool(
  test: Pick<Test, 'teardown'>,
): Promise<{ database: TestDatabase; pool: Pool }> {
  const database = await createTestDatabase(test)
  const pool = createPool(database.url, 'test', () => {}, PATIENT)
  test.teardown(() => pool.end())
  return { database, pool }
}

/** Holds what a statement locks, until what it returns is called. */
export async function holdLock(
  pool: Pool,
  sql: string,
  values: unknown[] = [],
): Promise<() => Promise<void>> {
  const holder = await pool.connect()
  await holder.query('begin; set local idle_in_transaction_session_timeout = 0')
  await holder.query(sql, values)
  let isHeld = true
  return async () => {
    if (!isHeld) return
    isHeld = false
    await holder.query('commit')
    holder.release(true)
  }
}

/** How many connections to the database of a pool wait for a lock. */
export async function lockWaits(pool: Pool): Promise<number> {
  const { rowCount } = await pool.query(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return rowCount ?? 0
}

/** Migrates the template of a server, unless another test has: it knows one schema alone. */
async function makeTemplate(server: string): Promise<void> {
  await onServer(server, async client => {
    const exists = async () =>
      (await client.query('select from pg_database where datname = $1', [TEMPLATE])).rowCount !== 0
    if (await exists()) return
    await client.query('select pg_advisory_lock($1)', [TEMPLATE_LOCK])
    if (await exists()) return
    const unfinished = `${TEMPLATE}_unfinished`
    await client.query(`drop database if exists ${unfinished} with (force)`)
    await client.query(`create database ${unfinished}`)
    // Only the first test of a run migrates, and only a test that runs alone starts a server. Their
    // modules take a quarter of a second of the processor, which all the others save.
    const { migrate } = await import('#infra/migrations/migrate')
    await migrate(inDatabase(server, unfinished))
    await client.query(`alter database ${unfinished} rename to ${TEMPLATE}`)
  })
}

/**
 * The same server with the rights of its superuser, which the account of the databases lacks.
 * `npm test` names it.
 */
function superuserOf(server: string): string {
  const superuser = process.env.TEST_SUPERUSER_URL ?? ''
  return URL.canParse(superuser) && new URL(superuser).host === new URL(server).host
    ? superuser
    : server
}

let ownServer: Promise<string> | undefined

function serverOfOurOwn(): Promise<string> {
  ownServer ??= startOwnServer()
  return ownServer
}

async function startOwnServer(): Promise<string> {
  const { startTestServers } = await import('./servers.ts')
  const servers = await startTestServers({ servers: ['postgres'], inMemory: true })
  process.on('exit', () => {
    servers.kill()
    rmSync(servers.dataDir, { recursive: true, force: true, maxRetries: 5 })
  })
  process.env.TEST_SUPERUSER_URL = servers.superuser
  return servers.addresses.DATABASE_URL ?? ''
}

/**
 * Rows of one statement on any server, on a connection of its own.
 *
 * @param limit ms, to connect and for the answer
 */
export async function ask<Row extends pg.QueryResultRow>(
  url: string,
  sql: string,
  limit = 10_000,
): Promise<Row[]> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: limit,
    query_timeout: limit,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end().catch(() => {})
  }
}

const onServer = <T>(
  server: string,
  work: (client: pg.Client) => Promise<T>,
  database = 'postgres',
): Promise<T> => withDatabase(inDatabase(server, database), work)

/** Works with a connection to a database. */
export async function withDatabase<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** The address of another database of the server. */
export function inDatabase(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}
