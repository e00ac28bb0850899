import { setTimeout as pause } from 'node:timers/promises'
import { counted } from '../../shared/log/printable.ts'
import type { Pool, Queryable } from '../../shared/postgres/pool.ts'
import type { RateLimit } from './run.ts'
import { noteDone, type Run } from './run.ts'
import { type Chosen, chosenSeqs } from './selection.ts'
import type { Progress } from './words.ts'

/** Articles handed to the embedders at a time. */
const PART = 64
/**
 * Articles that may wait for the embedders when more are handed to them: new ones must not wait
 * behind an archive.
 */
const WAITING = 128
const LOOK_AGAIN = 1_000
/** ms without a new vector after which the command says why it waits. */
const PATIENCE = 30_000

/**
 * Gives the chosen articles back to the embedders, a few at a time. Searches find the old vectors
 * until the new ones replace them. Waits for embedders that are away.
 *
 * @param tell called whenever more is done
 * @returns whether it is complete
 */
export async function reindexVectors(
  pool: Pool,
  chosen: Chosen,
  run: Run,
  limit: RateLimit,
  tell: (progress: Progress) => void,
  say: (sentence: string) => void,
  signal: AbortSignal,
): Promise<boolean> {
  const progress: Progress = { articles: 0, segments: 0 }
  for (let doneTo = run.doneTo; doneTo < run.last; ) {
    if (!(await queueIsShort(pool, WAITING, say, signal))) return false
    const seqs = await chosenSeqs(pool, chosen, doneTo, run.last, PART)
    await pool.query(RESCHEDULE, [seqs])
    doneTo = seqs.length < PART ? run.last : seqs.at(-1)!
    await noteDone(pool, chosen.selection, doneTo)
    progress.articles += seqs.length
    tell(progress)
    await limit(seqs.length)
  }
  return queueIsShort(pool, 0, say, signal)
}

/** Resolves when at most so many articles wait for the embedders; false when interrupted. */
async function queueIsShort(
  db: Queryable,
  most: number,
  say: (sentence: string) => void,
  signal: AbortSignal,
): Promise<boolean> {
  let lowest = Infinity
  let since = performance.now()
  while (!signal.aborted) {
    const { rows } = await db.query<{ count: number }>(WAITING_NOW, [PART + WAITING + 1])
    const { count } = rows[0]!
    if (count <= most) return true
    if (count < lowest) {
      lowest = count
      since = performance.now()
    } else if (performance.now() - since > PATIENCE) {
      say(
        `${counted(count, 'article waits', 'articles wait')} for an embedder; is one running, and does the model answer?`,
      )
      since = performance.now()
    }
    await pause(LOOK_AGAIN, undefined, { signal }).catch(() => {})
  }
  return false
}

// $1 limit. Index: embeddings_due.
const WAITING_NOW = `
  select count(*)::int as count from (
    select from embeddings
    where embedded_at is null and failed_at is null and due_at <= clock_timestamp() limit $1
  ) as waiting`

// $1 seqs. Index: the primary key. An embedding that is not due yet keeps its time.
const RESCHEDULE = `
  update embeddings
  set embedded_at = null, failed_at = null, error = null, attempts = 0, claimed_until = null,
      due_at = least(due_at, clock_timestamp())
  where seq = any ($1::bigint[]) and (embedded_at is not null or failed_at is not null)`
