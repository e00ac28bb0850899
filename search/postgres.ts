import pg from 'pg'

/*
 * How the engine uses connections to Postgres. It opens none itself: callers hand pools in.
 */

export type Pool = pg.Pool
export type Client = pg.PoolClient
/** A pool, or the client of a transaction. */
export type Queryable = Pick<pg.Pool, 'query'>

/** @returns the first row that a statement gives; undefined: none */
export const readRow = async <Row extends pg.QueryResultRow>(
  db: Queryable,
  statement: string | pg.QueryConfig,
  values?: unknown[],
): Promise<Row | undefined> => (await db.query<Row>(statement, values)).rows[0]

/** @returns the first column of all rows that a statement gives */
export const readColumn = async <Value>(
  db: Queryable,
  statement: string | pg.QueryConfig,
  values?: unknown[],
): Promise<Value[]> =>
  (await db.query<Record<string, Value>>(statement, values)).rows.flatMap(row => Object.values(row).slice(0, 1))

/** @returns the first column of the first row that a statement gives; null: no row */
export const readValue = async <Value>(...asked: Parameters<typeof readColumn>): Promise<Value | null> =>
  (await readColumn<Value>(...asked))[0] ?? null

/** The number that a statement counts; 0 if it gives no row. */
export const countOf = async (db: Queryable, statement: string, values?: unknown[]): Promise<number> =>
  (await readValue<number>(db, statement, values)) ?? 0

// int8 arrives as bigint: `seq` counts past 2^53 in principle, and a string is too easily compared
// as text.
pg.types.setTypeParser(pg.types.builtins.INT8, BigInt)

/** The silence after which a session loses its locks, and the ms between its signs of life. */
const SILENCE = '2 min'
const SIGN_OF_LIFE = 20_000

/**
 * Runs `work` in one transaction: committed when it resolves, rolled back when it throws. A
 * connection that failed is closed and not used again.
 */
export const transaction = <T>(pool: Pool, work: (client: Client) => Promise<T>): Promise<T> =>
  withClient(pool, async (client, breaks) => {
    try {
      await client.query('begin')
      const result = await work(client)
      await client.query('commit')
      return result
    } catch (error) {
      // Behind a query that is not answered, a rollback would wait just as long.
      if (isUnanswered(error)) breaks(error)
      else await client.query('rollback').catch(breaks)
      throw error
    }
  })

/**
 * Runs work with a session of its own, whose locks go with it: a transaction of minutes would keep
 * Postgres from vacuuming. A session that gives no sign of life for some time loses its locks, so
 * that a stopped process shuts nobody out. The work then goes on: what it stores is checked again.
 *
 * @param idle time without a statement after which Postgres ends the session
 */
export const withSession = <T>(pool: Pool, idle: string, work: (session: Client) => Promise<T>): Promise<T> =>
  withClient(pool, async (client, breaks) => {
    breaks(true)
    await client.query(`set idle_session_timeout = '${idle}'`)
    return await work(client)
  })

/**
 * Runs work with a connection of the pool, which is closed afterwards when it broke.
 *
 * @param work calls `breaks` with the reason for which nobody else may use the connection
 */
async function withClient<T>(pool: Pool, work: (client: Client, breaks: (why: Error | true) => void) => Promise<T>) {
  const client = await pool.connect()
  let broken: Error | true | undefined
  const breaks = (why: Error | true) => {
    broken = why
  }
  // Without a listener, a connection lost between two statements would end the process.
  client.on('error', breaks)
  try {
    return await work(client, breaks)
  } finally {
    client.off('error', breaks)
    client.release(broken)
  }
}

/** Runs work under a lock of a session. @returns null: another one holds it, and we do not wait */
export async function locking<T>(
  session: Client,
  lock: bigint,
  wait: boolean,
  work: () => Promise<T>,
): Promise<T | null> {
  const take = wait ? 'select true as held from pg_advisory_lock($1)' : 'select pg_try_advisory_lock($1) as held'
  if (!(await readValue<boolean>(session, take, [lock]))) return null
  try {
    return await work()
  } finally {
    // The lock is given back at once, not only when the server notices that the connection is gone.
    await session.query('select pg_advisory_unlock($1)', [lock]).catch(() => {})
  }
}

/** Runs work that takes any time. Meanwhile the session gives a sign of life each `every` ms. */
export async function keepingAlive<T>(session: Client, work: () => Promise<T>, every = SIGN_OF_LIFE): Promise<T> {
  const alive = setInterval(() => void session.query('select 1').catch(() => {}), every)
  return await work().finally(() => clearInterval(alive))
}

/**
 * Runs `work` while this process holds an advisory lock, as long as it gives signs of life.
 *
 * @returns null: another process holds it
 */
export const whileLocked = <T>(pool: Pool, lock: bigint, work: () => Promise<T>): Promise<T | null> =>
  withSession(pool, SILENCE, session => locking(session, lock, false, () => keepingAlive(session, work)))

/** The server did not answer within the query timeout of the pool (the driver's message). */
const isUnanswered = (error: unknown): error is Error =>
  error instanceof Error && error.message === 'Query read timeout'

/** Why work failed, in words. Several failures at once have no message of their own. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  return error instanceof Error ? error.message || error.name : String(error)
}
