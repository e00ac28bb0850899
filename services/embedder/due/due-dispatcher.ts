import type { Logger } from '../../../shared/log/logger.ts'
import { createOutageLog } from '../../../shared/log/outage.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import { repeatEvery } from '../../../shared/process/repeat.ts'
import type { Queues } from '../../../shared/queues/queues.ts'
import { BATCH, claimDue } from './claims.ts'

const TICK = 1_000
/** Most messages in the queue. The claim of a later one would end before an embedder takes it. */
const ROOM = 8

/** Puts articles that are due for embedding into the work queue. */
export interface DueDispatcher {
  /**
   * Queues articles whose delayed job is due, as far as the queue has room. The next poll of
   * Postgres finds the others.
   */
  dispatch(seqs: bigint[]): Promise<void>
  close(): Promise<void>
}

/**
 * Polls Postgres every second for due embeddings. Postgres alone says what is due, so lost or late
 * messages never matter. Does nothing while `halted`: due embeddings then stay in Postgres.
 */
export function startDueDispatcher(
  pool: Pool,
  queues: Pick<Queues, 'add' | 'counts'>,
  log: Logger,
  halted: () => boolean,
): DueDispatcher {
  let closed = false
  let last: Promise<unknown> = Promise.resolve()

  async function dispatchNow(only: bigint[] | null): Promise<void> {
    if (closed) return
    if (halted()) return
    if (only === null && !(await isAnythingDue(pool))) return
    const { waiting } = (await queues.counts()).embed
    const seqs = await claimDue(pool, (ROOM - waiting) * BATCH, only)
    const messages = []
    for (let from = 0; from < seqs.length; from += BATCH) {
      const batch = seqs.slice(from, from + BATCH).map(String)
      messages.push({ key: batch[0]!, data: { seqs: batch } })
    }
    await queues.add('embed', messages)
  }

  /** Dispatches one after another, so that each sees the messages of the one before. */
  function oneAtATime(only: bigint[] | null): Promise<void> {
    const run = last.then(() => dispatchNow(only))
    last = run.catch(() => {})
    return run
  }

  const outage = createOutageLog(log, {
    begins: 'could not queue due embeddings',
    ends: 'due embeddings are queued again',
  })
  const looks = repeatEvery(TICK, () => oneAtATime(null), { outage })

  return {
    dispatch: seqs => oneAtATime(seqs).catch(outage.met),
    async close() {
      closed = true
      await looks.close()
      await last
    },
  }
}

// Index: embeddings_due.
async function isAnythingDue(pool: Pool): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'embed-is-due',
    text: `select from embeddings
           where embedded_at is null and failed_at is null and due_at <= clock_timestamp()
             and (claimed_until is null or claimed_until <= clock_timestamp())
           limit 1`,
  })
  return rowCount !== 0
}
