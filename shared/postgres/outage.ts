import type { Logger } from '../log/logger.ts'
import { createOutageLog, type OutageLog } from '../log/outage.ts'
import type { Pool } from './pool.ts'

/**
 * Logs lost connections to Postgres, and their return.
 *
 * @param pool returns the pool of these connections, once it is open
 */
export const postgresOutageLog = (log: Logger, pool: () => Pool): OutageLog =>
  createOutageLog(log, {
    begins: 'lost connections to Postgres',
    ends: 'Postgres answers again',
    ask: () => pool().query('select 1'),
  })
