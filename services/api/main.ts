import { availableParallelism, totalmem } from 'node:os'
import { processNumber } from '#shared/process/node'
import { startService } from '#shared/process/start-service'

/**
 * The most processes, unless WEB_CONCURRENCY sets more. Each process has its own connections to
 * Postgres.
 */
const MOST_BY_ITSELF = 8
/** Bytes of the machine for each process. Half of them hold what searches need. */
const MEMORY_OF_EACH = 1 << 30

await startService('api', async config => {
  const processes = numberOfProcesses(config.WEB_CONCURRENCY)
  // The primary answers no requests, so it does not load the modules of searches.
  if (processes > 1 && processNumber() === null) {
    const { startPrimary } = await import('./primary.ts')
    return context => startPrimary(context, processes)
  }
  const { serve } = await import('./serve.ts')
  return context => serve(context, processes)
})

/** WEB_CONCURRENCY, or for 0 the number of processes that fit this machine or container. */
function numberOfProcesses(setting: number): number {
  if (setting !== 0) return setting
  const limit = process.constrainedMemory()
  const memory = limit > 0 ? Math.min(limit, totalmem()) : totalmem()
  return Math.max(
    1,
    Math.min(availableParallelism(), MOST_BY_ITSELF, Math.floor(memory / MEMORY_OF_EACH)),
  )
}
