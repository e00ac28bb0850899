import { createInterface } from 'node:readline'
import { isRunning, kill, postgresIn, signalGroup } from './processes.ts'

/**
 * The watchdog is a process in a session of its own. So it survives a SIGKILL of the supervisor and
 * of its process group. When its standard input ends, the supervisor has ended, and the watchdog
 * ends the supervisor's children.
 *
 * Lines on standard input:
 * - `+ PID SIGNAL`: a child was started; SIGNAL ends it.
 * - `- PID`: the child has ended.
 * - `sweep FOLDER`: the Postgres processes of FOLDER are also children. Each backend has a session
 *   of its own.
 * - `end`: all children have ended, and the watchdog ends, too.
 */
const GENTLE_MS = 3_000
const PATIENCE_MS = 8_000

const children = new Map<number, NodeJS.Signals>()
const folders: string[] = []

// Only the end of the supervisor counts. A signal to the whole session is ignored.
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
    // A process that a child has started may have survived the child.
    for (const pid of children.keys()) signalGroup(pid, 'SIGKILL')
    for (const pid of strays) kill(pid)
    if (allGone || waited > PATIENCE_MS) process.exit(0)
  }, 50)
}
