import type { ApiErrorDetails, Client, ClientOptions } from './client.js'

export type * from './client.js'
export type * from './contract.js'

/** Makes a client without sending anything. @throws PerscopeError when an option is not valid */
export declare function createClient(options: ClientOptions): Client

/** Everything that this package throws. */
export declare class PerscopeError extends Error {}
/** No answer came, the answer broke off, or it took too long; `cause` says more. */
export declare class NoAnswerError extends PerscopeError {}
/** The answer is not from the API: a login page, another program, a redirect. */
export declare class ForeignAnswerError extends PerscopeError {}
/** An answer that is an error; the subclasses say which. */
export declare class ApiError extends PerscopeError implements ApiErrorDetails {
  readonly status: number
  readonly code: ApiErrorDetails['code']
  readonly errors: ApiErrorDetails['errors']
  readonly retryAfter: number | null
  readonly requestId: string | null
  constructor(message: string, details: ApiErrorDetails)
}
/** The key is missing or not valid. */
export declare class KeyError extends ApiError {}
/** The address sent too many invalid keys. */
export declare class LockedError extends ApiError {}
/** The requests of the minute are used up, even after the client waited. */
export declare class RateLimitError extends ApiError {}
/** The requests of the month are used up. */
export declare class QuotaError extends ApiError {}
/** A parameter is not valid; `errors` says which and why. */
export declare class InvalidRequestError extends ApiError {}
/** The plan does not cover the country or the time. */
export declare class PlanError extends ApiError {}
/** Search by meaning is not available at present; the other modes are. */
export declare class SemanticUnavailableError extends ApiError {}
