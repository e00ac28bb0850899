import type { ErrorObject } from './contract.ts'

/** Everything that this package throws. */
export class PerscopeError extends Error {
  override name = 'PerscopeError'
}

/** Nothing answered, the answer broke off, or it took too long; `cause` says more. */
export class NoAnswerError extends PerscopeError {
  override name = 'NoAnswerError'
}

/** The content of an error answer. */
export interface ApiErrorDetails {
  status: number
  /** One of the API's codes, which may become more; decide by it. */
  code: ErrorObject['code'] | (string & {})
  /** The mistakes by parameter; empty unless `code` is `invalid_request`. */
  errors: Readonly<Record<string, readonly string[]>>
  /** Seconds to wait, where the answer says so. */
  retryAfter: number | null
  /** Names the request in the server's logs. */
  requestId: string | null
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
    const ofParameters = Object.entries(details.errors).map(([name, sentences]) => ` ${name}: ${sentences.join(' ')}`)
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

const CLASSES: Readonly<Record<string, typeof ApiError>> = {
  missing_token: KeyError,
  invalid_token: KeyError,
  too_many_failed_attempts: LockedError,
  rate_limit_exceeded: RateLimitError,
  quota_exceeded: QuotaError,
  invalid_request: InvalidRequestError,
  country_not_included: PlanError,
  history_not_included: PlanError,
  semantic_search_unavailable: SemanticUnavailableError,
}

/**
 * Makes an error of an answer. An answer without an error object (a proxy's page, say) has the code
 * `no_error_object`.
 */
export function errorOf(status: number, headers: Headers, text: string): ApiError {
  const body = readErrorObject(text)
  const retryAfter = headers.get('retry-after') ?? ''
  const details: ApiErrorDetails = {
    status,
    code: body?.code ?? 'no_error_object',
    errors: body?.errors ?? {},
    retryAfter: /^\d+$/.test(retryAfter) ? Number(retryAfter) : null,
    requestId: headers.get('x-request-id'),
  }
  const Class = CLASSES[details.code] ?? ApiError
  return new Class(body?.message ?? 'The server answered without saying what is wrong.', details)
}

function readErrorObject(text: string): ErrorObject | null {
  try {
    const body: Partial<ErrorObject> | null = JSON.parse(text)
    const isOne = typeof body?.code === 'string' && typeof body.message === 'string'
    return isOne ? { status: 'error', code: body.code!, message: body.message!, errors: body.errors ?? {} } : null
  } catch {
    return null
  }
}
