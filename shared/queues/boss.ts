import { setTimeout as pause } from 'node:timers/promises'
import { PgBoss } from 'pg-boss'
import type { OutageLog } from '#shared/log/outage'
import { isTransient } from '#shared/postgres/pool'

/** ms between two attempts to start. */
const START_AGAIN = 1_000

/** ms that a statement of pg-boss may take. Each of them takes moments. */
const STATEMENT = 30_000

/**
 * Makes a pg-boss, whose cron starts maintenance. Only `npm run migrate` creates its schema.
 *
 * @param limit ms after which Postgres ends a statement. Half as long afterwards, the client gives
 *   up a server that does not answer
 */
export function createBoss(
  databaseUrl: string,
  onError: (error: Error) => void,
  limit: number = STATEMENT,
): PgBoss {
  // pg-boss sets no limits of its own, and hands these to its pool (`pg`).
  const limits = { statement_timeout: limit, query_timeout: limit * 1.5 }
  const boss = new PgBoss({
    ...limits,
    connectionString: databaseUrl,
    application_name: 'perscope maintenance',
    max: 3,
    // The work of a killed process goes to another process within this time.
    superviseIntervalSeconds: 10,
    monitorIntervalSeconds: 10,
    migrate: false,
    createSchema: false,
  })
  boss.on('error', onError)
  return boss
}

/** Creates a pg-boss and starts it. Waits while Postgres does not answer or is starting. */
export async function startBoss(databaseUrl: string, postgres: OutageLog): Promise<PgBoss> {
  for (;;) {
    const boss = createBoss(databaseUrl, postgres.met)
    try {
      await boss.start()
      return boss
    } catch (error) {
      await boss.stop({ graceful: false }).catch(() => {})
      if (!isTransient(error)) throw error
      postgres.met(error)
      await pause(START_AGAIN)
    }
  }
}
