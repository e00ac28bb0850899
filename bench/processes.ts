import { readdirSync, readFileSync } from 'node:fs'

/** ms of a clock tick in `/proc/PID/stat`. It is the same on every Linux. */
const TICK = 10

/** A process as `/proc` describes it. */
export interface Process {
  pid: number
  parent: number
  command: string
  /** The processor time that it has used. */
  ms: number
}

/**
 * The processes with the given ids; by default, all processes of this machine.
 */
export function processes(
  pids: number[] = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number),
): Process[] {
  return pids.flatMap(pid => {
    const command = read(pid, 'cmdline').replaceAll('\0', ' ')
    const stat = read(pid, 'stat')
    if (stat === '') return []
    // The name comes before these fields and may contain spaces. These are fields 4, 14 and 15 of
    // proc(5).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return [
      {
        pid,
        parent: Number(fields[1]),
        command,
        ms: (Number(fields[11]) + Number(fields[12])) * TICK,
      },
    ]
  })
}

/**
 * MB of memory of some processes. Memory that they share counts once. Pages of mapped files do not
 * count.
 */
export function memoryMb(pids: number[]): number {
  const parts = pids.flatMap(pid => [
    ...read(pid, 'smaps_rollup').matchAll(/^Pss_(?:Anon|Shmem): +(\d+) kB$/gm),
  ])
  return parts.reduce((sum, [, kb]) => sum + Number(kb), 0) / 1_000
}

/** A file of a process in `/proc`. It is empty when the process has ended. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
