import { withTimeLimit } from './time-limit.ts'

export interface SecondTryOptions {
  /** ms after which a question without an answer is asked a second time. */
  after: number
  /** ms that both may take together. */
  limit: number
  /** Second tries under way at a time, so that they do not double the load of a slow service. */
  most: number
}

/**
 * Makes a way to ask that asks a second time when an answer is late, and takes the answer that
 * comes first. Behind a load balancer the second question goes to another node than the one that
 * has just been lost. Only for questions that change nothing.
 */
export function createSecondTry({ after, limit, most }: SecondTryOptions) {
  let under = 0
  return async <T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const over = new AbortController()
    const signal = AbortSignal.any([over.signal, AbortSignal.timeout(limit)])
    const first = ask(signal)
    try {
      const early = await withTimeLimit(
        first.then(value => ({ value })),
        after,
        () => null,
      )
      if (early !== null) return early.value
      if (under >= most) return await first
      under += 1
      try {
        return await Promise.any([first, ask(signal)])
      } finally {
        under -= 1
      }
    } catch (error) {
      throw error instanceof AggregateError ? error.errors[0] : error
    } finally {
      over.abort()
    }
  }
}
