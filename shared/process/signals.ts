/**
 * ms. Ctrl-C in a terminal reaches every process of the group, and npm passes its signals on to its
 * child. The child then gets one signal twice, so two signals within this time count as one.
 */
const SAME_WISH_MS = 250

/**
 * Calls `first` at the first SIGINT, SIGTERM or SIGHUP (a closed terminal; Node ends at it even
 * under `nohup`), and `again` at every later one, to end at once.
 */
export function onStopSignal(first: (signal: NodeJS.Signals) => void, again: (signal: NodeJS.Signals) => void): void {
  let last: number | undefined
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      const before = last
      last = performance.now()
      if (before === undefined) first(signal)
      else if (last - before > SAME_WISH_MS) again(signal)
    })
  }
}
