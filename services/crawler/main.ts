import { startService } from '../../shared/process/start-service.ts'

await startService('crawler', async () => {
  const { startCrawler } = await import('./crawler.ts')
  return startCrawler
})
