import { describe } from '#shared/log/printable'

export class CircuitOpen extends Error {
  override name = 'CircuitOpen'
}

/** After this many failures in a row a circuit opens. While it is open, it refuses calls. */
const FAILURES = 3
/** ms of the first pause. Each trial that fails doubles the pause. */
const PAUSE = 500
/** In ms. No pause is longer, so that a recovery is noticed within this time. */
const LONGEST_PAUSE = 3_000

export interface Circuit {
  /** Why calls are refused; null: calls are allowed. */
  obstacle(): string | null
  /**
   * Runs `work`, or throws `CircuitOpen` at once. After a pause, one caller at a time tries
   * again. If it succeeds, the circuit closes for all callers.
   */
  run<T>(work: () => Promise<T>): Promise<T>
}

/**
 * A circuit breaker. When a service failed several times in a row, it refuses calls to the service
 * for a while. We do not use `cockatiel` (`docs/experiments/README.md`). It makes callers wait for
 * a trial that hangs, 1.1 s where ours fails at once.
 *
 * @param name of the service, for the sentence of `CircuitOpen`
 * @param counts whether an error counts as a failure. A bad request should not count. null: the
 *   error says nothing about the service, as when its caller has left
 * @param failures in a row that open it
 */
export function createCircuit(
  name: string,
  counts: (error: unknown) => boolean | null,
  failures: number = FAILURES,
): Circuit {
  let failuresInARow = 0
  let nextPause = PAUSE
  let openUntil = 0
  /** Whether a caller is trying at this moment if the service is back. */
  let trying = false
  let reason = ''

  function obstacle(): string | null {
    const isOpen = failuresInARow >= failures && (trying || performance.now() < openUntil)
    return isOpen ? reason : null
  }

  function close(): void {
    failuresInARow = 0
    nextPause = PAUSE
  }

  function countFailure(error: unknown, isTrial: boolean): void {
    failuresInARow += 1
    reason = describe(error)
    if (failuresInARow < failures) return
    openUntil = performance.now() + nextPause
    if (isTrial) nextPause = Math.min(nextPause * 2, LONGEST_PAUSE)
  }

  return {
    obstacle,
    async run<T>(work: () => Promise<T>): Promise<T> {
      const blocked = obstacle()
      if (blocked)
        throw new CircuitOpen(`${name} failed a moment ago (${blocked}); it is tried again soon.`)
      const isTrial = failuresInARow >= failures
      if (isTrial) trying = true
      try {
        const result = await work()
        close()
        return result
      } catch (error) {
        const isFailure = counts(error)
        if (isFailure) countFailure(error, isTrial)
        // The service has answered the trial, even though it refused this request.
        else if (isTrial && isFailure === false) close()
        throw error
      } finally {
        if (isTrial) trying = false
      }
    },
  }
}
