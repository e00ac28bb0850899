import type { Logger } from '../../../shared/log/logger.ts'
import { createOutageLog } from '../../../shared/log/outage.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import type { Queues } from '../../../shared/queues/queues.ts'
import { BATCH, claimDue } from './claims.ts'

const TICK = 1_000
/** Messages that wait in the queue at most: more would be older than their claims when their turn comes. */
const ROOM = 8

/** Moves articles whose hour has come into the work queue. */
export interface Mover {
  /**
   * A promise has come due: these at once, as far as the queue has room; the others, and what cannot be moved now, are
   * found by the next look.
   */
  move(seqs: bigint[]): Promise<void>
  close(): Promise<void>
}

/**
 * Looks every second for what is due in Postgres, which alone says so: whether a message was lost or a promise came
 * late never matters. Looks the other way while `halted`: what is due then stays where it is safe.
 */
export function startMover(
  pool: Pool,
  queues: Pick<Queues, 'add' | 'counts'>,
  log: Logger,
  halted: () => boolean,
): Mover {
  let timer: NodeJS.Timeout | undefined
  let closed = false
  let last: Promise<unknown> = Promise.resolve()

  async function moveNow(among: bigint[] | null): Promise<void> {
    if (closed || halted()) return
    if (among === null && !(await isAnythingDue(pool))) return
    const { waiting } = (await queues.counts()).embed
    const seqs = await claimDue(pool, (ROOM - waiting) * BATCH, among)
    const messages = []
    for (let from = 0; from < seqs.length; from += BATCH) {
      const batch = seqs.slice(from, from + BATCH).map(String)
      messages.push({ key: batch[0]!, data: { seqs: batch } })
    }
    await queues.add('embed', messages)
  }

  /** One at a time, so that each sees what the one before has queued. */
  function inTurn(among: bigint[] | null): Promise<void> {
    const turn = last.then(() => moveNow(among))
    last = turn.catch(() => {})
    return turn
  }

  const outage = createOutageLog(log, { begins: 'cannot look for what is due', ends: 'what is due is found again' })
  const look = async () => {
    await inTurn(null).then(outage.over, outage.met)
    if (!closed) timer = setTimeout(look, TICK)
  }
  void look()

  return {
    move: seqs => inTurn(seqs).catch(outage.met),
    async close() {
      closed = true
      clearTimeout(timer)
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
