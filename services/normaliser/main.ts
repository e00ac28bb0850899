import { startService } from '#shared/process/start-service'

await startService('normaliser', async () => {
  const { startNormaliser } = await import('./start.ts')
  return startNormaliser
})
