import { setImmediate } from 'node:timers/promises'

/*
 * Long work in small steps: a pace lets others have the event loop, a brake lets other threads have
 * the processor.
 */

/** ms after which work on the event loop lets others run. */
const TURN = 3
/** The same for work that one client can start again and again. */
export const SHORT_TURN = 1

/** Lets others run, when this work has held the event loop for long enough. */
export type Pace = ReturnType<typeof createPace>

/** @param turn ms between two rests */
export function createPace(turn = TURN) {
  let start = performance.now()
  return {
    isDue: () => performance.now() - start > turn,
    async rest() {
      await setImmediate()
      start = performance.now()
    },
  }
}

/** Called between small pieces of work; may make the thread rest. */
export type Brake = () => void

export const noBrake: Brake = () => {}

/** ms of work between two rests of a thread. */
const WORK = 2

/**
 * Lets a thread work for a part of the time only, in short turns. Other threads on the same cores
 * are then a little slower all the time, instead of much slower until the work is done. The thread
 * is blocked while it rests, so nothing else may wait for it.
 *
 * @param part of the time to work, above 0 and at most 1
 */
export function createBrake(part: number): Brake {
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
