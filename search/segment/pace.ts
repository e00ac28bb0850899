/** Called between small pieces of work; may make the thread rest. */
export type Pace = () => void

export const immediately: Pace = () => {}

/** ms of work between two rests. */
const WORK = 2

/**
 * Lets a thread work for a part of the time only, in short turns. Other threads on the same cores
 * are then a little slower all the time, instead of much slower until the work is done. The thread
 * is blocked while it rests, so nothing else may wait for it.
 *
 * @param part of the time to work, above 0 and at most 1
 */
export function createPace(part: number): Pace {
  const never = new Int32Array(new SharedArrayBuffer(4))
  let start = performance.now()
  return () => {
    const worked = performance.now() - start
    if (worked < WORK) return
    // A wait for the database counts as work, but must not lead to an endless rest.
    Atomics.wait(never, 0, 0, Math.min(worked, 10 * WORK) * (1 / part - 1))
    start = performance.now()
  }
}
