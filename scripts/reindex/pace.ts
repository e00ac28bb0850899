import { setTimeout as pause } from 'node:timers/promises'

/** Limits long work to a number of articles a second. */
export type Pace = (articles: number) => Promise<void>

/** @param rate articles a second; null: no limit */
export function createPace(rate: number | null, signal: AbortSignal): Pace {
  let due = performance.now()
  return async articles => {
    if (rate === null) return
    // Slow work is not followed by a burst.
    due = Math.max(due, performance.now() - 1_000) + (articles * 1_000) / rate
    const wait = due - performance.now()
    if (wait > 0) await pause(wait, undefined, { signal }).catch(() => {})
  }
}
