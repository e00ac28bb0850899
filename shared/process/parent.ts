const LOOK_MS = 500

/**
 * Calls `then` when the process that started us is gone: what a killed `npm start`,
 * `npm run servers` or `npm run api` has started must not go on unseen. Does nothing when we were
 * started by hand: whoever puts `node scripts/servers.ts &` into the background of a shell may
 * close that shell.
 *
 * `scripts/bootstrap.mjs` tells its own id in PERSCOPE_BOOTSTRAP, which is not passed on.
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
