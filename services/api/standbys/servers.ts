import type { ClientBase } from 'pg'
import { SEARCH_SETTINGS, type Standbys } from '#search/index'
import type { Config } from '#shared/config/config'
import type { Logger } from '#shared/log/logger'
import { type Counter, counter, gauge } from '#shared/metrics'
import { createPool, type Pool, postgresOutageLog } from '#shared/postgres/pool'
import { followHistory, type History } from './history.ts'
import { openStandby, type Standby } from './standby.ts'

/** The servers of an API process. */
export interface Servers {
  /** The pool of the primary. */
  pool: Pool
  history: History
  /** undefined: DATABASE_READ_URL is empty. */
  standbys: ReturnType<typeof openStandbys> | undefined
}

/**
 * Opens the primary for data that must be current (keys, counters, the state of the index), and the
 * standbys of DATABASE_READ_URL for data that searches read.
 */
export function openServers(config: Config, log: Logger): Servers {
  const urls = config.DATABASE_READ_URL
  const history = followHistory(() => pool, urls.length > 0)
  const pool: Pool = openApiPool(config, log, history.look)
  const standbys =
    urls.length === 0 ? undefined : openStandbys(urls, config.DATABASE_POOL, history, log)
  return { pool, history, standbys }
}

/**
 * Connections for searches and counters. A client waits for a statement at most SEARCH_TIMEOUT and
 * a second.
 *
 * @param onConnect runs on each new connection before it is used
 */
function openApiPool(
  config: Config,
  log: Logger,
  onConnect: (client: ClientBase) => Promise<void>,
): Pool {
  const pool: Pool = createPool(
    config.DATABASE_URL,
    'api',
    postgresOutageLog(log, () => pool).met,
    {
      max: config.DATABASE_POOL,
      statementTimeout: config.SEARCH_TIMEOUT,
      // The server ends a long statement. This limit ends the wait for a server that hangs.
      queryTimeout: config.SEARCH_TIMEOUT + 1_000,
      settings: SEARCH_SETTINGS,
      onConnect,
    },
  )
  return pool
}

/**
 * Opens the standbys of DATABASE_READ_URL. A statement goes to the standby with the fewest
 * statements under way. When that standby refuses it, the next one is asked. After the result null,
 * the caller asks the primary.
 */
export function openStandbys(
  urls: string[],
  connections: number,
  history: History,
  log: Logger,
): Standbys & { close(): Promise<void> } {
  const standbys = urls.map(url => openStandby(url, connections, history, log))
  let turn = 0
  // DATABASE_READ_URL may name all members of a cluster, so the primary among them counts as well.
  const up = 'Whether a server of DATABASE_READ_URL answers this process.'
  gauge(
    'read_standby_up',
    up,
    ['standby'],
    async () => standbys,
    (set, all) => {
      for (const { name, isUp } of all) set({ standby: name }, isUp() ? 1 : 0)
    },
  )

  return {
    async rows(statement, needed, isWhole) {
      turn = (turn + 1) % standbys.length
      for (const standby of inTurn(standbys, turn)) {
        const answer = await standby.rows(statement, needed, isWhole)
        if ('rows' in answer) {
          statements.inc({ server: 'standby' })
          return answer.rows
        }
        refusals.inc({ reason: answer.refusal })
        // The client has waited long enough.
        if (answer.refusal === 'timeout') break
      }
      statements.inc({ server: 'primary' })
      return null
    },
    async close() {
      await Promise.all(standbys.map(standby => standby.close()))
    },
  }
}

/** The standbys that answer, the least busy first. Equally busy standbys take turns. */
function inTurn(standbys: Standby[], turn: number): Standby[] {
  return [...standbys.slice(turn), ...standbys.slice(0, turn)]
    .filter(standby => standby.answers())
    .sort((a, b) => a.underWay() - b.underWay())
}

/** `server`: standby, primary */
export const statements: Counter<'server'> = counter(
  'read_statements_total',
  'Statements of searches that a standby may answer, by the server that did: standby, primary.',
  ['server'],
)

/** `reason`: see `Refusal` */
export const refusals: Counter<'reason'> = counter(
  'read_refusals_total',
  'Statements that a standby did not answer: behind, ahead, foreign, timeout, error.',
  ['reason'],
)
