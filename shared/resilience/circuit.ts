import { describe } from '#shared/log/printable'
export interface Obstacle {
  reason: string
  /** ms after which a caller may try again. */
  wait: number
}

export class CircuitOpen extends Error {
  override name = 'CircuitOpen'
}

/** After this many failures in a row a circuit opens. While it is open, it refuses calls. */
const FAILURES = 3
/** ms of the first pause. Each trial that fails doubles the pause. */
const PAUSE = 500
/** In ms. No pause is longer, so that a recovery is noticed within this time. */
const LONGEST_PAUSE = 3_000

interface CircuitState {
  /** After how many failures in a row it opens. */
  failures: number
  failuresInARow: number
  nextPause: number
  openUntil: number
  /** Whether a caller is trying at this moment if the service is back. */
  trying: boolean
  reason: string
}

export interface Circuit {
  /** Why calls are refused, and for how many more ms; null: calls are allowed. */
  obstacle(): Obstacle | null
  /**
   * Runs `work`, or throws `CircuitOpen` at once. After a pause, one caller at a time tries
   * again. If it succeeds, the circuit closes for all callers.
   */
  run<T>(work: () => Promise<T>): Promise<T>
}

/**
 * A circuit breaker. When a service failed several times in a row, it refuses calls to the service
 * for a while. We do not use `cockatiel` (`docs/experiments/README.md`). It makes callers wait for
 * a trial that hangs, 1.1 s where ours fails at once. It also does not tell when it tries again.
 *
 * @param name of the service, for the sentence of `CircuitOpen`
 * @param counts whether an error counts as a failure. A bad request, or a caller who left, should
 *   not count.
 * @param failures in a row that open it
 */
export function createCircuit(
  name: string,
  counts: (error: unknown) => boolean,
  failures: number = FAILURES,
): Circuit {
  const state: CircuitState = {
    failures,
    failuresInARow: 0,
    nextPause: PAUSE,
    openUntil: 0,
    trying: false,
    reason: '',
  }
  return {
    obstacle: () => obstacleOf(state),
    async run<T>(work: () => Promise<T>): Promise<T> {
      const blocked = obstacleOf(state)
      if (blocked)
        throw new CircuitOpen(
          `${name} failed a moment ago (${blocked.reason}); it is tried again soon.`,
        )
      const isTrial = state.failuresInARow >= failures
      if (isTrial) state.trying = true
      try {
        const result = await work()
        close(state)
        return result
      } catch (error) {
        if (counts(error)) countFailure(state, error, isTrial)
        // The service has answered the trial, even though it refused this request.
        else if (isTrial) close(state)
        throw error
      } finally {
        if (isTrial) state.trying = false
      }
    },
  }
}

/** ms that a caller waits before it tries again while another caller's trial is running. */
const TRIAL_WAIT = 100

function obstacleOf(state: CircuitState): Obstacle | null {
  const { failures, failuresInARow, openUntil, trying, reason } = state
  if (failuresInARow < failures) return null
  const wait = openUntil - Date.now()
  if (wait > 0) return { reason, wait }
  return trying ? { reason, wait: TRIAL_WAIT } : null
}

function close(state: CircuitState): void {
  state.failuresInARow = 0
  state.nextPause = PAUSE
}

function countFailure(state: CircuitState, error: unknown, isTrial: boolean): void {
  state.failuresInARow += 1
  state.reason = describe(error)
  if (state.failuresInARow < state.failures) return
  state.openUntil = Date.now() + state.nextPause
  if (isTrial) state.nextPause = Math.min(state.nextPause * 2, LONGEST_PAUSE)
}
