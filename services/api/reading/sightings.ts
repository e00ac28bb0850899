import type { ClientBase } from 'pg'
import {
  INDEX_STATE,
  type IndexState,
  type IndexStateRow,
  indexStateOf,
  type NeededState,
} from '../../../search/index.ts'
import type { History, KnownHistory } from './history.ts'

/**
 * Why a standby cannot run a statement: it has not replayed enough; it has newer segments or words
 * than the statement asks for, or less than all its rows; it does not hold the primary's history,
 * or follows no primary; it does not answer in time; it answered with an error.
 */
export type Refusal = 'behind' | 'ahead' | 'foreign' | 'timeout' | 'error'

/** The newest state that each connection to a standby was seen to hold. */
export interface Sightings {
  /** Whether a connection holds a state; looks again where its last sighting does not show it. */
  refusalOf(client: ClientBase, needed: NeededState): Promise<Refusal | null>
  /** Looks at the server once. */
  look(client: ClientBase): Promise<void>
  /** The server has moved on since its last sighting. */
  forget(client: ClientBase): void
}

interface Sighting {
  state: IndexState
  history: KnownHistory
}

/**
 * ms after a look that was in vain: until then, statements that it could not serve go elsewhere.
 */
const QUIET = 20

/**
 * A connection belongs to one run of one server, whatever stands behind its address, and the state
 * of a running server only advances. So a sighting holds for as long as its connection.
 */
export function createSightings(history: History): Sightings {
  const sightings = new WeakMap<ClientBase, Sighting>()
  let inVain = { refusal: 'behind' as Refusal, until: 0 }

  async function look(client: ClientBase): Promise<Refusal | null> {
    const known = history.current()
    if (known === null) return 'foreign'
    const { rows } = await client.query<LookRow>({ name: 'standby-look', text: LOOK, values: [known.name] })
    const row = rows[0]
    const holds = row?.follows === true && row.secret?.equals(known.secret) === true
    if (!holds) return 'foreign'
    sightings.set(client, { state: indexStateOf(row), history: known })
    return null
  }
  function compare(client: ClientBase, needed: NeededState): Refusal | null {
    const seen = sightings.get(client)
    if (seen === undefined || seen.history !== history.current()) return 'behind'
    return refusalOf(seen.state, needed)
  }
  return {
    async refusalOf(client, needed) {
      const first = compare(client, needed)
      if (first !== 'behind') return first
      if (performance.now() < inVain.until) return inVain.refusal
      const refusal = (await look(client)) ?? compare(client, needed)
      if (refusal !== null) inVain = { refusal, until: performance.now() + QUIET }
      return refusal
    },
    async look(client) {
      await look(client)
    },
    forget: client => void sightings.delete(client),
  }
}

function refusalOf(seen: IndexState, { lastSeq, version, wordsVersion }: NeededState): Refusal | null {
  const isBehind =
    (lastSeq !== undefined && seen.lastSeq < lastSeq) ||
    (version !== undefined && seen.version < version) ||
    (wordsVersion !== undefined && seen.wordsVersion < wordsVersion)
  if (isBehind) return 'behind'
  const isAhead =
    (version !== undefined && seen.version > version) ||
    (wordsVersion !== undefined && seen.wordsVersion > wordsVersion)
  return isAhead ? 'ahead' : null
}

interface LookRow extends IndexStateRow {
  follows: boolean
  secret: Buffer | null
}

/** One statement has one snapshot: the secret and the state are of the same moment. */
const LOOK = `
  select ${INDEX_STATE.columns}, pg_is_in_recovery() as follows, (select value from secrets where name = $1) as secret
  from ${INDEX_STATE.tables}`
