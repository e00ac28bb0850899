/**
 * A circuit breaker: a service that failed again and again is not asked for a while. `cockatiel`
 * makes callers wait for a trial that hangs, 1.1 s where ours fails at once, and does not tell when
 * it tries again (`docs/experiments/2026-11-22-libraries.md`).
 */
export interface Circuit {
  /**
   * Runs `work`, or throws `CircuitOpen` at once. After a pause one caller at a time tries again;
   * its success closes the circuit for all.
   */
  run<T>(work: () => Promise<T>): Promise<T>
  /** Why nobody may pass, and for how many more ms; null: the way is free. */
  obstacle(): { reason: string; wait: number } | null
}

export class CircuitOpen extends Error {
  override name = 'CircuitOpen'
}

export interface CircuitOptions {
  /** Failures in a row that open it. */
  failures?: number
  /** ms of the first pause, doubled with every trial that fails. */
  pause?: number
  /** ms of the longest pause: recovery is noticed within it. */
  maxPause?: number
  /** Which failures count: not those of a bad request or of a caller who left. */
  counts?: (error: unknown) => boolean
}

/** @param name what the sentence of `CircuitOpen` calls the service */
export function createCircuit(name: string, options: CircuitOptions = {}): Circuit {
  const { failures: limit = 3, pause: firstPause = 500, maxPause = 3_000, counts = () => true } = options
  let failures = 0
  let pause = firstPause
  let openUntil = 0
  let trying = false
  let reason = ''

  function obstacle(): { reason: string; wait: number } | null {
    if (failures < limit) return null
    const wait = openUntil - Date.now()
    if (wait > 0) return { reason, wait }
    return trying ? { reason, wait: 100 } : null
  }

  return {
    obstacle,
    async run(work) {
      const blocked = obstacle()
      if (blocked) throw new CircuitOpen(`${name} failed a moment ago (${blocked.reason}); it is tried again soon.`)
      const isTrial = failures >= limit
      if (isTrial) trying = true
      try {
        const result = await work()
        failures = 0
        pause = firstPause
        return result
      } catch (error) {
        if (counts(error)) {
          failures++
          reason = error instanceof Error ? error.message : String(error)
          if (failures >= limit) {
            openUntil = Date.now() + pause
            if (isTrial) pause = Math.min(pause * 2, maxPause)
          }
        } else if (isTrial) {
          // It answered, if only to refuse.
          failures = 0
          pause = firstPause
        }
        throw error
      } finally {
        if (isTrial) trying = false
      }
    },
  }
}
