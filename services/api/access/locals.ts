import type { Response } from 'express'
import type { RateLimitInfo } from 'express-rate-limit'
import type { IndexState } from '../../../search/index.ts'
import type { CountedMinute } from '../../../shared/plans/counting.ts'
import type { FoundKey } from '../../../shared/plans/keys.ts'

declare global {
  namespace Express {
    interface Request {
      /** Set by express-rate-limit. */
      rateLimit?: RateLimitInfo
    }
    /** Notes of the middleware on a response, for the middleware after it. */
    interface Locals {
      requestId: string
      /** The key and its plan, once they are known. */
      access?: FoundKey
      /** The result of counting the request in the minute of its key. */
      minute?: CountedMinute
      /** The state of the index when the request was counted. */
      indexState?: IndexState
      /** Which feed is asked for, once its token is known. */
      searchFeed?: { id: string; search: string }
      /** For logs and metrics. */
      errorCode?: string
      search?: string
      searchMs?: number
      /** ms that the statements for the key, the minute and the month took. */
      accessMs?: number
    }
  }
}

/** @throws when called before the key was checked: a mistake in the order of the middleware */
export function accessOf(response: Response): FoundKey {
  const { access } = response.locals
  if (!access) throw new Error('The key has not been checked yet.')
  return access
}
