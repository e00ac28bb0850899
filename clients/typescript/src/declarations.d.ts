import type { ApiErrorDetails, Client, ClientOptions } from './contract.js'

export type * from './contract.js'

/** Makes a client; nothing is sent yet. @throws PerscopeError when an option cannot be used */
export declare function createClient(options: ClientOptions): Client

/** Everything that this package throws. */
export declare class PerscopeError extends Error {}
/** Nothing answered, the answer broke off, or it took too long; `cause` says more. */
export declare class NoAnswerError extends PerscopeError {}
/** Something else than the API answered: a login page, another program, a redirect. */
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
/** The requests of the minute are used up, also after the client waited. */
export declare class RateLimitError extends ApiError {}
/** The requests of the month are used up. */
export declare class QuotaError extends ApiError {}
/** A parameter cannot be used; `errors` says which and why. */
export declare class InvalidRequestError extends ApiError {}
/** The plan does not cover the country or the time. */
export declare class PlanError extends ApiError {}
/** Search by meaning is out of order for now; the other modes are not. */
export declare class SemanticUnavailableError extends ApiError {}
