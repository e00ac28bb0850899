import { setTimeout as pause } from 'node:timers/promises'
import type { Queryable } from '../../shared/postgres/pool.ts'
import type { Selection } from './selection.ts'

/** A reindexing in progress. */
export interface Run {
  /** Articles numbered later were indexed after it began. */
  last: bigint
  /** Articles up to here are done. */
  doneTo: bigint
  startedAt: Date
}

const keyOf = (selection: Selection) => JSON.stringify(selection)

/** Begins a run. */
export async function beginRun(db: Queryable, selection: Selection): Promise<Run> {
  await db.query(
    `insert into reindex_runs (selection, last_seq) select $1, last_seq from ingest_clock
     on conflict (selection) do update set last_seq = excluded.last_seq, done_to = 0, started_at = clock_timestamp()`,
    [keyOf(selection)],
  )
  return (await findRun(db, selection))!
}

/** The unfinished run of the same command. */
export async function findRun(db: Queryable, selection: Selection): Promise<Run | null> {
  const { rows } = await db.query<{ last: bigint; doneTo: bigint; startedAt: Date }>(
    `select last_seq as last, done_to as "doneTo", started_at as "startedAt" from reindex_runs where selection = $1`,
    [keyOf(selection)],
  )
  return rows[0] ?? null
}

/** Records that articles up to a number are done. */
export async function noteDone(db: Queryable, selection: Selection, doneTo: bigint): Promise<void> {
  await db.query('update reindex_runs set done_to = greatest(done_to, $2) where selection = $1', [
    keyOf(selection),
    doneTo,
  ])
}

export async function endRun(db: Queryable, selection: Selection): Promise<void> {
  await db.query('delete from reindex_runs where selection = $1', [keyOf(selection)])
}

/** Waits as long as so many articles take at the rate of the command. */
export type RateLimit = (articles: number) => Promise<void>

/** @param rate articles a second; null: no limit */
export function createRateLimit(rate: number | null, signal: AbortSignal): RateLimit {
  let due = performance.now()
  return async articles => {
    if (rate === null) return
    // Slow work is not followed by a burst.
    due = Math.max(due, performance.now() - 1_000) + (articles * 1_000) / rate
    const wait = due - performance.now()
    if (wait > 0) await pause(wait, undefined, { signal }).catch(() => {})
  }
}
