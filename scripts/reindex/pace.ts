import { setTimeout as pause } from 'node:timers/promises'

/** Holds long work to a number of articles a second. */
export type Pace = (articles: number) => Promise<void>

/** @param rate articles a second; null: as fast as it goes */
export function createPace(rate: number | null, signal: AbortSignal): Pace {
  let due = performance.now()
  return async articles => {
    if (rate === null) return
    // Time lost to slow work is not made up for.
    due = Math.max(due, performance.now() - 1_000) + (articles * 1_000) / rate
    const wait = due - performance.now()
    if (wait > 0) await pause(wait, undefined, { signal }).catch(() => {})
  }
}
