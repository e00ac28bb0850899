import type { ApiErrorDetails } from './contract.ts'

/** Everything that this package throws. */
export class PerscopeError extends Error {
  override name = 'PerscopeError'
}

/** Nothing answered, the answer broke off, or it took too long; `cause` says more. */
export class NoAnswerError extends PerscopeError {
  override name = 'NoAnswerError'
}

/** Something else than the API answered: a login page, another program, a redirect. */
export class ForeignAnswerError extends PerscopeError {
  override name = 'ForeignAnswerError'
}

/** An answer that is an error; the subclasses say which. */
export class ApiError extends PerscopeError implements ApiErrorDetails {
  override name = 'ApiError'
  readonly status: number
  readonly code: ApiErrorDetails['code']
  readonly errors: ApiErrorDetails['errors']
  readonly retryAfter: number | null
  readonly requestId: string | null

  constructor(message: string, details: ApiErrorDetails) {
    const ofParameters = Object.entries(details.errors).map(
      ([name, sentences]) => ` ${name}: ${[sentences].flat().join(' ')}`,
    )
    super(`${message}${ofParameters.join('')} (${details.status} ${details.code})`)
    this.status = details.status
    this.code = details.code
    this.errors = details.errors
    this.retryAfter = details.retryAfter
    this.requestId = details.requestId
  }
}

/** The key is missing or not valid. */
export class KeyError extends ApiError {
  override name = 'KeyError'
}
/** The address sent too many invalid keys. */
export class LockedError extends ApiError {
  override name = 'LockedError'
}
/** The requests of the minute are used up, also after the client waited. */
export class RateLimitError extends ApiError {
  override name = 'RateLimitError'
}
/** The requests of the month are used up. */
export class QuotaError extends ApiError {
  override name = 'QuotaError'
}
/** A parameter cannot be used; `errors` says which and why. */
export class InvalidRequestError extends ApiError {
  override name = 'InvalidRequestError'
}
/** The plan does not cover the country or the time. */
export class PlanError extends ApiError {
  override name = 'PlanError'
}
/** Search by meaning is out of order for now; the other modes are not. */
export class SemanticUnavailableError extends ApiError {
  override name = 'SemanticUnavailableError'
}
