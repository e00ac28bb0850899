import { startService } from '../../shared/process/start-service.ts'

await startService('normaliser', async () => {
  const { startNormaliser } = await import('./start.ts')
  return startNormaliser
})
