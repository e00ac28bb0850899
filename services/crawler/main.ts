import { startService } from '../../shared/process/start-service.ts'

await startService('crawler', async () => {
  const { startCrawler } = await import('./start.ts')
  return startCrawler
})
