import { randomBytes } from 'node:crypto'
import pg from 'pg'

export type Pool = pg.Pool
export type Client = pg.PoolClient
/** A pool, or the client of a transaction. */
export type Queryable = Pick<pg.Pool, 'query'>

// int8 arrives as bigint: `seq` counts past 2^53 in principle, and a string is too easily compared
// as text.
pg.types.setTypeParser(pg.types.builtins.INT8, BigInt)

/**
 * Ends the names of all connections of this process, so that Postgres can tell how many processes a
 * service has. The number alone does not: in containers most processes have the same one.
 */
const PROCESS_MARK = `${process.pid}-${randomBytes(3).toString('hex')}`

/**
 * A pool of connections. Errors on idle connections (a restarted server) go to `onError`, and the
 * connection is dropped. Without a listener they would end the process.
 *
 * @param options.max connections
 * @param options.connectTimeout ms to wait for a connection, a free one or a new one; 5 s
 * @param options.statementTimeout ms after which the server ends a statement; 0: never
 * @param options.queryTimeout ms after which the client gives up a server that does not answer;
 * absent: never
 * @param options.settings of the server for these connections, as `enable_seqscan: 'off'`
 */
export function createPool(
  url: string,
  name: string,
  onError: (error: Error) => void,
  options: {
    max?: number
    connectTimeout?: number
    statementTimeout?: number
    queryTimeout?: number
    settings?: Record<string, string>
  } = {},
): Pool {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: `perscope ${name} #${PROCESS_MARK}`,
    max: options.max ?? 8,
    connectionTimeoutMillis: options.connectTimeout ?? 5_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    statement_timeout: options.statementTimeout ?? 60_000,
    ...(options.queryTimeout === undefined ? {} : { query_timeout: options.queryTimeout }),
    ...(options.settings === undefined ? {} : { options: startupOptions(options.settings) }),
    // A paused process that holds the ingestion clock must not stop all others (promise 2).
    idle_in_transaction_session_timeout: 10_000,
  })
  pool.on('error', onError)
  return pool
}

/** Settings in the form of the command line, as a connection sends them. */
function startupOptions(settings: Record<string, string>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')
}
