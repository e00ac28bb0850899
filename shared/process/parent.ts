const LOOK_MS = 500

/**
 * Calls `then` when the parent process is gone: the processes of a killed `npm start`,
 * `npm run servers` or `npm run api` must not go on unseen. Does nothing for a process that was
 * started by hand, because the user of `node scripts/servers.ts &` may close the shell.
 *
 * `scripts/bootstrap.mjs` passes its own id in PERSCOPE_BOOTSTRAP, which its children do not pass
 * on.
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
