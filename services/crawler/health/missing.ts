import type { Missing } from '../../../shared/process/health.ts'
import { missingAmong } from '../../../shared/process/missing.ts'
import type { Queues } from '../../../shared/queues/queues.ts'
import type { Crawl } from '../crawl.ts'

/** The dependencies of the crawler that do not answer. */
export function missingDependencies(crawl: Crawl, queues: Pick<Queues, 'counts'>): Promise<Missing> {
  return missingAmong({
    postgres: () => crawl.pool.query('select 1'),
    ...(crawl.config.REDIS_URL === '' ? {} : { redis: () => queues.counts() }),
  })
}
