import { withTimeLimit } from './time-limit.ts'

export interface SecondTryOptions {
  /** ms after which a question without an answer is asked a second time. */
  after: number
  /** ms that both may take together. */
  limit: number
  /** Second tries under way at a time, so that they do not double the load of a slow service. */
  most: number
  /** Whether a question that failed with this error is asked a second time. */
  again: (error: unknown) => boolean
}

/**
 * Makes a way to ask that asks a second time when an answer is late or fails, and takes the answer
 * that comes first. Behind a load balancer the second question goes to another node than the one
 * that has just been lost. Only for questions that change nothing.
 */
export function createSecondTry({ after, limit, most, again }: SecondTryOptions) {
  let under = 0
  return async <T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const over = new AbortController()
    const signal = AbortSignal.any([over.signal, AbortSignal.timeout(limit)])
    const first = ask(signal)
    try {
      const early = await withTimeLimit(
        first.then(
          value => ({ value }),
          error => ({ error }),
        ),
        after,
        () => null,
      )
      if (early !== null && 'value' in early) return early.value
      if (under >= most || (early !== null && !again(early.error))) return await first
      under += 1
      try {
        return await Promise.any([first, ask(signal)])
      } finally {
        under -= 1
        // Ends the other one. An answer that came alone leaves nothing to end, and each abort makes
        // an error with its stack.
        over.abort()
      }
    } catch (error) {
      throw error instanceof AggregateError ? error.errors.at(-1) : error
    }
  }
}
