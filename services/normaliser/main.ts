import { startService } from '#shared/process/start-service'

await startService('normaliser', async () => {
  const [{ startNormaliser }] = await Promise.all([
    import('./start.ts'),
    // It opens queues at once. Loaded later, they would not come from root's compile cache.
    import('#shared/queues/stores'),
  ])
  return startNormaliser
})
