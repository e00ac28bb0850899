import { type ChildProcess, spawn } from 'node:child_process'

const SCRIPT = new URL('./writer.ts', import.meta.url).pathname

export interface Writers {
  /** Resolves when all have ended by themselves or were killed. */
  done: Promise<void>
  /** Kills one in the middle of what it does, and starts another in its place. */
  killOne(): void
}

/**
 * Starts processes that index for some ms.
 *
 * @param importing every so manyth is an import
 */
export function startWriters(
  url: string,
  count: number,
  duration: number,
  importing: number = Infinity,
): Writers {
  let seed = 0
  let open = 0
  let finish = () => {}
  const done = new Promise<void>(resolve => {
    finish = resolve
  })
  const end = Date.now() + duration
  const running: ChildProcess[] = []
  const start = () => {
    seed++
    const args = [
      SCRIPT,
      url,
      String(seed),
      String(Math.max(0, end - Date.now())),
      seed % importing === 0 ? 'import' : '',
    ]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
    open++
    running.push(child)
    child.on('exit', () => {
      running.splice(running.indexOf(child), 1)
      if (--open === 0) finish()
    })
  }
  for (let number = 0; number < count; number++) start()
  return {
    done,
    killOne() {
      const victim = running[0]
      if (victim === undefined) return
      start()
      victim.kill('SIGKILL')
    },
  }
}
