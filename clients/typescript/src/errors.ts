import type { ApiErrorDetails } from './client.ts'

/** Everything that this package throws. */
export class PerscopeError extends Error {
  override name = this.constructor.name
}

/** No answer came, the answer broke off, or it took too long; `cause` says more. */
export class NoAnswerError extends PerscopeError {}

/** The answer is not from the API: a login page, another program, a redirect. */
export class ForeignAnswerError extends PerscopeError {}

/** An answer that is an error; the subclasses say which. */
export class ApiError extends PerscopeError implements ApiErrorDetails {
  declare readonly status: number
  declare readonly code: ApiErrorDetails['code']
  declare readonly errors: ApiErrorDetails['errors']
  declare readonly retryAfter: number | null
  declare readonly requestId: string | null

  constructor(message: string, details: ApiErrorDetails) {
    const ofParameters = Object.entries(details.errors).map(
      ([name, sentences]) => ` ${name}: ${[sentences].flat().join(' ')}`,
    )
    super(`${message}${ofParameters.join('')} (${details.status} ${details.code})`)
    Object.assign(this, details)
  }
}

/** The key is missing or not valid. */
export class KeyError extends ApiError {}
/** The address sent too many invalid keys. */
export class LockedError extends ApiError {}
/** The requests of the minute are used up, even after the client waited. */
export class RateLimitError extends ApiError {}
/** The requests of the month are used up. */
export class QuotaError extends ApiError {}
/** A parameter is not valid; `errors` says which and why. */
export class InvalidRequestError extends ApiError {}
/** The plan does not cover the country or the time. */
export class PlanError extends ApiError {}
/** Search by meaning is not available at present; the other modes are. */
export class SemanticUnavailableError extends ApiError {}
