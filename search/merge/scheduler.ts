import type { Pool } from '../../shared/postgres/pool.ts'
import { readRanges, WAYS, type Way } from './flush-and-merge.ts'
import { isDue, mergesDue, SEGMENT_SIZES } from './policy.ts'
import { createSealingThread, type SealingThread } from './thread.ts'

/** What this process knows of the articles that wait for a segment, and the sealing it has under way. */
interface State {
  /** Articles up to here had a segment at the last look. */
  covered: bigint
  /** The next look at the database is due when this article is there. */
  nextLook: bigint
  sealing: Promise<void> | null
  /** Whether small segments are being made into a large one, or looked for; `again`: there may be more by now. */
  merging: 'no' | 'yes' | 'again'
  /** The next look for segments to be merged is due when this article is there. */
  nextMerge: bigint
  /** One for each way, for work that nobody waits for, and one for all. */
  threads: Map<Way | 'all', SealingThread>
}

const states = new WeakMap<Pool, State>()

function stateOf(pool: Pool): State {
  let state = states.get(pool)
  if (state === undefined) {
    state = { covered: 0n, nextLook: 0n, sealing: null, merging: 'no', nextMerge: 0n, threads: new Map() }
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
  // Whether or not small ones are being made: under load that never ends.
  if (!bulk && last >= state.nextMerge) {
    state.nextMerge = last + SEGMENT_SIZES.minor / 4n
    void mergeIfDue(pool, state)
  }
  if (bulk && last - state.covered > BACKLOG) await held(state.sealing)
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
  // Small ones follow each other in seconds; large ones are made beside them.
  state.sealing = (bulk ? atOnce(pool, ['new']) : gently(pool, 'new')).then(() => {
    state.sealing = null
    // No more articles need come for those that are there to become larger ones.
    if (!bulk) void mergeIfDue(pool, state)
  })
}

async function mergeIfDue(pool: Pool, state: State): Promise<void> {
  if (state.merging !== 'no') {
    state.merging = 'again'
    return
  }
  do {
    state.merging = 'yes'
    // Whoever indexes next tries again; the pool may be at its end.
    const live = await readRanges(pool).catch(() => [])
    if (mergesDue(live, SEGMENT_SIZES).length > 0) await gently(pool, 'major')
    // A large one takes so long that the last small one of the next may have come meanwhile.
  } while (isAskedAgain(state))
  state.merging = 'no'
}

const isAskedAgain = (state: State) => state.merging === 'again'

/** Makes all segments that are due, and resolves when that is done. */
export async function sealRest(pool: Pool): Promise<void> {
  await held(stateOf(pool).sealing)
  await held(atOnce(pool, WAYS))
}

/** Waits for a thread; by itself it does not hold the process. */
async function held(work: Promise<void> | null): Promise<void> {
  const holding = setInterval(() => {}, 1_000)
  try {
    await work
  } finally {
    clearInterval(holding)
  }
}

/** @param waits the ways in which all is to be made when it resolves, even where another process is at it */
async function atOnce(pool: Pool, waits: readonly Way[]): Promise<void> {
  const url = pool.options.connectionString
  if (url !== undefined) await threadOf(pool, 'all').seal({ url, ways: WAYS, waits })
}

async function gently(pool: Pool, way: Way): Promise<void> {
  const url = pool.options.connectionString
  if (url !== undefined) await threadOf(pool, way).seal({ url, ways: [way], waits: [] })
}

/** ms. Small segments come every few seconds when much is written. */
const KEEP = 60_000

function threadOf(pool: Pool, key: Way | 'all'): SealingThread {
  const { threads } = stateOf(pool)
  // A large one comes seldom, and leaves hundreds of megabytes behind, which end with the thread.
  const thread = threads.get(key) ?? createSealingThread({ gently: key !== 'all', keep: key === 'major' ? 0 : KEEP })
  threads.set(key, thread)
  return thread
}
