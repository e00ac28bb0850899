import { availableParallelism, totalmem } from 'node:os'
import { processNumber } from '../../shared/process/node.ts'
import { startService } from '../../shared/process/start-service.ts'

/** Most processes, unless WEB_CONCURRENCY sets more: each holds its own connections to Postgres. */
const MOST_BY_ITSELF = 8
/** Bytes of the machine for each process: half of them for what it searches by. */
const MEMORY_OF_EACH = 1 << 30

await startService('api', async config => {
  const processes = numberOfProcesses(config.WEB_CONCURRENCY)
  // The primary serves nothing itself, so it does not load what searches need.
  if (processes > 1 && processNumber() === null) {
    const { startPrimary } = await import('./primary.ts')
    return context => startPrimary(context, processes)
  }
  const { serve } = await import('./serve.ts')
  return context => serve(context, processes)
})

/** WEB_CONCURRENCY, where 0 stands for what this machine or container has room for. */
function numberOfProcesses(setting: number): number {
  if (setting !== 0) return setting
  const limit = process.constrainedMemory()
  const memory = limit > 0 ? Math.min(limit, totalmem()) : totalmem()
  return Math.max(1, Math.min(availableParallelism(), MOST_BY_ITSELF, Math.floor(memory / MEMORY_OF_EACH)))
}
