import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import type { Family } from './family.ts'
import { logSize, openLog, readLog } from './logs.ts'
import type { Program } from './program.ts'

/** One process of a program. */
export interface Launched {
  child: ChildProcess
  /** Resolves with how the process ended, as it stands in sentences: "ended with code 1". */
  ended: Promise<string>
  /** Aborted when the process has ended. */
  gone: AbortSignal
  /** The text that it has written to the log. */
  written(): string
}

/**
 * Starts a process of a program, as a member of the family.
 * @param background the process does not keep ours alive
 */
export function launch(program: Program, family: Family, background: boolean): Launched {
  const start = logSize(program.log)
  const child = spawnLogged(program)
  if (background) child.unref()
  const { pid } = child
  if (pid) family.adopt(pid, program.gentle)
  const gone = new AbortController()
  const ended = new Promise<string>(resolve => {
    const end = (how: string) => {
      gone.abort()
      if (pid) family.release(pid)
      resolve(how)
    }
    child.once('error', error => end(error.message))
    child.once('exit', (code, signal) => end(signal ? `ended by ${signal}` : `ended with code ${code}`))
  })
  return { child, ended, gone: gone.signal, written: () => readLog(program.log, start) }
}

function spawnLogged({ command, args, cwd, env, owner, lock, log }: Program): ChildProcess {
  const output = openLog(log)
  const child = spawn(command, args, {
    cwd,
    env,
    stdio: ['ignore', output, output, ...(lock === undefined ? [] : [lock])],
    // A session of its own: Ctrl-C in a terminal then reaches only us, and we end the programs in
    // their order.
    detached: true,
    ...(owner && { uid: owner.uid, gid: owner.gid }),
  })
  closeSync(output)
  return child
}
