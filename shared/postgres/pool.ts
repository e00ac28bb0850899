import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import pg from 'pg'
import { readColumn, readValue } from '#search/postgres'
import type { Client, Pool, Queryable } from '#search/types'
import type { Logger } from '#shared/log/logger'
import { createOutageLog, type OutageLog } from '#shared/log/outage'
import { unlessAborted, withTimeLimit } from '#shared/resilience/time-limit'

export {
  type Client,
  columnsOf,
  countOf,
  keepingAlive,
  locking,
  type Pool,
  type Queryable,
  readColumn,
  readRow,
  readValue,
  transaction,
  whileLocked,
  withSession,
} from '#search/postgres'

/*
 * All processes connect through this file, so the same rules hold everywhere. Writes go only to a
 * primary with a schema that we know. Statements have a time limit, unless the caller sets none. A
 * lost connection never ends a process.
 */

/**
 * A connection whose loss does not end the process. Its statements fail all the same. Without a
 * listener, an `error` event would end the process. A pool listens only to its idle connections,
 * and not to those that it hands out or verifies, or that a library holds.
 */
export class HeardClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config)
    this.on('error', () => {})
  }
}

declare module 'pg' {
  // The library has these, but its types do not.
  interface Client {
    processID: number | null
    secretKey: number | null
  }
  interface Connection {
    startup(): void
    cancel(processID: number | null, secretKey: number | null): void
  }
}

/**
 * The last part of the names of all connections of this process. By it, Postgres can tell how many
 * processes a service has. The process id alone is not enough, because in containers most processes
 * have the same id.
 */
const PROCESS_MARK = `${process.pid}-${randomBytes(3).toString('hex')}`
/**
 * Number of the newest migration that this checkout has. The names of connections include it, so
 * that processes of older checkouts can be found.
 */
export const SCHEMA: number = Math.max(
  ...readdirSync(new URL('../../infra/migrations/', import.meta.url)).map(
    file => Number.parseInt(file, 10) || 0,
  ),
)
/** Upgrades begin at this schema. A database with an older schema is refused. */
export const FIRST_SCHEMA = 33

/**
 * If our host vanishes, the server ends our connections after some 25 s, and so frees our locks. By
 * default it would wait two hours. When we close a connection, the server ends its statement within
 * a second.
 */
const SERVER_KEEPALIVE = {
  client_connection_check_interval: '1s',
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '25s',
}
/**
 * After this many ms of silence, the operating system asks whether the server's host still exists.
 */
const CLIENT_KEEPALIVE = 10_000
/** How many ms the client waits beyond the statement's time limit on the server. */
const LATE = 15_000

/** A standby answered at the address of the primary. It takes no writes, and may lag behind. */
class StandbyError extends Error {
  override name = 'StandbyError'
  /** The code that Postgres gives for a write on a standby: read_only_sql_transaction. */
  code = '25006'
  constructor() {
    super('Postgres at this address is a standby; waiting for the primary')
  }
}

/** The name of a schema that exists during a restore. */
export const UNFINISHED = 'unfinished_restore'

/** Postgres's code for insufficient_privilege. */
const NO_RIGHT = '42501'

/** The state of the database does not allow its use. */
class UnusableDatabaseError extends Error {
  override name = 'UnusableDatabaseError'
}

/**
 * The restore of a database did not end. Such a database accepts cursors from before the restore,
 * and its ingestion clock may be behind the times that clients have seen.
 */
const RESTORE_DID_NOT_END =
  'A restore of this database did not end. Run it again; or, to go on with what the database holds, `npm run recovered`.'

/** @throws UnusableDatabaseError. A database without a schema is accepted. */
export function refuseOlder(schema: number): void {
  if (schema === 0 || schema >= FIRST_SCHEMA) return
  throw new UnusableDatabaseError(
    `The database is at migration ${schema}, and upgrades begin at ${FIRST_SCHEMA}; first run \`npm run migrate\` of a version that ends with migration ${FIRST_SCHEMA}.`,
  )
}

export interface PoolOptions {
  max?: number
  connectTimeout?: number
  statementTimeout?: number
  queryTimeout?: number
  mayBeStandby?: boolean
  mayBeUnfinished?: boolean
  settings?: Record<string, string>
  onConnect?: (client: pg.ClientBase) => Promise<void>
}

/**
 * A pool of connections to the primary. A proxy may lead to a standby for a moment, for instance
 * after a start or a failover. The pool refuses such a connection. When an idle connection breaks
 * (a restarted server), the pool drops it and calls `onError`. Without such a listener, the error
 * would end the process.
 *
 * @param options.max connections
 * @param options.connectTimeout ms to wait for a connection, a free one or a new one; 5 s
 * @param options.statementTimeout ms after which the server ends a statement; 0: never
 * @param options.queryTimeout ms after which the client gives up a server that does not answer, for
 *   instance because its host has vanished; absent: 15 s after the time limit of the statement, if
 *   it has one
 * @param options.mayBeStandby accepts a standby too, for reading
 * @param options.mayBeUnfinished accepts a database whose restore did not end
 * @param options.onConnect runs on each new connection before any other statement; when it throws,
 *   the connection is closed
 * @param options.settings settings of the server for these connections, such as
 *   `enable_seqscan: 'off'`
 */
export function createPool(
  url: string,
  name: string,
  onError: (error: Error) => void,
  options: PoolOptions = {},
): Pool {
  const statementTimeout = options.statementTimeout ?? 60_000
  const queryTimeout =
    options.queryTimeout ?? (statementTimeout === 0 ? undefined : statementTimeout + LATE)
  const pool = new pg.Pool({
    Client: HeardClient,
    connectionString: url,
    application_name: `perscope ${name} #${PROCESS_MARK} m${SCHEMA}`,
    max: options.max ?? 8,
    connectionTimeoutMillis: options.connectTimeout ?? 5_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: CLIENT_KEEPALIVE,
    statement_timeout: statementTimeout,
    ...(queryTimeout === undefined ? {} : { query_timeout: queryTimeout }),
    options: startupOptions(options.settings ?? {}),
    ...(options.mayBeStandby === true ? {} : { verify: refuseOthers(options.mayBeUnfinished) }),
    ...(options.onConnect === undefined ? {} : { onConnect: options.onConnect }),
    // A paused process that holds the ingestion clock must not stop all other processes (promise
    // 2).
    idle_in_transaction_session_timeout: 10_000,
  })
  pool.on('error', onError)
  return pool
}

/**
 * Runs work on a connection until the signal ends it. The pool keeps the connection after success,
 * and after an error of the statement (`DatabaseError`). It closes the connection after any other
 * failure. After an interruption it closes the connection too, unless `settle` finds it free.
 *
 * @param settle called after an interruption, because the statement may still run. The caller and
 *   the connection wait for it. Returns whether the connection is free again
 */
export async function withConnection<T>(
  pool: Pool,
  signal: AbortSignal,
  work: (client: Client) => Promise<T>,
  settle: (client: Client, working: Promise<T>) => Promise<boolean> = async () => false,
): Promise<T> {
  const connecting = pool.connect()
  const client = await unlessAborted(connecting, signal).catch((error: unknown) => {
    // The connection may still come, but the caller has gone, so it returns to the pool.
    connecting.then(
      late => late.release(),
      () => {},
    )
    throw error
  })
  let isBroken = false
  // Without a listener, a connection lost between two statements would end the process.
  const onError = () => {
    isBroken = true
  }
  client.on('error', onError)
  const working = work(client)
  try {
    return await unlessAborted(working, signal)
  } catch (error) {
    const isFree = signal.aborted
      ? await settle(client, working)
      : error instanceof pg.DatabaseError
    isBroken ||= !isFree
    throw error
  } finally {
    client.off('error', onError)
    client.release(isBroken)
  }
}

/** ms that a cancelled statement may take to end. Then its connection is closed. */
const CANCELLING = 2_000

/**
 * The statements of one caller. When it leaves, Postgres cancels those that run. They hold their
 * connections until they have ended: a backend whose connection is closed may work on for a second,
 * beside the backend of the connection that replaces it. A transaction that has begun ends by
 * itself.
 *
 * @param took called with the ms of each statement, also of one that failed. The next one waits for
 *   it
 */
export const endingWith = (
  pool: Pool,
  leaves: AbortSignal,
  took: (ms: number) => Promise<void>,
): Pool =>
  Object.create(pool, {
    // The connection belongs to the pool itself, which counts its connections.
    connect: { value: pool.connect.bind(pool) },
    query: {
      async value(statement: string | pg.QueryConfig, values?: unknown[]) {
        let start: number | null = null
        const run = async (client: Client) => {
          start = performance.now()
          return client.query(statement, values)
        }
        const settle = (client: Client, working: Promise<unknown>) => {
          // The connection is free only when the request is over as well. Otherwise the request
          // could end the next statement.
          const ended = Promise.allSettled([working, requestCancel(pool, client)])
          return withTimeLimit(
            ended.then(() => true),
            CANCELLING,
            () => false,
          )
        }
        try {
          return await withConnection(pool, leaves, run, settle)
        } finally {
          if (start !== null) await took(performance.now() - start)
        }
      },
    },
  })

/**
 * Asks Postgres to cancel the statement of a connection. Such a request takes a connection of its
 * own for a moment, but no place among `max_connections`. It fails always: Postgres answers by
 * closing that connection.
 */
async function requestCancel(pool: Pool, { processID, secretKey }: Client): Promise<void> {
  // This limit is the longer one. So a request that gets no answer never leaves the statement's
  // connection free.
  const asking = new HeardClient({ ...pool.options, connectionTimeoutMillis: 2 * CANCELLING })
  const { connection } = asking
  connection.startup = () => connection.cancel(processID, secretKey)
  await asking.connect()
}

/** Refuses a standby, and a database whose restore did not end. */
const refuseOthers =
  (mayBeUnfinished = false) =>
  (client: pg.PoolClient, done: (error?: Error) => void): void => {
    client
      .query<{ standby: boolean; unfinished: boolean }>(
        `select pg_is_in_recovery() as standby, to_regnamespace('${UNFINISHED}') is not null as unfinished`,
      )
      .then(({ rows: [found] }) => {
        if (found?.standby) done(new StandbyError())
        else
          done(
            found?.unfinished && !mayBeUnfinished
              ? new UnusableDatabaseError(RESTORE_DID_NOT_END)
              : undefined,
          )
      }, done)
  }

/**
 * Checks the database once, before a service starts. Accepts a server that does not answer or has
 * no schema yet, because the service itself waits for it.
 *
 * @param away called when the server does not answer or refuses us
 * @returns the numbers of the migrations that the database has
 * @throws UnusableDatabaseError when a restore did not end, or the schema is too old
 */
export async function refuseUnusable(
  url: string,
  away: (error: Error) => void = () => {},
): Promise<number[]> {
  const pool = createPool(url, 'start', () => {}, { max: 1 })
  try {
    const known = await readColumn<number>(pool, 'select number from migrations')
    refuseOlder(Math.max(0, ...known))
    return known
  } catch (error) {
    if (error instanceof UnusableDatabaseError) throw error
    // Earlier versions made the embedded database as superuser.
    if (error instanceof pg.DatabaseError && error.code === NO_RIGHT) {
      throw new UnusableDatabaseError(
        `The account of DATABASE_URL does not own this database, as it does from migration ${FIRST_SCHEMA} on; name its owner, or first run a version that ends with migration ${FIRST_SCHEMA}.`,
      )
    }
    // 42P01: the server has no such table.
    if (error instanceof Error && !('code' in error && error.code === '42P01')) away(error)
    return []
  } finally {
    await pool.end()
  }
}

/**
 * Settings of the server for a connection, in the form of command-line options. The client sends
 * them when it connects.
 */
export const startupOptions = (settings: Record<string, string>): string =>
  Object.entries({ ...SERVER_KEEPALIVE, ...settings })
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')

/**
 * Whether the same work may be tried again after an error: lost connections, restarts, full servers
 * and standbys.
 */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (/^(08|53|57P0|40001|40P01|25006|25P0[34]|55P03)/.test(code)) return true
  if (/^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOST|ENETUNREACH|ENOENT)/.test(code))
    return true
  return /Connection terminated|Query read timeout|connection timeout|timeout exceeded when trying to connect|Client has encountered a connection error/i.test(
    error.message,
  )
}

/**
 * Logs when connections to Postgres are lost, and when Postgres answers again.
 *
 * @param pool returns the pool of these connections, once it is open
 */
export const postgresOutageLog = (log: Logger, pool: () => Pool): OutageLog =>
  createOutageLog(log, 'lost connections to Postgres', 'Postgres answers again', () =>
    pool().query('select 1'),
  )

/**
 * SQL: the history of the primary that runs the statement, which is its database system and its
 * timeline. After a failover it is another one. What was read from one history must not be written
 * into another, because the same number may then belong to another article.
 */
export const PRIMARY_HISTORY =
  '(select system_identifier::text || left(pg_walfile_name(pg_current_wal_lsn()), 8) from pg_control_system())'

/**
 * A secret of 256 bits that all processes share. The first process that needs it makes it. Postgres
 * stores it, so it outlives restarts. `cursor` authenticates cursors, `feeds` makes the tokens of
 * feeds, `alerts` makes the secrets of alerts. `history …` identifies one history of the data: only
 * servers with this history have the secret (services/api/standbys).
 */
export async function loadSharedSecret(
  db: Queryable,
  name: 'cursor' | 'feeds' | 'alerts' | 'refusals' | `history ${string}`,
): Promise<Buffer> {
  await db.query('insert into secrets (name, value) values ($1, $2) on conflict do nothing', [
    name,
    randomBytes(32),
  ])
  const value = await readValue<Buffer>(db, 'select value from secrets where name = $1', [name])
  if (!value) throw new Error(`The secret "${name}" was removed a moment ago; try again.`)
  return value
}
