import { availableParallelism, totalmem } from 'node:os'

/** Each process holds connections to Postgres of its own. */
const MOST_BY_ITSELF = 8
/** Bytes of the machine for each process: half of them for what it searches by. */
const MEMORY_OF_EACH = 1 << 30

/** WEB_CONCURRENCY, where 0 stands for what this machine or container has room for. */
export function numberOfProcesses(setting: number): number {
  if (setting !== 0) return setting
  const limit = process.constrainedMemory()
  const memory = limit > 0 ? Math.min(limit, totalmem()) : totalmem()
  return Math.max(1, Math.min(availableParallelism(), MOST_BY_ITSELF, Math.floor(memory / MEMORY_OF_EACH)))
}
