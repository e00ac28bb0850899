import type { ClientBase } from 'pg'
import {
  INDEX_STATE,
  type IndexState,
  type IsWhole,
  type NeededState,
  SEARCH_SETTINGS,
  type Statement,
} from '#search/index'
import type { Logger } from '#shared/log/logger'
import { createOutageLog } from '#shared/log/outage'
import { type Client, createPool, isTransient, readRow } from '#shared/postgres/pool'
import type { History, KnownHistory } from './history.ts'
import { createRestingPool } from './resting-pool.ts'

export interface Standby {
  /** Host and port. */
  name: string
  /**
   * Whether the server can be asked. False while it rests after a failure, and for `FOREIGN_REST`
   * after it was no standby of ours.
   */
  answers(): boolean
  /** Whether the server answers at all, even if it is the primary at present. */
  isUp(): boolean
  /** How many statements are under way. */
  underWay(): number
  /**
   * The rows of a statement, or the reason why there are none, within `LIMIT`. It never throws.
   */
  rows<Row>(statement: Statement, needed: NeededState, isWhole?: IsWhole<Row>): Promise<Reply<Row>>
  close(): Promise<void>
}

type Reply<Row> = { rows: Row[] } | { refusal: Refusal }

/**
 * ms for a statement, with its connection and its look. Statements of searches take milliseconds.
 * When a standby stops answering, a client waits this long once; then the primary answers.
 */
const LIMIT = 500
/**
 * ms for which a server is not asked after it was found to be no standby of ours. It may be the
 * primary.
 */
const FOREIGN_REST = 1_000
/** ms after which the server itself ends a statement whose caller has gone. */
const STATEMENT_TIMEOUT = 5_000

/** Opens a server that follows the primary. */
export function openStandby(
  url: string,
  connections: number,
  history: History,
  log: Logger,
): Standby {
  const name = new URL(url).host
  const looks = createLooks(history)
  const outage = createOutageLog(
    log,
    `standby ${name} does not answer; the other servers are read`,
    `standby ${name} answers again`,
  )
  const open = () =>
    createPool(url, 'api standby', () => {}, {
      mayBeStandby: true,
      max: connections,
      connectTimeout: LIMIT,
      statementTimeout: STATEMENT_TIMEOUT,
      settings: SEARCH_SETTINGS,
    })
  const pool = createRestingPool({ open, look: looks.look, limit: LIMIT, outage })
  let underWay = 0
  let answeredAt = 0
  let foreignUntil = 0
  return {
    name,
    answers: () => !pool.rests() && performance.now() >= foreignUntil,
    isUp: () => !pool.rests(),
    underWay: () => underWay,
    async rows<Row>(
      statement: Statement,
      needed: NeededState,
      isWhole?: IsWhole<Row>,
    ): Promise<Reply<Row>> {
      const own = new AbortController()
      const timer = setTimeout(() => {
        // If the server has answered other statements meanwhile, only this statement is slow.
        if (performance.now() - answeredAt > LIMIT / 2)
          pool.rest(new Error(`no answer within ${LIMIT} ms`))
        own.abort()
      }, LIMIT)
      underWay++
      try {
        const answer = await pool.run(own, client => ask(looks, client, statement, needed, isWhole))
        answeredAt = performance.now()
        const isForeign =
          'refusal' in answer && answer.refusal === 'foreign' && history.current() !== null
        if (isForeign) foreignUntil = answeredAt + FOREIGN_REST
        return answer
      } catch (error) {
        if (own.signal.aborted) return { refusal: 'timeout' }
        // Replaying WAL may cancel a statement on a standby; the next statement works.
        if (!isConflict(error) && isTransient(error)) pool.rest(error)
        return { refusal: 'error' }
      } finally {
        clearTimeout(timer)
        underWay--
      }
    },
    close: () => pool.close(),
  }
}

async function ask<Row>(
  looks: Looks,
  client: Client,
  statement: Statement,
  needed: NeededState,
  isWhole: IsWhole<Row> = () => true,
): Promise<Reply<Row>> {
  const refusal = await looks.refusalOf(client, needed)
  if (refusal !== null) return { refusal }
  const { rows } = await client.query(statement)
  if (isWhole(rows)) return { rows }
  looks.forget(client)
  return { refusal: 'ahead' }
}

/**
 * `serialization_failure`: Postgres has cancelled the statement, because it blocked the replay of
 * WAL.
 */
const isConflict = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === '40001'

/**
 * Why a standby cannot run a statement. `behind`: it has not replayed enough. `ahead`: it has newer
 * segments or words than the statement asks for, or it lacks some rows that the statement reads.
 * `foreign`: it does not hold the primary's history, or is no standby. `timeout`: it does not
 * answer in time. `error`: it answered with an error.
 */
type Refusal = 'behind' | 'ahead' | 'foreign' | 'timeout' | 'error'

interface Looks {
  /**
   * The reason why a connection cannot serve a state; null: it can. It looks again where the last
   * look does not show the state.
   */
  refusalOf(client: ClientBase, needed: NeededState): Promise<Refusal | null>
  /** Looks at the server once. */
  look(client: ClientBase): Promise<Refusal | null>
  /** Forgets the last look of a connection, because the server has advanced since. */
  forget(client: ClientBase): undefined
}

interface Look {
  state: IndexState
  history: KnownHistory
}

/**
 * ms without a new look, after a look did not show the state that a statement needs. Meanwhile,
 * statements that need a newer state go to other servers.
 */
const QUIET = 20

/**
 * The newest state that each connection to a standby has shown. A connection belongs to one run of
 * one server, even if its address later leads elsewhere. The state of a running server only
 * advances. So a look stays valid as long as its connection.
 */
function createLooks(history: History): Looks {
  const looks = new WeakMap<ClientBase, Look>()
  let inVain = { refusal: 'behind' as Refusal, until: 0 }

  async function look(client: ClientBase): Promise<Refusal | null> {
    const known = history.current()
    if (known === null) return 'foreign'
    const row = await readRow<LookRow>(client, {
      name: 'standby-look',
      text: LOOK,
      values: [known.name],
    })
    const holds = row?.follows === true && row.secret?.equals(known.secret) === true
    if (!holds) return 'foreign'
    looks.set(client, { state: row, history: known })
    return null
  }
  function compare(client: ClientBase, needed: NeededState): Refusal | null {
    const seen = looks.get(client)
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
    look,
    forget: client => void looks.delete(client),
  }
}

function refusalOf(seen: IndexState, needed: NeededState): Refusal | null {
  const {
    lastSeq = seen.lastSeq,
    version = seen.version,
    wordsVersion = seen.wordsVersion,
  } = needed
  if (seen.lastSeq < lastSeq || seen.version < version || seen.wordsVersion < wordsVersion)
    return 'behind'
  return seen.version > version || seen.wordsVersion > wordsVersion ? 'ahead' : null
}

interface LookRow extends IndexState {
  follows: boolean
  secret: Buffer | null
}

/** One statement has one snapshot, so the secret and the state are of the same moment. */
const LOOK = `
  select ${INDEX_STATE.columns}, pg_is_in_recovery() as follows, (select value from secrets where name = $1) as secret
  from ${INDEX_STATE.tables}`
