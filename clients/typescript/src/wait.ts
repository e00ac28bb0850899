import { ApiError, NoAnswerError } from './errors.ts'

const FIRST_BACK_OFF = 500
const LONGEST_BACK_OFF = 30_000

/**
 * ms to wait before the same request may do better; null when it will not. By the contract: a
 * minute that is used up and a server in trouble are waited out, any other 4xx stays what it is.
 */
export function waitAfter(error: unknown, attempt: number): number | null {
  const backOff = Math.min(LONGEST_BACK_OFF, FIRST_BACK_OFF * 2 ** attempt)
  if (error instanceof NoAnswerError) return backOff
  if (!(error instanceof ApiError)) return null
  if (error.code !== 'rate_limit_exceeded' && error.status < 500) return null
  return error.retryAfter === null ? backOff : error.retryAfter * 1_000
}

/** Resolves after so many ms. @throws the signal's reason when it is aborted before */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}
