import { type ChildProcess, spawn } from 'node:child_process'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { readRecord } from '#infra/embedded/files'
import { idSpace, kill, postgresIn, startTime } from './processes.ts'

const WATCHDOG = fileURLToPath(new URL('watchdog.ts', import.meta.url))

/**
 * The processes that must not outlive this process. If they do, the watchdog ends them, or the next
 * owner of `DATA_DIR`.
 */
export interface Family {
  adopt(pid: number, gentle: 'SIGTERM' | 'SIGQUIT'): void
  release(pid: number): void
  /** Adds the Postgres processes of the cluster in `folder`. */
  sweep(folder: string): void
  /** Ends the watchdog, after all children have ended. */
  disband(): void
}

/**
 * Ends the processes that a killed earlier start in `dataDir` left, then starts the watchdog. The
 * caller must hold the lock of `dataDir`.
 */
export async function createFamily(dataDir: string): Promise<Family> {
  const file = join(dataDir, 'processes.json')
  await endLeftovers(file)
  const members = new Map<number, 'SIGTERM' | 'SIGQUIT'>()
  const folders: string[] = []
  let disbanded = false
  let watchdog = start()

  function start(): ChildProcess {
    // The folder is an argument only for people who read the list of processes.
    const child = spawn(process.execPath, [WATCHDOG, dataDir], {
      cwd: '/',
      env: {},
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    child.unref()
    child.stdin.on('error', () => {})
    child.on('error', () => {})
    child.once('exit', () => {
      // Somebody has killed the watchdog. Without it the children could outlive us.
      if (!disbanded) setTimeout(() => (disbanded ? undefined : restart()), 500).unref()
    })
    return child
  }
  function restart(): void {
    watchdog = start()
    for (const folder of folders) tell(`sweep ${folder}`)
    for (const [pid, gentle] of members) tell(`+ ${pid} ${gentle}`)
    record()
  }
  const tell = (line: string) => watchdog.stdin?.write(`${line}\n`)
  const record = () => {
    const named = [...members.keys(), watchdog.pid ?? 0].map(pid => [pid, startTime(pid)])
    const text = JSON.stringify({
      ids: idSpace(),
      processes: Object.fromEntries(named),
      folders,
    })
    try {
      writeFileSync(`${file}.new`, text, { mode: 0o600 })
      renameSync(`${file}.new`, file)
    } catch {
      // The disk is full. The watchdog still knows the processes.
    }
  }
  record()

  return {
    adopt(pid: number, gentle: 'SIGTERM' | 'SIGQUIT') {
      members.set(pid, gentle)
      tell(`+ ${pid} ${gentle}`)
      record()
    },
    release(pid: number) {
      members.delete(pid)
      tell(`- ${pid}`)
      record()
    },
    sweep(folder: string) {
      folders.push(folder)
      tell(`sweep ${folder}`)
      record()
    },
    disband() {
      disbanded = true
      tell('end')
      watchdog.stdin?.end()
    },
  }
}

/**
 * Ends the processes of an earlier run that was killed. Its watchdog may also have been killed, or
 * may still be ending them.
 */
async function endLeftovers(file: string): Promise<void> {
  const { ids, processes, folders } = await readRecord(file)
  // After a restart of the machine, or in another container, the same ids belong to other
  // processes.
  const began =
    ids === idSpace() && typeof processes === 'object' && processes !== null
      ? Object.entries(processes)
      : []
  const alive = () =>
    began
      .map(([pid, time]) => (time !== null && startTime(Number(pid)) === time ? Number(pid) : 0))
      .filter(Boolean)
  const places = Array.isArray(folders) ? folders.filter(folder => typeof folder === 'string') : []
  for (let waited = 0; waited < 10_000; waited += 50) {
    const left = [...alive(), ...places.flatMap(postgresIn)]
    if (left.length === 0) return
    for (const pid of left) kill(pid)
    await pause(50)
  }
}
