import type { Crawl } from '../crawl.ts'
import { removeOldSources } from './sources.ts'

const EVERY = 600_000

/** Keeps house every ten minutes; the first time soon, so that a crawler that is restarted often does it too. */
export function startUpkeep(crawl: Crawl): { close(): void } {
  const keepHouse = async () => {
    try {
      const removed = await removeOldSources(crawl.pool, crawl.config.PAGES_KEEP, crawl.stopping)
      if (removed > 0) crawl.log.info({ removed }, 'removed sources of finished pages')
    } catch (error) {
      crawl.log.warn({ err: error instanceof Error ? error.message : String(error) }, 'could not keep house')
    }
  }
  const soon = setTimeout(() => void keepHouse(), EVERY / 20)
  const timer = setInterval(() => void keepHouse(), EVERY)
  return {
    close() {
      clearTimeout(soon)
      clearInterval(timer)
    },
  }
}
