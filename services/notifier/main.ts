import { startService } from '#shared/process/start-service'

await startService('notifier', async () => {
  const { startNotifier } = await import('./notify.ts')
  return startNotifier
})
