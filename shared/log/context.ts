import { AsyncLocalStorage } from 'node:async_hooks'

/** The ids on every line that is written during a job or a request. */
export interface LogContext {
  /** Id of the message in its queue. */
  job?: string
  /** Id of the request, as `X-Request-Id` names it. */
  request?: string
}

const storage = new AsyncLocalStorage<LogContext>()

/**
 * Runs `work` with these ids on every line of every logger, also in functions that it awaits.
 */
export function withLogContext<T>(context: LogContext, work: () => T): T {
  return storage.run(context, work)
}

export const logContext = (): LogContext => storage.getStore() ?? {}
