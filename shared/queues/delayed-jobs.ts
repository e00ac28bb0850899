import { setTimeout as pause } from 'node:timers/promises'
import { PgBoss } from 'pg-boss'
import type { OutageLog } from '../log/outage.ts'
import { isTransient, type Queryable } from '../postgres/pool.ts'

/**
 * Queues of pg-boss: delayed embeddings, and maintenance, which its cron starts. The database
 * stores these names.
 */
export const EMBED_DUE = 'embed-due'
export const MAINTENANCE = 'upkeep'

/** ms */
const START_AGAIN = 1_000

export interface EmbedDue {
  /** Numbers of articles, all indexed in one transaction. */
  seqs: string[]
}

/**
 * pg-boss for a process that only sends, or (with `supervise`) also works, runs maintenance and the
 * cron. `npm run migrate` alone creates its schema.
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

/**
 * Schedules the embedding of articles after `delay` ms, inside the caller's transaction: a rollback
 * removes the job as well.
 */
export async function scheduleEmbedding(boss: PgBoss, client: Queryable, seqs: bigint[], delay: number): Promise<void> {
  if (seqs.length === 0) return
  const data: EmbedDue = { seqs: seqs.map(String) }
  await boss.send(EMBED_DUE, data, {
    startAfter: new Date(Date.now() + delay),
    db: { executeSql: (text: string, values?: unknown[]) => client.query(text, values) },
  })
}
