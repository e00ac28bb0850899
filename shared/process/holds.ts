/** ms between two beats of the event loop. */
const BEAT = 50
/** Holds that are remembered. */
const MOST = 100

/** A stretch of time in which the event loop did not run, by `performance.now()`. */
interface Hold {
  from: number
  to: number
}

/** Knows when something held the event loop: long work, garbage collection, a busy machine. */
export interface Holds {
  /** ms for which the loop was held since then. Only holds of more than 50 ms are seen. */
  since(start: number): number
}

let watched: Holds | null = null

/**
 * Watches the event loop of this process. All callers share one watch. It does not keep the process
 * alive.
 */
export function watchHolds(): Holds {
  watched ??= startWatch()
  return watched
}

function startWatch(): Holds {
  const holds: Hold[] = []
  let last = performance.now()

  /** The hold that has just ended; none: the beat is in time. */
  const latest = (now: number): Hold[] => (now - last > 2 * BEAT ? [{ from: last + BEAT, to: now }] : [])
  setInterval(() => {
    const now = performance.now()
    holds.push(...latest(now))
    if (holds.length > MOST) holds.shift()
    last = now
  }, BEAT).unref()
  return {
    since(start) {
      // The work that is asked about may go on before the late beat does.
      const all = [...holds, ...latest(performance.now())]
      return all.reduce((sum, { from, to }) => sum + Math.max(0, to - Math.max(from, start)), 0)
    },
  }
}
