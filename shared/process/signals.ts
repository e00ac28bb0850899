/**
 * Ctrl-C in a terminal reaches every process of the group, and npm passes on to its child what it
 * receives itself: the child gets one wish twice. Two signals within this time are one.
 */
const SAME_WISH_MS = 250

/**
 * Calls `first` at the first SIGINT, SIGTERM or SIGHUP (a closed terminal; Node ends at it even
 * under `nohup`), and `again` at every later one: whoever asks twice does not want to wait.
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
