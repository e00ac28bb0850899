import type { NextFunction, Request, RequestHandler, Response } from 'express'
import type { QuotaMonth } from '../../../shared/plans/counting.ts'
import type { FoundKey } from '../../../shared/plans/keys.ts'
import { ApiError } from '../contract/api-error.ts'
import type { Admissions } from './admissions.ts'
import { readCredentials } from './bearer.ts'
import { accessOf } from './locals.ts'
import { type AddressLock, lockAddress } from './lock.ts'

/**
 * Lets a request with a valid key in, counted in its minute, and notes its plan on the response.
 * Others are answered 401, or 429 from a locked address. A valid key from a locked address is let
 * in (decision 3), so the lock is asked only about the others. Nothing about a key is remembered
 * between requests: a revocation counts at once, in every process (decision 21).
 */
export function checkKey(admissions: Admissions, lock: AddressLock): RequestHandler {
  return async (request: Request, response: Response, next: NextFunction) => {
    const credentials = readCredentials(request)
    const address = () => lockAddress(request.ip, request.socket.remoteAddress)
    if (credentials.kind === 'missing') {
      refuseLocked(await lock.remaining(address()))
      throw new ApiError('missing_token', { headers: { 'WWW-Authenticate': 'Bearer realm="perscope"' } })
    }
    const found = credentials.kind === 'bearer' ? await admissions.admit(credentials.token) : null
    if (!found) {
      refuseLocked(await lock.fail(address()))
      throw new ApiError('invalid_token', {
        headers: { 'WWW-Authenticate': 'Bearer realm="perscope", error="invalid_token"' },
      })
    }
    response.locals.minute = found.minute
    response.locals.indexState = found.state
    admit(response, found.found)
    next()
  }
}

/** Notes who is asking, and says what is left of the month. */
export function admit(response: Response, found: FoundKey): void {
  response.locals.access = found
  setQuotaHeaders(response, found.key, found.month)
}

/** @throws ApiError `too_many_failed_attempts` when a lock told the seconds that are left of it */
export function refuseLocked(seconds: number | null): void {
  if (seconds !== null) throw new ApiError('too_many_failed_attempts', { headers: { 'Retry-After': String(seconds) } })
}

/** Refuses a request of a used-up month before anything else is checked (decision 6). */
export function checkQuota(response: Response): void {
  const { key, month } = accessOf(response)
  if (month && key.plan.quota !== null && month.used >= key.plan.quota) throw exceeded(month)
}

/**
 * Takes one request of the month, just before the answer's headers go out (decision 5). A client
 * that has hung up gets no answer and pays nothing.
 * @throws ApiError `quota_exceeded` when another request took the last one meanwhile
 */
export async function chargeMonth(admissions: Admissions, response: Response): Promise<void> {
  const access = accessOf(response)
  const { key, month } = access
  if (!month || key.plan.quota === null || response.destroyed || response.socket?.destroyed) return
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
  response.set({
    'X-Quota-Limit': String(quota),
    'X-Quota-Remaining': String(Math.max(0, quota - month.used)),
    'X-Quota-Reset': String(month.reset),
    'X-Quota-Period': month.period,
  })
}
