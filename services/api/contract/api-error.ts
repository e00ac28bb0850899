import { ERRORS, type ErrorCode } from './errors.ts'
import { BESIDE_ERRORS, type BesideErrorCode } from './errors-beside.ts'
import type { ErrorObject } from './resources.ts'

const ALL = { ...ERRORS, ...BESIDE_ERRORS }

/** An answer that is an error of the contract; whatever else is thrown becomes `internal_error`. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly code: ErrorCode | BesideErrorCode
  readonly errors: Record<string, string[]> | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: ErrorCode | BesideErrorCode,
    details: {
      message?: string
      errors?: Record<string, string[]>
      headers?: Record<string, string>
      cause?: unknown
    } = {},
  ) {
    super(details.message ?? ALL[code].message, { cause: details.cause })
    this.code = code
    this.errors = details.errors
    this.headers = details.headers ?? {}
  }

  get status(): number {
    return ALL[this.code].status
  }
}

/** The error object of the contract; beside the two operations it may have another code. */
export function errorObject(error: ApiError): Omit<ErrorObject, 'code'> & Pick<ApiError, 'code'> {
  return {
    status: 'error',
    code: error.code,
    message: error.message,
    ...(error.errors === undefined ? {} : { errors: error.errors }),
  }
}
