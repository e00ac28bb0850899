import { spawn } from 'node:child_process'
import type { Owner } from '#infra/embedded/accounts'
import type { Family } from './family.ts'
import { signalGroup } from './processes.ts'

/**
 * ms that this waits for output after the tool's end. A process that the tool started may keep its
 * streams open for ever.
 */
const LATE_OUTPUT_MS = 1_000

export interface ToolResult {
  code: number | null
  output: string
  timedOut: boolean
}

/**
 * Runs a tool, such as initdb or pip, to its end. While it runs, it belongs to the family. When the
 * tool ends, all processes that it has started are ended, too.
 *
 * @param options.within ms after which the tool is ended
 * @returns its exit code (null: a signal ended it), and the end of its output
 * @throws when it cannot be started, or the reason of `options.signal`
 */
export async function runTool(
  command: string,
  args: readonly string[],
  options: {
    family: Pick<Family, 'adopt' | 'release'>
    signal: AbortSignal
    within: number
    cwd: string
    /** How many characters of the tool's output are kept at most. */
    keep?: number
    owner?: Owner | null
    env?: NodeJS.ProcessEnv
    /** The open lock file of the tool's data; see `Program.lock`. */
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
      child.on('error', reject)
      child.once('close', resolve)
      child.once('exit', code => setTimeout(resolve, LATE_OUTPUT_MS, code))
    })
    signal.throwIfAborted()
    return { code, output, timedOut }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
    // Ends processes that the tool has left running.
    end()
    child.stdout?.destroy()
    child.stderr?.destroy()
    if (pid) family.release(pid)
  }
}
