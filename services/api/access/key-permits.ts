import type { Response } from 'express'
import type { Config } from '../../../shared/config/config.ts'
import { ApiError } from '../contract/api-error.ts'
import { accessOf } from './locals.ts'
import { createTurns, NoTurn, type Turns } from './permits.ts'

/** Connections that one search uses at the same time, at most: for fresh articles, and for columns and lists of segments. */
const CONNECTIONS = 3
/** Searches of one key that wait. Its rate is a bound too, mostly a lower one. */
const WAITING = 1_000
/** More than requests of one key can be under way. */
const COUNTING = 100_000

/**
 * Searches of one key take turns, so that slow ones of one client leave connections for all others: together they use
 * three quarters of the pool at most. A turn is waited for as long as a statement may run.
 */
export function createSearchTurns({ DATABASE_POOL, SEARCH_TIMEOUT }: SearchTurnSettings): Turns {
  const atOnce = Math.max(1, Math.floor((DATABASE_POOL * 3) / 4 / CONNECTIONS))
  return createTurns({ atOnce, waiting: WAITING, patience: SEARCH_TIMEOUT })
}

/**
 * Turns for the statements that count a key's minute and month. They write one row, so the database lets one through at a
 * time; the others would wait for it there with a connection in hand.
 */
export function createCountTurns({ SEARCH_TIMEOUT }: Pick<Config, 'SEARCH_TIMEOUT'>): Turns {
  return createTurns({ atOnce: 2, waiting: COUNTING, patience: SEARCH_TIMEOUT })
}

type SearchTurnSettings = Pick<Config, 'DATABASE_POOL' | 'SEARCH_TIMEOUT'>

/**
 * Does searches of a request in its key's turn.
 * @returns a function that throws `ApiError` `internal_error` when there was none, as for a statement that takes too long
 */
export function inTurnOf(turns: Turns, response: Response): <T>(search: () => Promise<T>) => Promise<T> {
  return async search => {
    const gone = new AbortController()
    const leave = () => gone.abort()
    response.once('close', leave)
    try {
      return await turns.take(accessOf(response).key.id, search, gone.signal)
    } catch (error) {
      if (!(error instanceof NoTurn)) throw error
      const message = 'The searches of this key that came before are still under way; wait for them, then retry.'
      throw new ApiError('internal_error', { message, cause: error })
    } finally {
      response.off('close', leave)
    }
  }
}
