import type { Request, RequestHandler, Response } from 'express'
import { rateLimit, type Store } from 'express-rate-limit'
import type { CountedMinute } from '../../../shared/plans/counting.ts'
import { ApiError } from '../contract/api-error.ts'
import { accessOf } from './locals.ts'

/** A minute of a plan. */
const MINUTE = 60_000

/**
 * Applies the plan's requests per minute to requests that the database has counted already. Sets
 * the counters on every answer from here on.
 */
export function limitRate(): RequestHandler[] {
  const counted = createCountedStore()
  const limit = rateLimit({
    store: counted.store,
    windowMs: MINUTE,
    limit: (_request, response) => accessOf(response).key.plan.rate,
    keyGenerator: (_request, response) => counted.note(minuteOf(response)),
    // Their names are not the contract's.
    standardHeaders: false,
    legacyHeaders: false,
    handler: (request, response, next) => {
      setRateHeaders(request, response)
      const left = (request.rateLimit?.resetTime?.getTime() ?? Date.now() + MINUTE) - Date.now()
      const seconds = Math.max(1, Math.ceil(left / 1_000))
      next(new ApiError('rate_limit_exceeded', { headers: { 'Retry-After': String(seconds) } }))
    },
  })
  return [
    limit,
    (request, response, next) => {
      setRateHeaders(request, response)
      next()
    },
  ]
}

/**
 * The store of express-rate-limit. Key, minute and month are one statement, so a request is counted
 * before express-rate-limit asks: the store hands out what the statement said.
 */
function createCountedStore(): { store: Store; note(minute: CountedMinute): string } {
  const noted = new Map<string, CountedMinute>()
  let last = 0
  return {
    /** @returns the name under which express-rate-limit asks for it */
    note(minute) {
      const name = String(++last)
      noted.set(name, minute)
      return name
    },
    store: {
      localKeys: false,
      increment(name) {
        const minute = noted.get(name)
        noted.delete(name)
        if (!minute) throw new Error('The request was not counted.')
        return {
          // The plan of the moment of counting decides.
          totalHits: minute.allowed ? minute.used : Number.MAX_SAFE_INTEGER,
          resetTime: new Date(Date.now() + Math.min(MINUTE, Math.max(0, minute.left))),
        }
      },
      // Requests are never given back: every answer but a refusal costs one (decision 5).
      decrement() {},
      resetKey() {},
    },
  }
}

function minuteOf(response: Response): CountedMinute {
  const { minute } = response.locals
  if (!minute) throw new Error('The request has not been counted yet.')
  return minute
}

function setRateHeaders(request: Request, response: Response): void {
  if (!request.rateLimit) return
  const { limit, remaining } = request.rateLimit
  response.set({ 'X-RateLimit-Limit': String(limit), 'X-RateLimit-Remaining': String(remaining) })
}
