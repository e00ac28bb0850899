import { openIndexer } from '../../search/indexer.ts'
import { startBoss } from '../../shared/delayed-jobs/boss.ts'
import { BATCH, openArticleWriter } from '../../shared/indexing/article-writer.ts'
import { createOutageLog } from '../../shared/log/outage.ts'
import { postgresOutageLog } from '../../shared/postgres/outage.ts'
import { createPool } from '../../shared/postgres/pool.ts'
import { isTransient } from '../../shared/postgres/transaction.ts'
import { missingAmong } from '../../shared/process/missing.ts'
import type { Running, ServiceContext } from '../../shared/process/service.ts'
import { openQueues } from '../../shared/queues/queues.ts'
import { observeFleet } from '../../shared/status/fleet-metrics.ts'
import { createBatcher } from './batches/batcher.ts'
import { openServedTexts } from './interstitials/served.ts'
import { batchArticles, batchSeconds } from './metrics.ts'
import { type Finished, type Normaliser, normalisePage } from './normalise.ts'
import { finishDone, giveBack } from './pages/finish.ts'
import { startSweeper } from './pages/sweep.ts'
import { openComposer } from './threads/composer.ts'
import { createRoom } from './threads/room.ts'

/** Articles of a batch wait so long for others; a page takes as long to be taken apart. */
const BATCH_WAIT = 50
/**
 * Characters of text in a batch: it is written out for Postgres on this thread, which must answer
 * in the meantime.
 */
const BATCH_WEIGHT = 150_000
/**
 * ms after which pages of a process that was killed are given to another. Prolonged every half of
 * it by an event loop that is never held for long; a page given away in vain is done twice and
 * leaves one article.
 */
const LOCK = 10_000
/**
 * Messages in hand at a time. Far more than the threads take: whose turn it is can only be said of
 * those who stand in line, and an outlet has at most `CALLED_AT_ONCE` there. Of a page in line only
 * its number is in memory.
 */
const LINE = 1_000
/** How long pages in hand may go on when the service is told to stop; then they are given back. */
const GRACE = 10_000

/**
 * Starts taking stored pages to the index; `main.ts` runs it as a service, the benchmark beside a
 * stopwatch.
 */
export async function startNormaliser({ config, log }: ServiceContext): Promise<Running> {
  const postgres = postgresOutageLog(log, () => pool)
  const pool = createPool(config.DATABASE_URL, 'normaliser', postgres.met, { max: config.DATABASE_POOL })
  const boss = await startBoss(config.DATABASE_URL, postgres, { supervise: false })
  const queues = openQueues(config, log)
  const composer = openComposer({ threads: config.NORMALISE_THREADS, timeout: config.NORMALISE_TIMEOUT })

  const indexer = openIndexer(pool, log)
  const writer = openArticleWriter({ pool, boss, indexer, embedDelay: config.EMBED_DELAY })

  const flush = async (finished: Finished[]) => {
    const measured = batchSeconds.startTimer()
    const results = await writer.write(
      finished.map(({ article }) => article),
      {
        within: (client, outcomes) =>
          finishDone(
            client,
            // What was known already is one article met again: its text is not served twice.
            finished.map(({ page }, at) =>
              outcomes[at]?.outcome === 'indexed' ? page : { ...page, fingerprint: null },
            ),
          ),
      },
    )
    measured()
    batchArticles.observe(finished.length)
    return results
  }
  const weigh = ({ article }: Finished) => article.title.length + (article.body?.length ?? 0)
  const normaliser: Normaliser = {
    ...{ pool, log, composer, room: createRoom(config.NORMALISE_THREADS * 8 + 8) },
    trouble: createOutageLog(log, { begins: 'pages have to wait', ends: 'pages are finished again' }),
    served: openServedTexts(pool),
    index: createBatcher({ items: BATCH, weight: BATCH_WEIGHT, wait: BATCH_WAIT }, weigh, flush, isTransient),
  }

  const inHand = new Set<bigint>()
  const worker = queues.work(
    'normalise',
    async ({ pageNo }, signal) => {
      const no = BigInt(pageNo)
      inHand.add(no)
      await normalisePage(normaliser, no, signal).finally(() => inHand.delete(no))
    },
    { concurrency: LINE, lockDuration: LOCK },
  )
  const sweeper = startSweeper(pool, queues, log)
  observeFleet(pool, queues)

  return {
    async stop() {
      await sweeper.close()
      const late = setTimeout(() => void giveUp(), GRACE)
      const giveUp = async () => {
        log.warn({ pages: inHand.size }, 'pages in hand are given back')
        await Promise.allSettled([composer.close(), giveBack(pool, [...inHand])])
        await worker.close(true)
      }
      await worker.close()
      clearTimeout(late)
      await composer.close()
      await Promise.allSettled([boss.stop({ graceful: false }), queues.close()])
      await indexer.close()
      await pool.end()
    },
    missing: () =>
      missingAmong({
        postgres: () => pool.query('select 1'),
        ...(config.REDIS_URL === '' ? {} : { redis: () => queues.counts() }),
      }),
  }
}
