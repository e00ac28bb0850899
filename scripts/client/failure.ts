import type { ErrorCode } from '../../services/api/contract/errors.ts'

/** An answer that is an error of the contract; `code` says which. */
export class ApiFailure extends Error {
  override name = 'ApiFailure'
  readonly status: number
  /** Also `internal_error` when the answer held no error object, such as a proxy's page. */
  readonly code: ErrorCode
  readonly errors: Record<string, string[]>
  /** The wait that the answer asks for (Retry-After), in ms; null: it asks for none. */
  readonly retryAfter: number | null

  constructor(
    status: number,
    code: ErrorCode,
    message: string,
    errors: Record<string, string[]>,
    retryAfter: number | null,
  ) {
    const details = Object.entries(errors).map(([name, sentences]) => ` ${name}: ${sentences.join(' ')}`)
    super(`${message}${details.join('')} (${status} ${code})`)
    this.status = status
    this.code = code
    this.errors = errors
    this.retryAfter = retryAfter
  }
}

/** ms to wait before the same request may succeed; null when it will not. */
export function patienceFor(error: unknown, attempt: number): number | null {
  const backOff = Math.min(30_000, 500 * 2 ** attempt)
  if (!(error instanceof ApiFailure)) return isSilence(error) ? backOff : null
  if (error.code === 'rate_limit_exceeded') return error.retryAfter ?? 1_000
  if (error.status >= 500) return error.retryAfter === null ? backOff : Math.min(backOff, error.retryAfter)
  return null
}

/**
 * fetch throws a TypeError when nothing answers or an answer breaks off, and a TimeoutError when an
 * answer takes too long.
 */
function isSilence(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof DOMException && error.name === 'TimeoutError')
}
