import { Worker } from 'node:worker_threads'
import type { Pool } from '../postgres/pool.ts'
import { isDue, mergesDue, SEGMENT_SIZES } from './planning.ts'
import { readRanges, WAYS, type Way } from './sealing.ts'

/** What this process knows of the articles that wait for a segment, and the sealing it has under way. */
interface State {
  /** Articles up to here had a segment at the last look. */
  covered: bigint
  /** The next look at the database is due when this article is there. */
  nextLook: bigint
  sealing: Promise<void> | null
  merging: Promise<void> | null
}

/** What the thread is given. */
export interface SealingTask {
  url: string
  ways: readonly Way[]
  /** Those that somebody waits for: then it gives way to nobody. */
  waits: readonly Way[]
}

const states = new WeakMap<Pool, State>()

function stateOf(pool: Pool): State {
  let state = states.get(pool)
  if (state === undefined) {
    state = { covered: 0n, nextLook: 0n, sealing: null, merging: null }
    states.set(pool, state)
  }
  return state
}

/** Articles without a segment that an import may pile up: every process that searches has them in memory, some 10 kB each. */
const BACKLOG = 32_768n

/**
 * Makes the segments that are due, if any, in a thread of its own and on connections of its own: a large one takes seconds
 * of computing. Cheap to call after every batch. Resolves when it is decided, not when it is done.
 *
 * @param last number of the newest article
 * @param bulk many more articles are to follow at once: waits for the segments when too many articles have none
 */
export async function sealWhenDue(pool: Pool, last: bigint, bulk: boolean): Promise<void> {
  const state = stateOf(pool)
  if (state.sealing === null && last >= state.nextLook) await startIfDue(pool, state, last, bulk)
  if (bulk && last - state.covered > BACKLOG) await state.sealing
}

async function startIfDue(pool: Pool, state: State, last: bigint, bulk: boolean): Promise<void> {
  const { rows } = await pool.query<{ covered: bigint }>(
    'select coalesce(max(last_seq), 0)::bigint as covered from segments',
  )
  state.covered = rows[0]!.covered
  if (state.sealing !== null) return
  if (!isDue(state.covered, last, SEGMENT_SIZES)) {
    state.nextLook = state.covered + SEGMENT_SIZES.minor
    return
  }
  // Another process may be at it already: then this one finds nothing to do, and need not ask again with every batch.
  state.nextLook = last + SEGMENT_SIZES.minor / 4n
  // Small ones follow each other in seconds; a large one is made beside them, and by itself.
  const made = bulk ? inThread(pool, WAYS, ['new']) : inThread(pool, ['new'], [])
  state.sealing = made.then(() => {
    state.sealing = null
    if (bulk || state.merging !== null) return
    state.merging = mergeIfDue(pool).then(() => {
      state.merging = null
    })
  })
}

async function mergeIfDue(pool: Pool): Promise<void> {
  // Whoever indexes next tries again; the pool may be at its end.
  const live = await readRanges(pool).catch(() => [])
  if (mergesDue(live, SEGMENT_SIZES).length > 0) await inThread(pool, ['merging'], [])
}

/** Makes all segments that are due, and resolves when that is done. */
export async function sealRest(pool: Pool): Promise<void> {
  await stateOf(pool).sealing
  await inThread(pool, WAYS, WAYS)
}

/** Resolves when the thread has ended, in whatever way: searches find the articles without a segment too, and whoever indexes next tries again. */
async function inThread(pool: Pool, ways: readonly Way[], waits: readonly Way[]): Promise<void> {
  const url = pool.options.connectionString
  if (url === undefined) return
  const warn = (error: Error) => process.emitWarning(`Segments could not be made: ${error.message}`)
  await new Promise<void>(resolve => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), {
      workerData: { url, ways, waits } satisfies SealingTask,
    })
    worker.unref()
    worker.on('error', warn)
    worker.on('exit', () => resolve())
  }).catch(warn)
}
