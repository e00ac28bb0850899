import { readdirSync, readFileSync } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pool } from '../../../shared/postgres/pool.ts'

const MB = 1e6

/**
 * ms of processor time of some processes, of all their threads. Linux counts it in ns
 * (`proc_pid_schedstat(5)`); a thread that has ended is not counted any more.
 */
export function processorMs(pids: readonly number[]): number {
  let ns = 0
  for (const pid of pids) {
    for (const thread of listed(`/proc/${pid}/task`)) {
      ns += Number(read(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[0] ?? 0)
    }
  }
  return ns / 1e6
}

/** MB of memory of some processes, shared parts once. Pages of mapped files are not counted. */
export function memoryMb(pids: readonly number[]): number {
  let kb = 0
  for (const pid of pids) {
    const text = read(`/proc/${pid}/smaps_rollup`)
    for (const [, value] of text.matchAll(/^Pss_(?:Anon|Shmem): +(\d+) kB$/gm)) kb += Number(value)
  }
  return (kb * 1024) / MB
}

/** A process that has just ended has nothing to read. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** MB of all files below a folder. */
export async function diskMb(folder: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(folder, { recursive: true })) {
    const { size } = await lstat(join(folder, entry)).catch(() => ({ size: 0 }))
    bytes += size
  }
  return bytes / MB
}

/**
 * The processes of Postgres that serve the connections of a name (`createPool`) to a database of
 * the pool's.
 */
export async function backendsOf(pool: Pool, name: string): Promise<number[]> {
  const { rows } = await pool.query<{ pid: number }>(
    'select pid from pg_stat_activity where datname = current_database() and application_name = $1',
    [`perscope ${name}`],
  )
  return rows.map(row => row.pid)
}

/** MB of a whole Postgres: the server and all processes that it has started. */
export async function postgresMemoryMb(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ pid: number }>('select pid from pg_stat_activity')
  const parent = Number(/^PPid:\s+(\d+)$/m.exec(read(`/proc/${rows[0]?.pid}/status`))?.[1])
  return memoryMb([parent, ...rows.map(row => row.pid)])
}
