import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { heard } from '#test/fleet'

const SCRIPT = fileURLToPath(new URL('../../scripts/start.mjs', import.meta.url))

export interface RunningStart {
  pid: number
  printed(): string
  said(): string
  words(): string
  ended: Promise<number | null>
}

/** `npm start` with servers of its own, whatever the test run has. */
export function start(t: Test, env: Record<string, string>): RunningStart {
  const child = spawn(process.execPath, [SCRIPT], {
    env: {
      ...process.env,
      DATABASE_URL: '',
      QDRANT_URL: '',
      EMBEDDINGS_URL: '',
      REDIS_URL: '',
      OUTLETS: '',
      EMBED_DELAY: '',
      ...env,
    },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const printed = heard(child.stdout)
  const said = heard(child.stderr)
  const ended = new Promise<number | null>(resolve => child.once('close', resolve))
  // What a failed test leaves; the watchdog ends the rest.
  t.teardown(
    () =>
      child.exitCode === null &&
      child.signalCode === null &&
      process.kill(-(child.pid ?? 0), 'SIGKILL'),
  )
  return { pid: child.pid ?? 0, printed, said, words: () => `${printed()}\n${said()}`, ended }
}
