import { createInterface } from 'node:readline'
import { isRunning, kill, postgresIn, signalGroup } from './processes.ts'

/**
 * A process of its own, in a session of its own: outlives a SIGKILL of the supervisor and of its
 * process group, and ends the children that it was told of. The end of standard input is the sign
 * that the supervisor is gone.
 *
 * Lines on standard input: `+ PID SIGNAL` a child was started, and ends on SIGNAL; `- PID` it has
 * ended; `sweep FOLDER` the Postgres processes of FOLDER are ours too (backends, each in a session
 * of its own); `end` all is in order.
 */
const GENTLE_MS = 3_000
const PATIENCE_MS = 8_000

const children = new Map<number, NodeJS.Signals>()
const folders: string[] = []

// Only the supervisor's end counts, not what somebody sends to all.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

createInterface({ input: process.stdin })
  .on('line', line => {
    const [word, ...rest] = line.split(' ')
    const pid = Number(rest[0])
    if (word === '+') children.set(pid, rest[1] === 'SIGQUIT' ? 'SIGQUIT' : 'SIGTERM')
    else if (word === '-') children.delete(pid)
    else if (word === 'sweep') folders.push(rest.join(' '))
    else if (word === 'end') process.exit(0)
  })
  .on('close', endAll)

function endAll(): void {
  for (const [pid, signal] of children) signalGroup(pid, signal)
  const began = Date.now()
  setInterval(() => {
    const waited = Date.now() - began
    const strays = folders.flatMap(postgresIn)
    const allGone = strays.length === 0 && ![...children.keys()].some(isRunning)
    if (!allGone && waited < GENTLE_MS) return
    // What a child started may have outlived it.
    for (const pid of children.keys()) signalGroup(pid, 'SIGKILL')
    for (const pid of strays) kill(pid)
    if (allGone || waited > PATIENCE_MS) process.exit(0)
  }, 50)
}
