import { startService } from '#shared/process/start-service'

await startService('embedder', async () => {
  const { startEmbedder } = await import('./embed.ts')
  return startEmbedder
})
