import { AsyncLocalStorage } from 'node:async_hooks'

/** What stands on every line that is written while a job or a request is in hand. */
export interface LogContext {
  /** Id of the message in its queue. */
  job?: string
  /** Id of the request, as `X-Request-Id` names it. */
  request?: string
}

const storage = new AsyncLocalStorage<LogContext>()

/** Runs `work`, and all that it waits for, with these ids on every line of every logger. */
export function withLogContext<T>(context: LogContext, work: () => T): T {
  return storage.run(context, work)
}

export const logContext = (): LogContext => storage.getStore() ?? {}
