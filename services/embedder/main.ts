import { startService } from '../../shared/process/start-service.ts'

await startService('embedder', async () => {
  const { startEmbedder } = await import('./embed.ts')
  return startEmbedder
})
