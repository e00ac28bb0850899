import { PgBoss } from 'pg-boss'
import type { Queryable } from '../postgres/pool.ts'

/** Queues of pg-boss: what is promised for later, and what upkeep runs by the clock. */
export const EMBED_DUE = 'embed-due'
export const UPKEEP = 'upkeep'

export interface EmbedDue {
  /** Numbers of articles, all indexed in one transaction. */
  seqs: string[]
}

/**
 * pg-boss for a process that only sends, or (with `supervise`) also works, keeps house and runs the cron.
 * `npm run migrate` alone creates its schema.
 */
export function createBoss(
  databaseUrl: string,
  onError: (error: Error) => void,
  options: { supervise: boolean },
): PgBoss {
  const boss = new PgBoss({
    connectionString: databaseUrl,
    application_name: 'perscope promises',
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
 * Promises, inside the caller's transaction, that the articles will be embedded after `delay` ms: rolled back
 * with it, kept with it.
 */
export async function promiseEmbedding(boss: PgBoss, client: Queryable, seqs: bigint[], delay: number): Promise<void> {
  if (seqs.length === 0) return
  const data: EmbedDue = { seqs: seqs.map(String) }
  await boss.send(EMBED_DUE, data, {
    startAfter: new Date(Date.now() + delay),
    db: { executeSql: (text: string, values?: unknown[]) => client.query(text, values) },
  })
}
