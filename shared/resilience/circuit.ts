import { describe } from '../log/printable.ts'
export interface Obstacle {
  reason: string
  /** ms after which a caller may ask again. */
  wait: number
}

export class CircuitOpen extends Error {
  override name = 'CircuitOpen'
}

/** How many failures in a row open the circuit, so that calls are refused. */
const FAILURES = 3
/** ms of the first pause, doubled with every trial that fails. */
const PAUSE = 500
/** ms. No pause is longer, so that recovery is noticed within this time. */
const LONGEST_PAUSE = 3_000

interface CircuitState {
  failuresInARow: number
  nextPause: number
  openUntil: number
  /** A caller tries at present whether the service is back. */
  trying: boolean
  reason: string
}

/**
 * A circuit breaker: it refuses calls for a while to a service that failed several times in a row.
 * `cockatiel` makes callers wait for a trial that hangs, 1.1 s where ours fails at once, and does
 * not tell when it tries again (`docs/experiments/README.md`).
 *
 * @param name of the service, for the sentence of `CircuitOpen`
 * @param counts which failures count: not those of a bad request or of a caller who left
 */
export function createCircuit(name: string, counts: (error: unknown) => boolean) {
  const state: CircuitState = { failuresInARow: 0, nextPause: PAUSE, openUntil: 0, trying: false, reason: '' }
  return {
    /** Why calls are refused, and for how many more ms; null: they are not. */
    obstacle: () => obstacleOf(state),
    /**
     * Runs `work`, or throws `CircuitOpen` at once. After a pause one caller at a time tries again;
     * its success closes the circuit for all.
     */
    async run<T>(work: () => Promise<T>): Promise<T> {
      const blocked = obstacleOf(state)
      if (blocked) throw new CircuitOpen(`${name} failed a moment ago (${blocked.reason}); it is tried again soon.`)
      const isTrial = state.failuresInARow >= FAILURES
      if (isTrial) state.trying = true
      try {
        const result = await work()
        close(state)
        return result
      } catch (error) {
        if (counts(error)) countFailure(state, error, isTrial)
        // The service answered the trial, if only to refuse this request.
        else if (isTrial) close(state)
        throw error
      } finally {
        if (isTrial) state.trying = false
      }
    },
  }
}

/** How long a caller waits before it asks again while another caller's trial runs, in ms. */
const TRIAL_WAIT = 100

function obstacleOf({ failuresInARow, openUntil, trying, reason }: CircuitState): Obstacle | null {
  if (failuresInARow < FAILURES) return null
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
  if (state.failuresInARow < FAILURES) return
  state.openUntil = Date.now() + state.nextPause
  if (isTrial) state.nextPause = Math.min(state.nextPause * 2, LONGEST_PAUSE)
}
