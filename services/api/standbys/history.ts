import { setTimeout as pause } from 'node:timers/promises'
import pg, { type ClientBase } from 'pg'
import { isTransient, loadSharedSecret, type Pool, readRow, readValue } from '../../../shared/postgres/pool.ts'
import { withConnection } from './resting-pool.ts'

/**
 * The history that the primary writes: its database system and its timeline. A promoted standby
 * begins a new timeline. Another standby may then hold commits of the old primary that the new one
 * never had, under numbers that the new one gives to other articles. It must not be read.
 *
 * So each history has a secret in the table `secrets`, made on its primary. A server that shows the
 * secret has replayed a commit of this history, and holds everything before it. A server of another
 * system, of another database or of an abandoned timeline cannot show it.
 */
export type History = ReturnType<typeof followHistory>

export interface KnownHistory {
  /** The name of its secret. */
  name: `history ${string}`
  secret: Buffer
}

/**
 * ms between two attempts to read a secret: the first commits after a failover may have to wait.
 */
const INTERVAL = 500

/**
 * @param primary returns the pool of the primary, once it is open
 * @param hasStandbys whether somebody asks for the secret
 */
export function followHistory(primary: () => Pool, hasStandbys = true) {
  const closing = new AbortController()
  let seen: Seen | null = null
  let known: KnownHistory | null = null
  const listeners: (() => void)[] = []

  async function load(name: KnownHistory['name']): Promise<void> {
    const isCurrent = () => seen !== null && name === nameOf(seen) && !closing.signal.aborted
    while (isCurrent()) {
      const secret = await withConnection(primary(), closing.signal, one => loadFrom(one, name)).catch(() => null)
      if (secret !== null && isCurrent()) known = { name, secret }
      if (secret !== null) return
      await pause(INTERVAL, undefined, { signal: closing.signal, ref: false }).catch(() => {})
    }
  }
  return {
    /** Looks at a new connection to the primary, before the connection is used. */
    async look(client: ClientBase): Promise<void> {
      const found = await read(client)
      if (found === null) return
      const isOlder = seen !== null && seen.system === found.system && found.timeline <= seen.timeline
      // An earlier primary that was paused may answer late. All that it shows is also in the new
      // history.
      if (isOlder) return
      const name = nameOf(found)
      if (seen !== null) for (const tell of listeners) tell()
      seen = found
      known = null
      if (!hasStandbys) return
      // Mostly the secret exists already. To make it takes a commit, and no connection waits for
      // that.
      const secret = await readValue<Buffer>(client, SECRET, [name]).catch(() => null)
      if (secret === null) void load(name)
      else if (seen === found) known = { name, secret }
    },
    /** @param told runs when the primary writes another history, before anything is read from it */
    onChange(told: () => void): void {
      listeners.push(told)
    },
    /** The history that the primary was last seen to write; null: its secret is not read yet. */
    current: () => known,
    close: () => closing.abort(),
  }
}

interface Seen {
  system: string
  timeline: string
}

/**
 * Null: this server tells no history. It may be no primary, or its operator forbids the functions.
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
 * Null: the connection leads to a server that writes another history. It may be an earlier primary
 * that does not know yet that it was replaced. It must not make the secret.
 */
async function loadFrom(client: ClientBase, name: KnownHistory['name']): Promise<Buffer | null> {
  const found = await read(client)
  return found !== null && nameOf(found) === name ? loadSharedSecret(client, name) : null
}

const SECRET = 'select value from secrets where name = $1'

const nameOf = ({ system, timeline }: Seen) => `history ${system} ${timeline}` as const

/** In every version, the name of a WAL file begins with eight digits of its timeline. */
const HISTORY = `
  select system_identifier::text as system, left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline
  from pg_control_system()`
