import { processNumber } from '../../shared/process/number.ts'
import { startService } from '../../shared/process/start-service.ts'
import { numberOfProcesses } from './processes/number.ts'

await startService('api', async config => {
  const processes = numberOfProcesses(config.WEB_CONCURRENCY)
  // The primary serves nothing itself, so it does not load what searches need.
  if (processes > 1 && processNumber() === null) {
    const { startPrimary } = await import('./processes/primary.ts')
    return context => startPrimary(context, processes)
  }
  const { serve } = await import('./serve.ts')
  return context => serve(context, processes)
})
