import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Sends `signal` to the process group that `pid` leads; whether there was one. */
export function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal)
    return true
  } catch {
    return false
  }
}

/** Ends one process and, where it leads one, its group, at once. */
export function kill(pid: number): void {
  if (signalGroup(pid, 'SIGKILL')) return
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It went by itself.
  }
}

/**
 * When a process began, in clock ticks since the machine's start: together with the id it names one
 * process for good. Null when there is none, or on systems without /proc.
 */
export function startTime(pid: number): string | null {
  try {
    // The command's name stands in brackets and may itself hold spaces and brackets (proc(5)).
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')
    return fields?.[0] === 'Z' ? null : (fields?.[19] ?? null)
  } catch {
    return null
  }
}

/**
 * Whether the process that leads the group `pid` is still at work: one that only waits to be reaped
 * is not.
 */
export function isRunning(pid: number): boolean {
  return process.platform === 'linux' ? startTime(pid) !== null : signalGroup(pid, 0)
}

/** Changes with every start of the machine; empty on systems without /proc. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return ''
  }
}

/**
 * Names the set of processes that our ids count in: every container has its own. Empty on systems
 * without /proc.
 */
export function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}

/**
 * Postgres processes whose working directory is `folder`, which every process of a cluster's is.
 * The name counts too: somebody's shell may stand in that folder.
 */
export function postgresIn(folder: string): number[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && isPostgresIn(name, folder))
    .map(Number)
}

function isPostgresIn(pid: string, folder: string): boolean {
  try {
    return (
      readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'postgres' && readlinkSync(`/proc/${pid}/cwd`) === folder
    )
  } catch {
    return false
  }
}
