import pg from 'pg'

/*
 * How the engine uses connections to Postgres. The engine opens no connection: callers hand pools
 * in.
 */

export type Pool = pg.Pool
export type Client = pg.PoolClient
/** A pool, or the client of a transaction. */
export type Queryable = Pick<pg.Pool, 'query'>

/** @returns the first row of the result; undefined: no row */
export const readRow = async <Row extends pg.QueryResultRow>(
  db: Queryable,
  statement: string | pg.QueryConfig,
  values?: unknown[],
): Promise<Row | undefined> => (await db.query<Row>(statement, values)).rows[0]

/** @returns the first column of all rows of the result */
export const readColumn = async <Value>(
  db: Queryable,
  statement: string | pg.QueryConfig,
  values?: unknown[],
): Promise<Value[]> =>
  (await db.query<Record<string, Value>>(statement, values)).rows.flatMap(row =>
    Object.values(row).slice(0, 1),
  )

/** @returns the first column of the first row of the result; null: no row */
export const readValue = async <Value>(
  ...asked: Parameters<typeof readColumn>
): Promise<Value | null> => (await readColumn<Value>(...asked))[0] ?? null

/** The number that a counting statement returns; 0: no row. */
export const countOf = async (
  db: Queryable,
  statement: string,
  values?: unknown[],
): Promise<number> => (await readValue<number>(db, statement, values)) ?? 0

/** The values of some fields of all rows: an array for each field, as `unnest` takes them. */
export const columnsOf = <Row>(rows: readonly Row[], ...fields: (keyof Row)[]): unknown[][] =>
  fields.map(field => rows.map(row => row[field]))

// int8 arrives as bigint. A number would be exact only up to 2^53, and code could compare strings
// as text by mistake.
pg.types.setTypeParser(pg.types.builtins.INT8, BigInt)

/**
 * `SILENCE`: a session that sends nothing for this time loses its locks. `SIGN_OF_LIFE`: ms between
 * two signs of life.
 */
const SILENCE = '2 min'
const SIGN_OF_LIFE = 20_000

/**
 * Runs `work` in one transaction, and commits when it resolves. Rolls back when it throws. A
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
      // A rollback would wait behind the unanswered query just as long.
      if (isUnanswered(error)) breaks(error)
      else await client.query('rollback').catch(breaks)
      throw error
    }
  })

/**
 * Runs work in a session of its own, whose end frees its locks. A transaction of minutes would keep
 * Postgres from vacuuming. A session without a sign of life for some time loses its locks, so that
 * a stopped process blocks no other. If the work then goes on, it does no harm: the transaction
 * that stores its result checks again.
 *
 * @param idle time without a statement after which Postgres ends the session
 */
export const withSession = <T>(
  pool: Pool,
  idle: string,
  work: (session: Client) => Promise<T>,
): Promise<T> =>
  withClient(pool, async (client, breaks) => {
    breaks(true)
    await client.query(`set idle_session_timeout = '${idle}'`)
    return await work(client)
  })

/**
 * Runs work with a connection of the pool. Afterwards a broken connection is closed.
 *
 * @param work calls `breaks` with the reason when no other caller may use the connection
 */
async function withClient<T>(
  pool: Pool,
  work: (client: Client, breaks: (why: Error | true) => void) => Promise<T>,
) {
  const client = await pool.connect()
  let broken: Error | true | undefined
  const breaks = (why: Error | true) => {
    broken = why
  }
  // Without this listener, the loss of the connection between two statements would end the process.
  client.on('error', breaks)
  try {
    return await work(client, breaks)
  } finally {
    client.off('error', breaks)
    client.release(broken)
  }
}

/**
 * Runs work under an advisory lock of a session. @returns null: another session holds the lock, and
 * `wait` is false
 */
export async function locking<T>(
  session: Client,
  lock: bigint,
  wait: boolean,
  work: () => Promise<T>,
): Promise<T | null> {
  const take = wait
    ? 'select true as held from pg_advisory_lock($1)'
    : 'select pg_try_advisory_lock($1) as held'
  if (!(await readValue<boolean>(session, take, [lock]))) return null
  try {
    return await work()
  } finally {
    // Unlocks at once. Otherwise the lock stays until the server notices that the connection is
    // gone.
    await session.query('select pg_advisory_unlock($1)', [lock]).catch(() => {})
  }
}

/**
 * Runs work of any duration. Meanwhile the session sends a statement every `every` ms, as a sign of
 * life.
 */
export async function keepingAlive<T>(
  session: Client,
  work: () => Promise<T>,
  every: number = SIGN_OF_LIFE,
): Promise<T> {
  const alive = setInterval(() => void session.query('select 1').catch(() => {}), every)
  return await work().finally(() => clearInterval(alive))
}

/**
 * Runs `work` while this process holds an advisory lock. The session keeps the lock by its signs of
 * life.
 *
 * @returns null: another process holds the lock
 */
export const whileLocked = <T>(
  pool: Pool,
  lock: bigint,
  work: () => Promise<T>,
): Promise<T | null> =>
  withSession(pool, SILENCE, session =>
    locking(session, lock, false, () => keepingAlive(session, work)),
  )

/**
 * The server did not answer within the query timeout of the pool. The test compares the driver's
 * message.
 */
const isUnanswered = (error: unknown): error is Error =>
  error instanceof Error && error.message === 'Query read timeout'

/**
 * The reason of a failure as text. An `AggregateError` has no message of its own, so its first
 * error counts.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  return error instanceof Error ? error.message || error.name : String(error)
}
