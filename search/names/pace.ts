import { setImmediate } from 'node:timers/promises'

/** ms after which the event loop runs others. */
const SLICE = 1

/**
 * Called often in long work: lets others run when the work has held the event loop for long enough.
 */
export function createPace(): () => Promise<void> {
  let start = performance.now()
  return async () => {
    if (performance.now() - start < SLICE) return
    await setImmediate()
    start = performance.now()
  }
}
