import { setImmediate } from 'node:timers/promises'

/*
 * Cuts long work into small steps: a pace frees the event loop between steps, a brake frees the
 * processor for other threads.
 */

/** ms for which work may hold the event loop before it rests. */
const TURN = 3
/** The same limit for work that one client can start again and again. */
export const SHORT_TURN = 1

/** Tells when work has held the event loop long enough, and lets other work run. */
export interface Pace {
  /** Whether the work should rest now, or end because nobody waits for it. */
  isDue(): boolean
  /** @throws when the work should end */
  rest(): Promise<void>
  /**
   * Called with the price of a search before its work begins (`execute/plan.ts`); absent: nobody
   * asks for prices. Throws when the work should not begin.
   */
  pay?(price: number): Promise<void>
}

/** @param turn ms between two rests */
export function createPace(turn: number = TURN): Pace {
  let start = performance.now()
  return {
    isDue: () => performance.now() - start > turn,
    async rest() {
      await setImmediate() // lets other work run
      start = performance.now()
    },
  }
}

/** Works on one value after the other, with its place, and rests between them. */
export async function eachIn<A, T>(
  pace: Pace,
  all: readonly A[],
  work: (one: A, at: number) => T,
): Promise<T[]> {
  const done: T[] = []
  for (const one of all) {
    done.push(work(one, done.length))
    if (pace.isDue()) await pace.rest()
  }
  return done
}

/** Called between small pieces of work. It may make the thread rest. */
export type Brake = () => void

export const noBrake: Brake = () => {}

/** ms of work between two rests of a thread. */
const WORK = 2

/**
 * Lets a thread work only for a part of the time, in short turns. Other threads on the same cores
 * are then a little slower all the time, and never much slower. The thread is blocked while it
 * rests, so no other work may wait for this thread.
 *
 * @param part of the time to work, above 0 and at most 1
 */
export function createBrake(part: number): Brake {
  const never = new Int32Array(new SharedArrayBuffer(4))
  let start = performance.now()
  return () => {
    const worked = performance.now() - start
    if (worked < WORK) return
    // A wait for the database counts as work here. The bound keeps the rest short after a long
    // wait.
    Atomics.wait(never, 0, 0, Math.min(worked, 10 * WORK) * (1 / part - 1))
    start = performance.now()
  }
}
