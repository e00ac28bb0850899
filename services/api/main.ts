import { processNumber } from '../../shared/process/number.ts'
import { runService } from '../../shared/process/service.ts'
import { numberOfProcesses } from './processes/number.ts'

await runService('api', async context => {
  const processes = numberOfProcesses(context.config.WEB_CONCURRENCY)
  // The primary serves nothing itself, so it does not load what searches need.
  if (processes > 1 && processNumber() === null) {
    const { startPrimary } = await import('./processes/primary.ts')
    return startPrimary(context, processes)
  }
  const { serve } = await import('./serve.ts')
  return serve(context, processes)
})
