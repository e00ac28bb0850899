import { setImmediate } from 'node:timers/promises'

/** ms after which work on the event loop lets others run. */
const SLICE = 3
/** The same where one client can have such work begun again and again. */
export const SHORT_SLICE = 1

/** Lets others run, when this work has held the event loop for long enough. */
export interface EventLoopPace {
  isDue(): boolean
  rest(): Promise<void>
}

export function createPace(slice = SLICE): EventLoopPace {
  let start = performance.now()
  return {
    isDue: () => performance.now() - start > slice,
    async rest() {
      await setImmediate()
      start = performance.now()
    },
  }
}
