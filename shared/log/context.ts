import { AsyncLocalStorage } from 'node:async_hooks'

/** The ids on every line that is written during a job or a request. */
export interface LogContext {
  /** Id of the message in its queue. */
  job?: string
  /** Id of the request, as `X-Request-Id` names it. */
  request?: string
}

/**
 * The waits of the work in hand: ms by name. Waits at the same time are added up, so the sum may be
 * longer than the work.
 */
export type Waits = Map<string, number>

const storage = new AsyncLocalStorage<{ ids: LogContext; waits: Waits }>()

/**
 * Runs `work` with these ids on every line of every logger, and notes in `waits` what it waits for.
 * Both hold in functions that it awaits, too.
 */
export const withLogContext = <T>(ids: LogContext, work: () => T, waits: Waits = new Map()): T =>
  storage.run({ ids, waits }, work)

export const logContext = (): LogContext => storage.getStore()?.ids ?? {}

/** Adds a wait to those of the work in hand, if they are noted. */
export function noteWait(name: string, ms: number): void {
  const waits = storage.getStore()?.waits
  waits?.set(name, (waits.get(name) ?? 0) + ms)
}

/** Waits for `work` and notes how long that took, whether it succeeds or fails. */
export async function waitFor<T>(name: string, work: Promise<T>): Promise<T> {
  const start = performance.now()
  try {
    return await work
  } finally {
    noteWait(name, performance.now() - start)
  }
}
