import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import type { Family } from '../../../infra/embedded/supervision/family.ts'

/** The surroundings of every program of a peer. */
export interface Running {
  family: Family
  signal: AbortSignal
  /** Told, in a sentence, what is left out. */
  report: (sentence: string) => void
}

/** A program that reads lines and answers with lines of JSON. */
export interface LineProgram {
  /** Waits while the program has unread input. */
  write(line: string): Promise<void>
  /** The next line of the program's output. */
  line<Answer>(): Promise<Answer>
  end(): void
  ended: Promise<unknown>
}

/**
 * @param name in the sentence that says that it ended
 */
export function startLines(
  name: string,
  command: string,
  args: string[],
  { family, signal }: Pick<Running, 'family' | 'signal'>,
): LineProgram {
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true, // Ctrl-C reaches only this process
  })
  const { pid } = child
  if (pid !== undefined) family.adopt(pid, 'SIGTERM')
  const kill = () => void child.kill('SIGKILL')
  signal.addEventListener('abort', kill, { once: true })
  const ended = new Promise<void>(resolve => {
    child.once('close', () => {
      if (pid !== undefined) family.release(pid)
      signal.removeEventListener('abort', kill)
      resolve()
    })
    child.once('error', () => resolve())
  })
  child.stdin.on('error', () => {}) // the missing answer reports it
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    async write(line) {
      if (child.stdin.write(`${line}\n`)) return
      await Promise.race([once(child.stdin, 'drain'), ended])
    },
    async line() {
      const { value, done } = await lines.next()
      signal.throwIfAborted()
      if (done === true) throw new Error(`${name} ended; see what it wrote above.`)
      return JSON.parse(value)
    },
    end: () => void child.stdin.end(),
    ended,
  }
}
