import { startService } from '#shared/process/start-service'

await startService('crawler', async () => {
  const [{ startCrawler }] = await Promise.all([
    import('./crawler.ts'),
    // It opens queues at once. Loaded later, they would not come from root's compile cache.
    import('#shared/queues/stores'),
  ])
  return startCrawler
})
