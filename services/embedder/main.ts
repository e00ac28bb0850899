import { startService } from '../../shared/process/start-service.ts'

await startService('embedder', async () => {
  const { startEmbedder } = await import('./start.ts')
  return startEmbedder
})
