import { readdirSync, readFileSync } from 'node:fs'

/** Ticks of the clock in `/proc/PID/stat`, ms, on every Linux of today. */
const TICK = 10

/**
 * The processes of this machine; of some, when their ids are given. `ms`: processor time so far.
 */
export function processes(
  pids = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number),
) {
  return pids.flatMap(pid => {
    const command = read(pid, 'cmdline').replaceAll('\0', ' ')
    const stat = read(pid, 'stat')
    if (stat === '') return []
    // The name before may hold spaces. Fields 4, 14 and 15 of proc(5).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return [{ pid, parent: Number(fields[1]), command, ms: (Number(fields[11]) + Number(fields[12])) * TICK }]
  })
}

/** MB of memory of some processes, shared parts once. Pages of mapped files are not counted. */
export function memoryMb(pids: number[]): number {
  const parts = pids.flatMap(pid => [...read(pid, 'smaps_rollup').matchAll(/^Pss_(?:Anon|Shmem): +(\d+) kB$/gm)])
  return parts.reduce((sum, [, kb]) => sum + Number(kb), 0) / 1_000
}

/** Empty when the process has ended meanwhile. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
