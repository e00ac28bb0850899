import { setTimeout as pause } from 'node:timers/promises'
import type { PgBoss } from 'pg-boss'
import { ensurePartitions } from '#search/indexing/writer'
import type { Config } from '#shared/config/config'
import { EmbeddingFailure } from '#shared/embeddings/source'
import type { Logger } from '#shared/log/logger'
import { createOutageLog, type OutageLog } from '#shared/log/outage'
import { counter, histogram, LAG_BUCKETS } from '#shared/metrics'
import { isTransient, type Pool, type Queryable, readRow, readValue } from '#shared/postgres/pool'
import { sentenceOf } from '#shared/process/command'
import { withInHand } from '#shared/process/ends'
import { type Repeated, repeatEvery } from '#shared/process/repeat'
import type { RunningService, ServiceContext } from '#shared/process/service'
import { startBoss } from '#shared/queues/boss'
import { MAINTENANCE } from '#shared/queues/queues'
import { finishRemovals, listRemovals, waitsLong } from '#shared/removals/list'
import { unlessAborted, withTimeLimit } from '#shared/resilience/time-limit'
import { openVectorStore } from '#shared/vectors/qdrant-store'
import { VectorFailure, type VectorStore } from '#shared/vectors/store'
import { openWorker } from '#status/cause-watch'
import { observeVectorNodes } from '#status/fleet-metrics'
import { type EmbeddableArticle, namesOf, readEmbeddable } from './articles.ts'
import {
  type EmbeddingCollections,
  openEmbeddingCollections,
  watchCollections,
} from './collections.ts'
import { startDueDispatcher, takeInHand } from './due-dispatcher.ts'
import { storeEverywhere } from './store.ts'

/*
 * An embedding fails for two different reasons: the service is away, or one text is bad. To find
 * out, the embedder embeds a harmless text. An outage costs an article no attempt. A bad text ends
 * in quarantine after three attempts.
 */

/**
 * Articles whose vectors are stored and recorded together. A killed process loses the work on at
 * most this many.
 */
const GROUP = 4
/**
 * ms that a claim lasts. It is renewed while the articles are being embedded, so a slow model loses
 * nothing. After a crash of Postgres the articles are queued again within a minute.
 */
const IN_HAND = 60_000
/** ms after which articles are queued again after an outage. */
const OUTAGE_PAUSE = 3_000

/**
 * Embeds the articles of a message that are not embedded yet, group by group. In an outage the
 * remaining articles are released, and the attempt does not count. An article that the model or the
 * vector store refuses is separated from its group and tried again, a few times.
 */
export async function embedBatch(
  embedder: Embedder,
  numbers: bigint[],
  signal: AbortSignal,
): Promise<void> {
  const { pool, outage } = embedder
  let left = await readEmbeddable(pool, await takeInHand(pool, numbers, IN_HAND))
  const keep = setInterval(
    () => void takeInHand(pool, numbersOf(left), IN_HAND).catch(() => {}),
    IN_HAND / 3,
  )
  try {
    while (left.length > 0) {
      signal.throwIfAborted()
      // If a process ended by an exception while it worked on one of these articles, each article
      // now gets a group of its own. A second exception then affects only the article that causes
      // it.
      const group = left.slice(0, left.some(({ ends }) => ends > 0) ? 1 : GROUP)
      // A store that hangs must not delay the end of the service. The group may still be stored
      // afterwards. If it is then embedded again, each article still has one vector.
      await unlessAborted(embedGroup(embedder, group, signal), signal)
      left = left.slice(group.length)
    }
  } catch (error) {
    clearInterval(keep)
    const isStopping = signal.aborted
    await takeInHand(pool, numbersOf(left), isStopping ? 0 : OUTAGE_PAUSE)
    if (isStopping) return
    if (!(error instanceof Outage)) throw error
    outages.inc()
    outage.met(error)
  } finally {
    clearInterval(keep)
  }
}

const numbersOf = (articles: EmbeddableArticle[]) => articles.map(({ seq }) => seq)

/** @param suspected the group failed before, while model and vector store worked */
async function embedGroup(
  embedder: Embedder,
  group: EmbeddableArticle[],
  signal: AbortSignal,
  suspected = false,
) {
  const { pool, embeddingCollections, vectors, log, outage, delay } = embedder
  try {
    await withInHand({ kind: 'embedding', numbers: numbersOf(group) }, () =>
      storeEverywhere(pool, embeddingCollections, vectors, group, signal),
    )
    outage.over()
    for (const article of group) {
      observeArticle(article, delay)
      log.info({ ...namesOf(article), ms: Date.now() - article.dueAt }, 'embedded')
    }
  } catch (error) {
    if (signal.aborted || !(error instanceof EmbeddingFailure || error instanceof VectorFailure))
      throw error
    await blame(embedder, group, error, signal, suspected)
  }
}

/**
 * Finds the cause of a failure. When the service does not answer again soon, it is an outage. When
 * it answers, one of the texts may be the cause: each gets a try of its own, and a text that fails
 * alone is refused. A single article also gets this second try, unless the service refused it
 * explicitly, because the service may have died by chance while it worked on that article.
 */
async function blame(
  embedder: Embedder,
  group: EmbeddableArticle[],
  error: EmbeddingFailure | VectorFailure,
  signal: AbortSignal,
  suspected: boolean,
): Promise<void> {
  const { pool, log } = embedder
  if (error instanceof EmbeddingFailure && error.retryAfter !== null)
    throw new Outage(error.message)
  if (error instanceof VectorFailure && error.kind === 'missing') {
    log.warn({ err: error.message }, 'the vector store has lost a collection')
    // If this fails, the next try of the articles restores again.
    await embedder.embeddingCollections.restore().catch(() => {})
    throw new Outage(error.message)
  }
  const late = error instanceof EmbeddingFailure ? error.late : null
  if (!(await comesAlive(embedder, signal, late))) throw new Outage(error.message)
  if (group.length > 1 || (!suspected && error.kind === 'unavailable')) {
    for (const article of group) await embedGroup(embedder, [article], signal, true)
  } else {
    for (const article of group) await refuse(pool, article, error.message, log)
  }
}

/**
 * The model or the vector store does not answer. The articles wait, because they are not the cause.
 */
class Outage extends Error {
  override name = 'Outage'
}

interface Embedder {
  pool: Pool
  vectors: VectorStore
  embeddingCollections: EmbeddingCollections
  log: Logger
  /** Logs when the model or the vector store does not answer, and when it answers again. */
  outage: OutageLog
  /** EMBED_DELAY, in ms. */
  delay: number
}

const PROBE = 'Perscope'
/** The longest text that a model accepts. */
const LONG_PROBE = 'Perscope '.repeat(1_000)
const FIRST_PAUSE = 200
const LONGEST_PAUSE = 3_000
/**
 * ms in which a service must answer again. Otherwise it counts as away, and the articles are
 * released.
 */
const PATIENCE = 15_000

/**
 * Whether the models and the vector store work for a harmless text, now or within some seconds.
 *
 * @param late ms after which a text was given up. Then this function tries a harmless text of the
 *   greatest length. A model counts as away when it needs half of `late` for this text.
 */
async function comesAlive(
  { embeddingCollections, vectors }: Embedder,
  signal: AbortSignal,
  late: number | null = null,
): Promise<boolean> {
  const end = Date.now() + PATIENCE
  const probe = late === null ? PROBE : LONG_PROBE
  for (let wait = FIRST_PAUSE; Date.now() < end; wait = Math.min(wait * 2, LONGEST_PAUSE)) {
    try {
      await vectors.ping()
      const open = await embeddingCollections.current()
      const began = Date.now()
      for (const { embeddings } of open) await embeddings.embedPassages([probe], signal)
      return late === null || Date.now() - began < late / 2
    } catch {
      // The pause is random, so that the embedders of a fleet do not all try again at the same
      // moment.
      await pause(wait * (0.5 + Math.random()), undefined, { signal })
    }
  }
  return false
}

/** ms before the second and the third attempt. There is no fourth attempt. */
const PAUSES = [2_000, 15_000]

/**
 * Records that the model or the vector store refused an article. The embedder tries the article
 * again later, and puts it in quarantine after the third refusal.
 */
async function refuse(
  db: Queryable,
  article: EmbeddableArticle,
  why: string,
  log: Logger,
): Promise<void> {
  const values = [article.seq, why.slice(0, 500), PAUSES, PAUSES.length + 1]
  const { attempts, failed = false } =
    (await readRow<{ attempts: number; failed: boolean }>(db, REFUSE, values)) ?? {}
  articlesRefused.inc({ outcome: failed ? 'quarantined' : 'again' })
  log.warn(
    { ...namesOf(article), attempts, err: why },
    failed
      ? 'an article cannot be embedded; see `npm run queues -- list`'
      : 'an article was refused',
  )
}

// $1 seq, $2 error, $3 pauses in ms, $4 attempts. Index: the primary key.
const REFUSE = `
  update embeddings set
    attempts = attempts + 1,
    error = $2,
    claimed_until = clock_timestamp() + coalesce(($3::int[])[attempts + 1], 0) * interval '1 ms',
    failed_at = case when attempts + 1 >= $4::int then clock_timestamp() end
  where seq = $1 and embedded_at is null
  returning attempts, failed_at is not null as failed`

const articlesEmbedded = counter(
  'articles_embedded_total',
  'Articles whose vector is stored, and noted in Postgres.',
)
/** `outcome`: again, quarantined */
const articlesRefused = counter(
  'articles_refused_total',
  'Articles that the model or the vector store refused.',
  ['outcome'],
)
const outages = counter(
  'embed_outages_total',
  'Batches given back because the model or the vector store did not answer.',
)
const overdue = histogram(
  'embed_overdue_seconds',
  'Time from the moment at which the embedding of an article was due until it was done.',
  [1, 2, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400],
)
const vectorLag = histogram(
  'vector_lag_seconds',
  'Time from the indexing of an article to its vector, EMBED_DELAY included.',
  LAG_BUCKETS,
)

/**
 * Counts an article whose vector is stored. The lag of one that lost its vector begins EMBED_DELAY
 * before it was due again, so that every lag includes the delay. Times in ms since 1970, the delay
 * in ms.
 */
function observeArticle(
  { dueAt, ingestedAt }: { dueAt: number; ingestedAt: number | null },
  delay: number,
): void {
  articlesEmbedded.inc()
  overdue.observe({}, Math.max(0, (Date.now() - dueAt) / 1_000))
  if (ingestedAt === null) return
  const promisedAt = Math.max(ingestedAt, dueAt - delay)
  vectorLag.observe({}, Math.max(0, (Date.now() - promisedAt) / 1_000))
}

const VECTOR_TIMEOUT = 15_000

export async function startEmbedder({ config, log }: ServiceContext): Promise<RunningService> {
  const { pool, queues, postgres, watch: watchFleet } = openWorker('embedder', { config, log })
  const boss = await startBoss(config.DATABASE_URL, postgres)
  const vectors = openVectorStore(config, VECTOR_TIMEOUT)
  const embeddingCollections = openEmbeddingCollections(config, pool, vectors, log)

  const outage = createOutageLog(
    log,
    'the model or the vector store does not answer: articles wait',
    'articles are embedded again',
  )
  const worker = queues.work(
    'embed',
    async ({ seqs }, signal) => {
      try {
        await embedBatch(
          { pool, vectors, embeddingCollections, log, outage, delay: config.EMBED_DELAY },
          seqs.map(BigInt),
          signal,
        )
      } catch (error) {
        // The articles are still due, and are queued again when Postgres answers.
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
  const clearing = startClearing(pool, config, log)
  await startMaintenance(boss, pool, log)
  observeVectorNodes(pool, config)

  const { missing, causes } = watchFleet({
    vectors: () => vectors.ping(),
    model: async () => {
      const obstacle = embeddingCollections.obstacle()
      if (obstacle !== null) throw new Error(obstacle)
    },
  })
  return {
    async stop() {
      await causes.close()
      await Promise.allSettled([dueDispatcher.close(), watch.close(), worker.close()])
      await withTimeLimit(clearing.close(), CLEARING_LATE, () => {})
      await Promise.allSettled([boss.stop({ graceful: false }), queues.close()])
      await pool.end()
    },
    missing,
  }
}

/** ms between two searches for articles that were taken out and wait to be cleared. */
const CLEARING_TICK = 600_000
/** ms for which it may go on when the service stops. It can be done again. */
const CLEARING_LATE = 3_000

/**
 * Clears what second looks took out, and what a command left that was ended. Normalisers write
 * segments again. A list beside the backups that could not be written is tried again in each round,
 * without a further warning.
 */
export function startClearing(
  pool: Pool,
  config: Config,
  log: Logger,
  tick = CLEARING_TICK,
): Repeated {
  const failed = 'cannot clear what was taken out; `npm run articles -- clear` goes on'
  const outage = createOutageLog(log, failed, 'what was taken out is cleared again')
  let isListed = true
  const work = async (closing: AbortSignal) => {
    if (await waitsLong(pool)) {
      const say = (sentence: string) => log.warn(sentence)
      const done = await finishRemovals(pool, config, say, closing, async () => {})
      isListed = done.isListed
      log.info({ left: done.left }, 'cleared what was taken out')
    } else if (!isListed) {
      isListed = await listRemovals(pool, config.BACKUP_FOLDERS, sentence => log.debug(sentence))
    }
  }
  return repeatEvery(tick, work, { first: tick / 10, outage })
}

const EVERY_MINUTE = '* * * * *'

/**
 * Runs maintenance once a minute in the whole fleet; pg-boss chooses the embedder. It creates
 * the next partition of articles before it is needed, so that no writer waits for it.
 */
export async function startMaintenance(boss: PgBoss, pool: Pool, log: Logger): Promise<void> {
  await boss.schedule(MAINTENANCE, EVERY_MINUTE)
  await boss.work(MAINTENANCE, { pollingIntervalSeconds: 10 }, async () => {
    try {
      await ensurePartitions(
        pool,
        (await readValue<bigint>(pool, 'select last_seq from ingest_clock')) ?? 0n,
      )
    } catch (error) {
      log.warn({ err: sentenceOf(error) }, 'maintenance failed')
    }
  })
}
