import { setImmediate } from 'node:timers/promises'

/** ms after which work on the event loop lets others run. */
const SLICE = 3

/** Lets others run, when this work has held the event loop for long enough. */
export interface EventLoopPace {
  isDue(): boolean
  rest(): Promise<void>
}

export function createPace(): EventLoopPace {
  let start = performance.now()
  return {
    isDue: () => performance.now() - start > SLICE,
    async rest() {
      await setImmediate()
      start = performance.now()
    },
  }
}
