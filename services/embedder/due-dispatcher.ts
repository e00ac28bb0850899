import type { Logger } from '#shared/log/logger'
import { createOutageLog } from '#shared/log/outage'
import { type Pool, type Queryable, readColumn, readRow } from '#shared/postgres/pool'
import { repeatEvery } from '#shared/process/repeat'
import type { Queues } from '#shared/queues/queues'

const TICK = 1_000
/**
 * The most messages in the queue. With more, the claim of the last one would expire before an
 * embedder takes it.
 */
const MOST_WAITING = 8

/**
 * Polls Postgres every second for due embeddings. Postgres alone decides what is due, so lost or
 * late messages do no harm. While `halted` returns true, this does nothing, and due embeddings stay
 * in Postgres.
 */
export function startDueDispatcher(
  pool: Pool,
  queues: Pick<Queues, 'add' | 'counts'>,
  log: Logger,
  halted: () => boolean,
): { close(): Promise<void> } {
  async function dispatch(): Promise<void> {
    if (halted() || (await readRow(pool, IS_DUE)) === undefined) return
    const { waiting } = (await queues.counts()).embed
    const seqs = await claimDue(pool, (MOST_WAITING - waiting) * BATCH)
    const messages = []
    for (let from = 0; from < seqs.length; from += BATCH) {
      const batch = seqs.slice(from, from + BATCH).map(String)
      messages.push({ key: batch[0]!, data: { seqs: batch } })
    }
    await queues.add('embed', messages)
  }

  const outage = createOutageLog(
    log,
    'could not queue due embeddings',
    'due embeddings are queued again',
  )
  return repeatEvery(TICK, dispatch, { outage })
}

/** The most articles in one message. */
const BATCH = 16

/**
 * ms that a claim lasts. After that, its message counts as lost, and the articles are queued again.
 * So an emptied queue delays them at most this long. The embedder that takes the message renews the
 * claim.
 */
const CLAIM = 30_000

/**
 * Claims articles whose embedding is due, the longest due first. Two callers never get the same
 * article.
 */
export async function claimDue(db: Queryable, limit: number): Promise<bigint[]> {
  if (limit <= 0) return []
  return readColumn<bigint>(db, {
    name: 'embed-claim-due',
    text: CLAIM_DUE,
    values: [CLAIM, limit],
  })
}

/**
 * Claims articles that are not embedded yet for `ms`, and returns them. A claim of 0 ms releases
 * them: they are queued again, and the attempt does not count.
 */
export const takeInHand = (db: Queryable, seqs: bigint[], ms: number): Promise<bigint[]> =>
  readColumn<bigint>(db, { name: 'embed-take', text: TAKE, values: [ms, seqs] })

const OPEN = 'embedded_at is null and failed_at is null'
const FREE = `${OPEN} and due_at <= clock_timestamp() and (claimed_until is null or claimed_until <= clock_timestamp())`

// Index: embeddings_due.
const IS_DUE = { name: 'embed-is-due', text: `select from embeddings where ${FREE} limit 1` }

// `CLAIM_DUE` selects in a `with`, because a join may run a subquery in `from` more than once, and
// would then claim too many.

// $1 ms, $2 limit. Index: embeddings_due.
const CLAIM_DUE = `
  with due as (select seq from embeddings where ${FREE} order by due_at limit $2 for update skip locked)
  update embeddings e set claimed_until = clock_timestamp() + $1 * interval '1 ms'
  from due where e.seq = due.seq
  returning e.seq`

// $1 ms, $2 seqs. Index: the primary key.
const TAKE = `
  update embeddings set claimed_until = clock_timestamp() + $1 * interval '1 ms'
  where seq = any ($2::bigint[]) and ${OPEN} and (rests_until is null or rests_until <= clock_timestamp())
  returning seq`
