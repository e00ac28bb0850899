import { startService } from '#shared/process/start-service'

await startService('crawler', async () => {
  const { startCrawler } = await import('./crawler.ts')
  return startCrawler
})
