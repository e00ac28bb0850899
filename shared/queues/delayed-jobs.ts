import { setTimeout as pause } from 'node:timers/promises'
import { PgBoss } from 'pg-boss'
import type { OutageLog } from '../log/outage.ts'
import { isTransient } from '../postgres/pool.ts'

/** The queue of pg-boss whose cron starts maintenance. The database stores this name. */
export const MAINTENANCE = 'upkeep'

/** ms */
const START_AGAIN = 1_000

/**
 * pg-boss, which with `supervise` works, runs maintenance and the cron. `npm run migrate` alone
 * creates its schema.
 */
export function createBoss(
  databaseUrl: string,
  onError: (error: Error) => void,
  options: { supervise: boolean },
): PgBoss {
  const boss = new PgBoss({
    connectionString: databaseUrl,
    application_name: 'perscope delayed jobs',
    max: 2,
    migrate: false,
    createSchema: false,
    supervise: options.supervise,
    schedule: options.supervise,
  })
  boss.on('error', onError)
  return boss
}

/**
 * Creates a boss and starts it. Waits for a Postgres that does not answer, or that is starting.
 */
export async function startBoss(
  databaseUrl: string,
  postgres: OutageLog,
  options: { supervise: boolean },
): Promise<PgBoss> {
  for (;;) {
    const boss = createBoss(databaseUrl, postgres.met, options)
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
