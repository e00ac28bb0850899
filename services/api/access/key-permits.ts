import type { Response } from 'express'
import type { Config } from '../../../shared/config/config.ts'
import { noteWait } from '../../../shared/log/waits.ts'
import { ApiError } from '../contract/api-error.ts'
import { accessOf } from './locals.ts'
import { createPermits, NoPermit, type Permits } from './permits.ts'

/**
 * Connections that one search uses at the same time, at most: for fresh articles, and for columns
 * and lists of segments.
 */
const CONNECTIONS = 3
/** Searches of one key that wait. Its rate is a bound too, mostly a lower one. */
const WAITING = 1_000
/** More than requests of one key can be under way. */
const COUNTING = 100_000

/**
 * Each search needs a permit of its key, so that slow searches of one client leave connections for
 * all others: together they use three quarters of the pool at most. A search waits for its permit
 * as long as a statement may run.
 */
export function createSearchPermits({ DATABASE_POOL, SEARCH_TIMEOUT }: SearchPermitSettings): Permits {
  const atOnce = Math.max(1, Math.floor((DATABASE_POOL * 3) / 4 / CONNECTIONS))
  return createPermits({ atOnce, waiting: WAITING, patience: SEARCH_TIMEOUT })
}

/**
 * Questions of one key that model and vector store answer at a time. Such a question holds no
 * connection to Postgres, so the size of the pool says nothing. More would only wait in the model,
 * before those of other keys.
 */
const QUESTIONS = 4

/** Permits for what a search by meaning asks outside of Postgres. */
export function createQuestionPermits({ SEARCH_TIMEOUT }: Pick<Config, 'SEARCH_TIMEOUT'>): Permits {
  return createPermits({ atOnce: QUESTIONS, waiting: WAITING, patience: SEARCH_TIMEOUT })
}

/**
 * Permits for the statements that count a key's minute and month. They write one row, so the
 * database runs one at a time; the others would wait there and occupy a connection each.
 */
export function createCountPermits({ SEARCH_TIMEOUT }: Pick<Config, 'SEARCH_TIMEOUT'>): Permits {
  return createPermits({ atOnce: 2, waiting: COUNTING, patience: SEARCH_TIMEOUT })
}

type SearchPermitSettings = Pick<Config, 'DATABASE_POOL' | 'SEARCH_TIMEOUT'>

/**
 * Runs the searches of a request with permits of its key.
 * @returns a function that throws `ApiError` `internal_error` when there was none, as for a
 * statement that takes too long
 */
export function withPermitOf(permits: Permits, response: Response): <T>(search: () => Promise<T>) => Promise<T> {
  return async search => {
    const gone = new AbortController()
    const leave = () => gone.abort()
    response.once('close', leave)
    // It is told once, and a search takes several turns.
    if (response.closed) leave()
    const start = performance.now()
    const begin = () => {
      noteWait('permit', performance.now() - start)
      return search()
    }
    try {
      return await permits.take(accessOf(response).key.id, begin, gone.signal)
    } catch (error) {
      if (!(error instanceof NoPermit)) throw error
      const message = 'The searches of this key that came before are still under way; wait for them, then retry.'
      throw new ApiError('internal_error', { message, cause: error })
    } finally {
      response.off('close', leave)
    }
  }
}
