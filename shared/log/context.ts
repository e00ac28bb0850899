import { AsyncLocalStorage } from 'node:async_hooks'

/** The ids in every log line that a job or a request writes. */
export interface LogContext {
  /** Id of the job's message in its queue. */
  job?: string
  /** Id of the request, as in `X-Request-Id`. */
  request?: string
}

/**
 * How long the running work has waited: ms by name. Waits at the same time are added up, so the sum
 * may be longer than the work itself.
 */
export type Waits = Map<string, number>

const storage = new AsyncLocalStorage<{ ids: LogContext; waits: Waits }>()

/**
 * Runs `work`, and also the functions that it awaits, in a context. In this context, every logger
 * writes `ids` in its lines, and `noteWait` adds to `waits`.
 */
export const withLogContext = <T>(ids: LogContext, work: () => T, waits: Waits = new Map()): T =>
  storage.run({ ids, waits }, work)

export const logContext = (): LogContext => storage.getStore()?.ids ?? {}

/** Adds a wait to the waits of the running work. Does nothing outside of `withLogContext`. */
export function noteWait(name: string, ms: number): void {
  const waits = storage.getStore()?.waits
  waits?.set(name, (waits.get(name) ?? 0) + ms)
}

/** Waits for `work` and notes how long it took, whether it succeeds or fails. */
export async function waitFor<T>(name: string, work: Promise<T>): Promise<T> {
  const start = performance.now()
  try {
    return await work
  } finally {
    noteWait(name, performance.now() - start)
  }
}
