/** Called between small pieces of work; may make the thread rest. */
export type Pace = () => void

export const atOnce: Pace = () => {}

/** ms of work between two rests. */
const PIECE = 2

/**
 * Lets a thread work for a part of the time only, evenly: what shares the cores with it then is a little slower all the time rather
 * than much slower for as long as the work takes. Blocks the thread while it rests, so it is not for one that others wait for.
 *
 * @param part of the time to work, above 0 and at most 1
 */
export function createPace(part: number): Pace {
  const never = new Int32Array(new SharedArrayBuffer(4))
  let start = performance.now()
  return () => {
    const worked = performance.now() - start
    if (worked < PIECE) return
    // What came between, such as waiting for the database, does not make for an endless rest.
    Atomics.wait(never, 0, 0, Math.min(worked, 10 * PIECE) * (1 / part - 1))
    start = performance.now()
  }
}
