/**
 * In ms. Ctrl-C in a terminal reaches every process of the group, and npm also passes its signals
 * on to its child. The child then gets one signal twice, so two signals within this time count as
 * one.
 */
const SAME_WISH_MS = 250

/**
 * Calls `first` at the first SIGINT, SIGTERM or SIGHUP, and `again` at every later one. `again`
 * should end the process at once. SIGHUP means a closed terminal. It ends Node even under `nohup`.
 */
export function onStopSignal(
  first: (signal: NodeJS.Signals) => void,
  again: (signal: NodeJS.Signals) => void,
): void {
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

const LOOK_MS = 500

/**
 * Calls `then` when the parent process is gone. Otherwise the processes of a killed `npm start`,
 * `npm run servers` or `npm run api` would go on unseen. Does nothing for a process that was
 * started by hand, because the user of `node scripts/servers.ts &` may close the shell.
 *
 * `scripts/bootstrap.mjs` passes its own id in PERSCOPE_BOOTSTRAP. This process does not pass the
 * variable on to its children.
 */
export function whenParentIsGone(then: () => void): void {
  const bootstrap = process.env.PERSCOPE_BOOTSTRAP
  delete process.env.PERSCOPE_BOOTSTRAP
  if (bootstrap === undefined && process.env.npm_lifecycle_event === undefined) return
  const parent = bootstrap === undefined ? process.ppid : Number(bootstrap)
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    then()
  }, LOOK_MS)
  timer.unref()
}
