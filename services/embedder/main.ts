import { startService } from '#shared/process/start-service'

await startService('embedder', async () => {
  const [{ startEmbedder }] = await Promise.all([
    import('./embed.ts'),
    // It opens queues at once. Loaded later, they would not come from root's compile cache.
    import('#shared/queues/stores'),
  ])
  return startEmbedder
})
