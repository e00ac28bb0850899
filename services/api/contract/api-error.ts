import { ERRORS, type ErrorCode } from './errors.ts'
import type { ErrorObject } from './resources.ts'

/** An answer that is an error of the contract; whatever else is thrown becomes `internal_error`. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly code: ErrorCode
  readonly errors: Record<string, string[]> | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: ErrorCode,
    details: {
      message?: string
      errors?: Record<string, string[]>
      headers?: Record<string, string>
      cause?: unknown
    } = {},
  ) {
    super(details.message ?? ERRORS[code].message, { cause: details.cause })
    this.code = code
    this.errors = details.errors
    this.headers = details.headers ?? {}
  }

  get status(): number {
    return ERRORS[this.code].status
  }
}

/** The error object of the contract. */
export function errorObject(error: ApiError): ErrorObject {
  return {
    status: 'error',
    code: error.code,
    message: error.message,
    ...(error.errors === undefined ? {} : { errors: error.errors }),
  }
}
