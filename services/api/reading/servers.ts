import type { Config } from '../../../shared/config/config.ts'
import type { Logger } from '../../../shared/log/logger.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import { followHistory } from './history.ts'
import { openApiPool } from './primary.ts'
import { type OpenedStandbys, openStandbys } from './standbys.ts'

/** The servers of an API process. */
export interface Servers {
  /** Of the primary. */
  pool: Pool
  /** undefined: DATABASE_READ_URL names none. */
  standbys: OpenedStandbys | undefined
}

/**
 * Opens the primary for all that must be current (keys, counters, the state of the index), and the
 * standbys of DATABASE_READ_URL for what searches read.
 */
export function openServers(config: Config, log: Logger): Servers {
  const urls = config.DATABASE_READ_URL
  if (urls.length === 0) return { pool: openApiPool(config, log), standbys: undefined }
  const history = followHistory(() => pool)
  const pool: Pool = openApiPool(config, log, client => history.look(client))
  return { pool, standbys: openStandbys(urls, config.DATABASE_POOL, history, log) }
}
