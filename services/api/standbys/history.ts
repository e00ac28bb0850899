import { setTimeout as pause } from 'node:timers/promises'
import pg, { type ClientBase } from 'pg'
import {
  isTransient,
  loadSharedSecret,
  type Pool,
  readRow,
  readValue,
  withConnection,
} from '#shared/postgres/pool'

/**
 * The history that the primary writes: its database system and its timeline. A promoted standby
 * begins a new timeline. Another standby may then hold commits of the old primary that the new
 * primary never had. The new primary gives the numbers of the lost articles to other articles, so
 * the API must not read this standby.
 *
 * So each history has a secret in the table `secrets`, made on its primary. A server that has the
 * secret has replayed a commit of this history, and holds everything before it. A server of another
 * system, of another database or of an abandoned timeline does not have it.
 */
export interface History {
  /**
   * Looks at a new connection to the primary, before the connection is used. An earlier primary
   * may live on, with commits that a failover has undone. As soon as a later timeline is seen,
   * connections to the earlier one fail.
   */
  look(client: ClientBase): Promise<void>
  /** @param told runs when the primary has a new history, before anything is read from it */
  onChange(told: () => void): void
  /** The last known history of the primary; null: its secret is not read yet. */
  current(): KnownHistory | null
  close(): void
}

export interface KnownHistory {
  /** The name of the secret in `secrets`. */
  name: `history ${string}`
  secret: Buffer
}

/**
 * ms between two attempts to read a secret. An attempt soon after a failover may fail, because the
 * first commits of a new primary may have to wait.
 */
const INTERVAL = 500

/**
 * @param primary returns the pool of the primary, once it is open
 * @param hasStandbys false: nobody needs the secret
 */
export function followHistory(primary: () => Pool, hasStandbys = true): History {
  const closing = new AbortController()
  let seen: Seen | null = null
  let known: KnownHistory | null = null
  const listeners: (() => void)[] = []
  /** Connections to the server that was last seen to be the primary. */
  const connections = new Set<pg.Client>()

  /**
   * Whether a new connection shows another history than the last one.
   *
   * @throws the server was the primary before
   */
  function isAnother(client: ClientBase, found: Seen): boolean {
    if (seen?.system === found.system && found.timeline < seen.timeline) throw earlierPrimary()
    const is = seen === null || nameOf(seen) !== nameOf(found)
    // A transaction on such a connection fails, and the pool removes the connection.
    for (const one of is ? connections : []) one.connection.stream.destroy(earlierPrimary())
    if (client instanceof pg.Client)
      connections.add(client.once('end', () => connections.delete(client)))
    return is
  }

  async function load(name: KnownHistory['name']): Promise<void> {
    const isCurrent = () => seen !== null && name === nameOf(seen) && !closing.signal.aborted
    while (isCurrent()) {
      const secret = await withConnection(primary(), closing.signal, one =>
        loadFrom(one, name),
      ).catch(() => null)
      if (secret !== null && isCurrent()) known = { name, secret }
      if (secret !== null) return
      await pause(INTERVAL, undefined, { signal: closing.signal, ref: false }).catch(() => {})
    }
  }
  return {
    async look(client) {
      const found = await read(client)
      if (found === null || !isAnother(client, found)) return
      const name = nameOf(found)
      if (seen !== null) for (const tell of listeners) tell()
      seen = found
      known = null
      if (!hasStandbys) return
      // Usually the secret exists already. Making it takes a commit, and no connection should wait
      // for a commit.
      const secret = await readValue<Buffer>(client, SECRET, [name]).catch(() => null)
      if (secret === null) void load(name)
      else if (seen === found) known = { name, secret }
    },
    onChange(told) {
      listeners.push(told)
    },
    current: () => known,
    close: () => closing.abort(),
  }
}

// The SQLSTATE that Postgres sends when it shuts down. A caller that gets it does its work again.
const earlierPrimary = () =>
  Object.assign(new Error('Postgres at this address was the primary before a failover'), {
    code: '57P01',
  })

interface Seen {
  system: string
  timeline: string
}

/**
 * Null: this server does not tell its history. It may be no primary, or its operator forbids the
 * functions.
 */
async function read(client: ClientBase): Promise<Seen | null> {
  try {
    return (await readRow<Seen>(client, HISTORY))!
  } catch (error) {
    if (error instanceof pg.DatabaseError && !isTransient(error)) return null
    throw error
  }
}

/**
 * Null: the connection leads to a server with another history. It may be an earlier primary that
 * does not know yet that it was replaced. Such a server must not make the secret.
 */
async function loadFrom(client: ClientBase, name: KnownHistory['name']): Promise<Buffer | null> {
  const found = await read(client)
  return found !== null && nameOf(found) === name ? loadSharedSecret(client, name) : null
}

const SECRET = 'select value from secrets where name = $1'

const nameOf = ({ system, timeline }: Seen) => `history ${system} ${timeline}` as const

/**
 * In every version of Postgres, the name of a WAL file begins with eight digits of its timeline.
 */
const HISTORY = `
  select system_identifier::text as system, left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline
  from pg_control_system()`
