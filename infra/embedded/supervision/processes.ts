import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Sends `signal` to the process group that `pid` leads. False: no such group exists. */
export function signalGroup(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-pid, signal)
    return true
  } catch {
    return false
  }
}

/** Kills one process, and its group if it leads one. */
export function kill(pid: number): void {
  if (signalGroup(pid, 'SIGKILL')) return
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has ended by itself.
  }
}

/**
 * The time at which a process began, in clock ticks since the machine's start. Together with its id
 * it identifies one process for ever. Null when the process does not exist, or is a zombie.
 */
export function startTime(pid: number): string | null {
  try {
    // The command's name is in brackets, and may itself contain spaces and brackets (proc(5)).
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')
    return fields?.[0] === 'Z' ? null : (fields?.[19] ?? null)
  } catch {
    return null
  }
}

/** Whether the process that leads the group `pid` is running. A zombie does not count. */
export const isRunning = (pid: number): boolean => startTime(pid) !== null

/**
 * Where our process ids hold: an id of this start of the machine, and one of their namespace, which
 * is different in every container. Empty on systems without /proc.
 */
export function idSpace(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return ''
  }
}

/**
 * The Postgres processes of the cluster in `folder`, which is their working directory. Their name
 * is also checked, because a shell may have the same working directory.
 */
export const postgresIn = (folder: string): number[] =>
  readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && isPostgresIn(name, folder))
    .map(Number)

function isPostgresIn(pid: string, folder: string): boolean {
  try {
    return (
      readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'postgres' &&
      readlinkSync(`/proc/${pid}/cwd`) === folder
    )
  } catch {
    return false
  }
}
