import errors from './errors.json' with { type: 'json' }

export type ErrorCode = keyof typeof errors.contract

/** An error code of the operations beside the contract (decision 39). */
export type BesideErrorCode = keyof typeof errors.beside

/** An error's status, the case in which it is sent, and its usual sentence. */
interface ErrorRow {
  status: number
  when: string
  message: string
}

/**
 * Every error code of the contract. The API sends errors from this table; the OpenAPI document and
 * the reference page print it.
 */
export const ERRORS: Readonly<Record<ErrorCode, ErrorRow>> = errors.contract

/** The codes in the order in which a request is checked for them (decision 6). */
export const ERROR_CODES: ErrorCode[] = Object.keys(ERRORS).filter(
  (code): code is ErrorCode => code in ERRORS,
)

/**
 * The errors of the contract, and those beside it, which `/explore/openapi.json` lists; the
 * contract's document and page do not.
 */
export const ALL_ERRORS: Readonly<Record<ErrorCode | BesideErrorCode, ErrorRow>> = {
  ...errors.contract,
  ...errors.beside,
}

/** An error that a client gets. `errorOf` converts every other thrown value into an `ApiError`. */
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
    super(details.message ?? ALL_ERRORS[code].message, { cause: details.cause })
    this.code = code
    this.errors = details.errors
    this.headers = details.headers ?? {}
  }

  /** All that it says, for places that show no `errors`. */
  get sentence(): string {
    return (
      Object.values(this.errors ?? {})
        .flat()
        .join(' ') || this.message
    )
  }

  get status(): number {
    return ALL_ERRORS[this.code].status
  }
}

/** The error for one wrong parameter, or one wrong member of a body. */
export const invalid = (member: string, ...sentences: string[]): ApiError =>
  new ApiError('invalid_request', { errors: { [member]: sentences } })
