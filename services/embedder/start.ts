import type { PgBoss } from 'pg-boss'
import { ensurePartitions } from '../../search/indexing/writer.ts'
import type { Logger } from '../../shared/log/logger.ts'
import { createOutageLog } from '../../shared/log/outage.ts'
import { createPool, isTransient, type Pool, postgresOutageLog } from '../../shared/postgres/pool.ts'
import { sentenceOf } from '../../shared/process/command.ts'
import { missingAmong } from '../../shared/process/health.ts'
import type { Running, ServiceContext } from '../../shared/process/service.ts'
import { MAINTENANCE, startBoss } from '../../shared/queues/delayed-jobs.ts'
import { openQueues } from '../../shared/queues/queues.ts'
import { usesRedis } from '../../shared/queues/redis.ts'
import { observeFleet, observeMachines, observeVectorNodes } from '../../shared/status/fleet-metrics.ts'
import { observeDisk } from '../../shared/status/surroundings.ts'
import { logCauses } from '../../shared/status/watch.ts'
import { openVectorStore } from '../../shared/vectors/store.ts'
import { openEmbeddingCollections, watchCollections } from './collections.ts'
import { startDueDispatcher } from './due-dispatcher.ts'
import { embedBatch } from './embed.ts'

const VECTOR_TIMEOUT = 15_000

export async function startEmbedder({ config, log }: ServiceContext): Promise<Running> {
  const postgres = postgresOutageLog(log, () => pool)
  const pool = createPool(config.DATABASE_URL, 'embedder', postgres.met, { max: config.DATABASE_POOL })
  const boss = await startBoss(config.DATABASE_URL, postgres, { supervise: true })
  const queues = openQueues(config, log)
  const vectors = openVectorStore(config, VECTOR_TIMEOUT)
  const embeddingCollections = openEmbeddingCollections(config, pool, vectors, log)

  const outage = createOutageLog(log, {
    begins: 'the model or the vector store does not answer: articles wait',
    ends: 'articles are embedded again',
  })
  const worker = queues.work(
    'embed',
    async ({ seqs }, signal) => {
      try {
        await embedBatch({ pool, vectors, embeddingCollections, log, outage }, seqs.map(BigInt), signal)
      } catch (error) {
        // The articles are still due, and are called again when Postgres answers.
        if (!isTransient(error)) throw error
        postgres.met(error)
      }
    },
    { concurrency: config.EMBED_CONCURRENCY },
  )
  const dueDispatcher = startDueDispatcher(
    pool,
    queues,
    log,
    () => (vectors.obstacle() ?? embeddingCollections.obstacle()) !== null,
  )
  const watch = watchCollections(pool, vectors, embeddingCollections, log)
  await startMaintenance(boss, pool, log)
  observeFleet(pool, queues)
  observeMachines(pool, config)
  observeDisk(config.DATA_DIR)
  observeVectorNodes(pool, config)

  const missing = () =>
    missingAmong({
      postgres: () => pool.query('select 1'),
      vectors: () => vectors.ping(),
      model: async () => {
        const obstacle = embeddingCollections.obstacle()
        if (obstacle) throw new Error(obstacle.reason)
      },
      ...(usesRedis(config) ? { redis: () => queues.counts() } : {}),
    })
  const causes = logCauses({ pool, queues, config, missing: async () => Object.keys(await missing()) }, log)
  return {
    async stop() {
      await causes.close()
      await Promise.allSettled([dueDispatcher.close(), watch.close(), worker.close()])
      await Promise.allSettled([boss.stop({ graceful: false }), queues.close()])
      await pool.end()
    },
    missing,
  }
}

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
