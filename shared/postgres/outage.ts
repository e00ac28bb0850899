import type { Logger } from '../log/logger.ts'
import { createTrouble, type Trouble } from '../log/outage.ts'
import type { Pool } from './pool.ts'

/** Tells in few lines that connections were lost, and when Postgres answers again. `pool`: whose connections, once it is there. */
export const postgresTrouble = (log: Logger, pool: () => Pool): Trouble =>
  createTrouble(log, {
    begins: 'lost connections to Postgres',
    ends: 'Postgres answers again',
    ask: () => pool().query('select 1'),
  })
