import type { Crawl } from '../crawl.ts'
import { removeOldSources } from './sources.ts'

const EVERY = 600_000

/**
 * Runs maintenance every ten minutes. The first run comes soon after the start, so that a crawler
 * that restarts often also runs it.
 */
export function startMaintenance(crawl: Crawl): { close(): void } {
  const maintain = async () => {
    try {
      const removed = await removeOldSources(crawl.pool, crawl.config.PAGES_KEEP, crawl.stopping)
      if (removed > 0) crawl.log.info({ removed }, 'removed sources of finished pages')
    } catch (error) {
      crawl.log.warn({ err: error instanceof Error ? error.message : String(error) }, 'maintenance failed')
    }
  }
  const soon = setTimeout(() => void maintain(), EVERY / 20)
  const timer = setInterval(() => void maintain(), EVERY)
  return {
    close() {
      clearTimeout(soon)
      clearInterval(timer)
    },
  }
}
