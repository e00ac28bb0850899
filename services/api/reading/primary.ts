import type { ClientBase } from 'pg'
import { SEARCH_SETTINGS } from '../../../search/index.ts'
import type { Config } from '../../../shared/config/config.ts'
import type { Logger } from '../../../shared/log/logger.ts'
import { postgresOutageLog } from '../../../shared/postgres/outage.ts'
import { createPool, type Pool } from '../../../shared/postgres/pool.ts'

/**
 * Connections for searches and counters; no statement keeps a client waiting longer than
 * SEARCH_TIMEOUT and a second.
 *
 * @param onConnect runs on each new connection before it is used
 */
export function openApiPool(config: Config, log: Logger, onConnect?: (client: ClientBase) => Promise<void>): Pool {
  const pool: Pool = createPool(config.DATABASE_URL, 'api', postgresOutageLog(log, () => pool).met, {
    max: config.DATABASE_POOL,
    statementTimeout: config.SEARCH_TIMEOUT,
    // The server ends a long statement; a server that hangs is given up by us.
    queryTimeout: config.SEARCH_TIMEOUT + 1_000,
    settings: SEARCH_SETTINGS,
    ...(onConnect ? { onConnect } : {}),
  })
  return pool
}
