import { spawn } from 'node:child_process'
import type { Owner } from '../owner.ts'
import type { Family } from './family.ts'
import { signalGroup } from './processes.ts'

/**
 * A child of the tool's that outlives it may hold its streams open: what the tool wrote is there by
 * then.
 */
const LATE_OUTPUT_MS = 1_000

/**
 * What a tool that runs to its end left: its exit code (null: ended by a signal) and the end of
 * what it wrote.
 */
export interface ToolResult {
  code: number | null
  output: string
  timedOut: boolean
}

/**
 * Runs a tool (initdb, pip) to its end, with all that it starts, under the family's watch.
 * @param options.within ms after which it is ended
 * @throws when it cannot be started, or the reason of `options.signal`
 */
export async function runTool(
  command: string,
  args: readonly string[],
  options: {
    family: Family
    signal: AbortSignal
    within: number
    cwd: string
    /** Characters of its output that are kept. */
    keep?: number
    owner?: Owner | null
    env?: NodeJS.ProcessEnv
    /** As a program's: the lock of what it works on. */
    lock?: number
  },
): Promise<ToolResult> {
  const { family, signal, owner } = options
  signal.throwIfAborted()
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: ['ignore', 'pipe', 'pipe', ...(options.lock === undefined ? [] : [options.lock])],
    detached: true,
    ...(owner && { uid: owner.uid, gid: owner.gid }),
  })
  const { pid } = child
  if (pid) family.adopt(pid, 'SIGTERM')
  const end = () => pid && signalGroup(pid, 'SIGKILL')
  let timedOut = false
  const timer = setTimeout(() => {
    timedOut = true
    end()
  }, options.within)
  signal.addEventListener('abort', end, { once: true })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-(options.keep ?? 65_536))
    })
  }
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', resolve)
      child.once('exit', code => setTimeout(resolve, LATE_OUTPUT_MS, code))
    })
    signal.throwIfAborted()
    return { code, output, timedOut }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
    // What it started and left behind goes with it.
    end()
    child.stdout?.destroy()
    child.stderr?.destroy()
    if (pid) family.release(pid)
  }
}
