import type { PgBoss } from 'pg-boss'
import { ensurePartitions } from '../../search/indexing/writer.ts'
import type { Logger } from '../../shared/log/logger.ts'
import type { Pool } from '../../shared/postgres/pool.ts'
import { sentenceOf } from '../../shared/process/command.ts'
import { MAINTENANCE } from '../../shared/queues/delayed-jobs.ts'

const EVERY_MINUTE = '* * * * *'

/**
 * Runs maintenance once a minute in the whole fleet; pg-boss chooses the embedder. It creates
 * the next partition of articles before it is needed, so that no writer waits for it.
 */
export async function startMaintenance(boss: PgBoss, pool: Pool, log: Logger): Promise<void> {
  await boss.schedule(MAINTENANCE, EVERY_MINUTE)
  await boss.work(MAINTENANCE, { pollingIntervalSeconds: 10 }, async () => {
    for (const [task, work] of Object.entries(TASKS)) {
      await work(pool).catch(error => log.warn({ task, err: sentenceOf(error) }, 'maintenance failed'))
    }
  })
}

const TASKS: Record<string, (pool: Pool) => Promise<unknown>> = {
  partitions: async pool => {
    const { rows } = await pool.query<{ last_seq: bigint }>('select last_seq from ingest_clock')
    await ensurePartitions(pool, rows[0]?.last_seq ?? 0n)
  },
}
