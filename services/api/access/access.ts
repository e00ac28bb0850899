import type { IncomingMessage } from 'node:http'
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { type RateLimitInfo, rateLimit, type Store } from 'express-rate-limit'
import { LRUCache } from 'lru-cache'
import type { IndexState, Pace } from '#search/index'
import { ApiError } from '#services/api/contract/errors'
import type { Answer } from '#services/api/http/answer'
import { noteWait } from '#shared/log/context'
import { type CountedMinute, countInMinute, type QuotaMonth } from '#shared/plans/counting'
import type { FoundKey, Plan } from '#shared/plans/keys'
import type { Queryable } from '#shared/postgres/pool'
import type { Admissions } from './admissions.ts'
import { COSTS, type Pay, tooDear } from './costs.ts'
import { type AddressLock, lockAddress } from './lock.ts'
import { NoPermit, type Permits } from './permits.ts'
import type { Turns } from './turns.ts'

/**
 * Admits a request with a valid key: counts it in the minute of the key, and stores the plan on the
 * response. Any other request gets 401, or 429 when its address is locked. The lock is read for
 * these requests only, because a valid key is admitted from a locked address, too (decision 3).
 * Each request looks its key up again, so a revocation takes effect at once in every process
 * (decision 21).
 *
 * @param keptFor finds an answer that holds if key and index are as they were
 */
export function checkKey(
  admissions: Admissions,
  lock: AddressLock,
  keptFor: KeptFor = () => null,
): RequestHandler {
  return async (request: Request, response: Response, next: NextFunction) => {
    const credentials = readCredentials(request)
    const address = () => lockAddress(request)
    if (credentials.kind === 'missing') {
      refuseLocked(await lock.remaining(address()))
      const headers = { 'WWW-Authenticate': 'Bearer realm="perscope"' }
      throw new ApiError('missing_token', {
        headers,
        ...(/[?&=]psk_/.test(request.originalUrl) && { message: IN_ADDRESS }),
      })
    }
    const token = credentials.kind === 'bearer' ? credentials.token : ''
    const known = admissions.planOf(token)
    const kept = known !== null && known.plan.quota !== null ? keptFor(request, known.plan) : null
    const expected = kept && known && { terms: known.terms, state: kept.state }
    const found = await admissions.admit(token, address, expected).catch(refuseStranger)
    if (!found) {
      refuseLocked(await lock.fail(address()))
      throw new ApiError('invalid_token', {
        ...(credentials.kind === 'malformed' && !credentials.isBearer && { message: NO_BEARER }),
        headers: { 'WWW-Authenticate': 'Bearer realm="perscope", error="invalid_token"' },
      })
    }
    response.locals.minute = found.minute
    response.locals.indexState = found.state
    if (kept && found.isPaid) response.locals.paid = kept
    admit(response, found.found)
    next()
  }
}

/** An answer that this process has kept. */
export interface KeptAnswer {
  answer: Answer
  /** The state of the index in which it holds. */
  state: IndexState
  /**
   * Whether it is of the present primary. A failover may undo articles, and reach the state with
   * other ones.
   */
  isOfPrimary(): boolean
}

/** The answer that is kept for a request of a key with this plan; null: none is. */
export type KeptFor = (request: Request, plan: Plan) => KeptAnswer | null

const NO_BEARER =
  'The word Bearer is missing before the key: write "Authorization: Bearer <API_KEY>".'
const IN_ADDRESS =
  'A key in the address is not read, and now stands in logs: have it rotated, and send it in the header "Authorization: Bearer <API_KEY>".'

/**
 * Stores the key of the request on the response, and sets the headers with the counters of its
 * month.
 */
export function admit(response: Response, found: FoundKey): void {
  response.locals.access = found
  setQuotaHeaders(response, found.key, found.month)
}

/**
 * @param seconds how long the address is still locked; null: the address is not locked
 * @throws ApiError `too_many_failed_attempts` when it is locked
 */
export function refuseLocked(seconds: number | null): void {
  if (seconds !== null)
    throw new ApiError('too_many_failed_attempts', { headers: { 'Retry-After': String(seconds) } })
}

/**
 * @throws ApiError `too_many_failed_attempts` in place of a `NoPermit`, which means that too many
 * requests with unknown keys wait; any other error unchanged
 */
export function refuseStranger(error: unknown): never {
  if (error instanceof NoPermit) refuseLocked(1)
  throw error
}

/**
 * Refuses a request when the month of its key is used up. Operations call this before they check
 * anything else (decision 6).
 */
export function checkQuota(response: Response): void {
  const { key, month } = accessOf(response)
  if (month && key.plan.quota !== null && month.used >= key.plan.quota) throw exceeded(month)
}

/**
 * Takes one request from the quota of the month, just before the answer's headers go out (decision
 * 5). A client that has hung up gets no answer and pays nothing.
 * @throws ApiError `quota_exceeded` when another request has taken the last one of the month in the
 * meantime
 */
export async function chargeMonth(admissions: Admissions, response: Response): Promise<void> {
  const access = accessOf(response)
  const { key, month } = access
  if (response.locals.paid || !month || key.plan.quota === null) return
  if (response.destroyed || response.socket?.destroyed) return
  const { quota } = key.plan
  const charged = await admissions.charge(key.id, quota)
  access.month = charged ?? { ...month, used: quota }
  setQuotaHeaders(response, key, access.month)
  if (!charged) throw exceeded(month)
}

function exceeded(month: QuotaMonth): ApiError {
  return new ApiError('quota_exceeded', { headers: { 'Retry-After': String(month.left) } })
}

function setQuotaHeaders(response: Response, key: FoundKey['key'], month: QuotaMonth | null): void {
  const { quota } = key.plan
  if (!month || quota === null) return
  response.setHeader('X-Quota-Limit', String(quota))
  response.setHeader('X-Quota-Remaining', String(Math.max(0, quota - month.used)))
  response.setHeader('X-Quota-Reset', String(month.reset))
  response.setHeader('X-Quota-Period', month.period)
}

/**
 * Lets a request take more of the minute of its key than the one that it was counted as. Its answer
 * shows what is left then.
 */
export function payOf(db: Queryable, response: Response): Pay {
  let owed = 0
  let paid = 0
  return async wanted => {
    const { key } = accessOf(response)
    const { rate } = key.plan
    owed += wanted
    const more = Math.min(Math.floor(owed), rate - 1) - paid
    if (more < 1) return
    paid += more
    const minute = await countInMinute(db, key.id, more)
    if (minute === null) throw new ApiError('invalid_token')
    const { req } = response
    if (req.rateLimit) {
      req.rateLimit.remaining = Math.max(0, rate - minute.used)
      setRateHeaders(req, response)
    }
    if (!minute.allowed) throw tooDear(more, Math.max(1, Math.ceil(minute.left / 1_000)))
  }
}

/** Aborts when the client of a request leaves before its answer. The work for it then ends. */
export function leavesOf(response: Response): AbortSignal {
  const gone = new AbortController()
  const leave = () => {
    // A connection that closes after a whole answer is no reason to make an error.
    if (!response.writableFinished) gone.abort(new NoPermit('The caller has left.'))
  }
  response.once('close', leave)
  if (response.destroyed) leave()
  return gone.signal
}

/** @param work rests at this pace, which also ends it when the client has left */
export type WithPermit = <T>(work: (pace: Pace) => Promise<T>) => Promise<T>

/**
 * Runs the searches of a request with permits of its key.
 * @returns a function that throws `ApiError` `internal_error` when no permit comes in time
 */
export function withPermitOf(
  permits: Permits,
  turns: Turns,
  pay: Pay,
  id: string,
  leaves: AbortSignal,
): WithPermit {
  return async search => {
    const start = performance.now()
    const begin = async () => {
      await turns.begin(id)
      noteWait('permit', performance.now() - start)
      const pace = turns.paceOf(id, leaves)
      return search({ ...pace, pay: price => pay(price / COSTS.near) })
    }
    try {
      return await permits.take(id, begin, leaves)
    } catch (error) {
      if (!(error instanceof NoPermit)) throw error
      const message =
        'The searches of this key that came before are still under way; wait for them, then retry.'
      throw new ApiError('internal_error', { message, cause: error })
    }
  }
}

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
      /** A kept answer, for which the month was charged when the request was counted. */
      paid?: KeptAnswer
      /** The feed that the request asks for; set when its token is known. */
      searchFeed?: { id: string; title: string; search: string; format: 'rss' | 'atom' | 'json' }
      /** The name of the tool that an agent has called. */
      tool?: string
      /** The log and the metrics use these three. */
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

/** The key that a request brings. */
type Credentials =
  | { kind: 'missing' }
  | { kind: 'malformed'; isBearer: boolean }
  | { kind: 'bearer'; token: string }

// RFC 6750 §2.1: the scheme in any case, one or more spaces, a b64token.
const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i

/**
 * Reads `Authorization` (decision 1). Without a header, with an empty header, or with `Bearer`
 * alone, the key is missing. Another scheme, a malformed token or a second header is a malformed
 * key. A key in any other place (query, body, cookie) is not read.
 */
export function readCredentials(request: IncomingMessage): Credentials {
  const headers = request.headersDistinct.authorization ?? []
  const header = headers[0]?.trim() ?? ''
  const isBearer = /^bearer\b/i.test(header)
  if (headers.length > 1) return { kind: 'malformed', isBearer: true }
  if (header === '' || /^bearer$/i.test(header)) return { kind: 'missing' }
  const token = BEARER.exec(header)?.[1]
  return token === undefined ? { kind: 'malformed', isBearer } : { kind: 'bearer', token }
}

/** ms. The requests of a key are counted by the minute. */
const MINUTE = 60_000

/**
 * Refusals of a key in a minute that are answered at once, and ms that later ones wait. A client
 * that never heeds `Retry-After` would otherwise get thousands of answers a second.
 */
const REFUSED_AT_ONCE = 200
const REFUSAL_WAIT = 500

/**
 * Refuses a request that exceeds the plan's requests per minute. The database has already counted
 * the request. Every answer gets the headers with the counters, refusals too.
 */
export function limitRate(): RequestHandler[] {
  const refusals = new LRUCache<string, number>({ max: 10_000 })
  const limit = rateLimit({
    store: COUNTED,
    windowMs: MINUTE,
    limit: (_request, response) => accessOf(response).key.plan.rate,
    keyGenerator: (_request, response) => {
      const name = String(++counted)
      COUNTS.set(name, minuteOf(response))
      return name
    },
    // express-rate-limit names these headers differently, so `setRateHeaders` writes the
    // contract's.
    standardHeaders: false,
    legacyHeaders: false,
    handler: (request, response, next) => {
      setRateHeaders(request, response)
      const left = (request.rateLimit?.resetTime?.getTime() ?? Date.now() + MINUTE) - Date.now()
      const seconds = Math.max(1, Math.ceil(left / 1_000))
      const refusal = new ApiError('rate_limit_exceeded', {
        headers: { 'Retry-After': String(seconds) },
      })
      const { key } = accessOf(response)
      const count = (refusals.get(key.id) ?? 0) + 1
      refusals.set(key.id, count, { ttl: MINUTE, noUpdateTTL: true })
      if (count <= REFUSED_AT_ONCE) next(refusal)
      else setTimeout(() => next(refusal), REFUSAL_WAIT).unref()
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

let counted = 0
/**
 * Counts that the store has not read yet, by name. express-rate-limit passes only this name to the
 * store, and the store finds the count here.
 */
const COUNTS = new Map<string, CountedMinute>()

/**
 * The store of express-rate-limit. One statement reads key and month and counts the request in its
 * minute. So the count is known before express-rate-limit runs, and this store only returns it.
 */
const COUNTED: Store = {
  localKeys: false,
  increment(name) {
    const { allowed, used, left } = COUNTS.get(name)!
    COUNTS.delete(name)
    return {
      // The database decides `allowed` by the plan at the moment of counting. A plan that was read
      // before may differ.
      totalHits: allowed ? used : Number.MAX_SAFE_INTEGER,
      resetTime: new Date(Date.now() + Math.min(MINUTE, Math.max(0, left))),
    }
  },
  // A counted request stays counted (decision 5), so these two do nothing.
  decrement() {},
  resetKey() {},
}

function minuteOf(response: Response): CountedMinute {
  const { minute } = response.locals
  if (!minute) throw new Error('The request has not been counted yet.')
  return minute
}

function setRateHeaders(request: Request, response: Response): void {
  if (!request.rateLimit) return
  const { limit, remaining } = request.rateLimit
  response.setHeader('X-RateLimit-Limit', String(limit))
  response.setHeader('X-RateLimit-Remaining', String(remaining))
}
