import { setTimeout as sleep } from 'node:timers/promises'
import type { Missing } from '../../../shared/process/health.ts'
import type { Queues } from '../../../shared/queues/queues.ts'
import type { Crawl } from '../crawl.ts'

const PATIENCE = 2_000

/** Which dependencies do not answer within two seconds. */
export async function missingDependencies(crawl: Crawl, queues: Pick<Queues, 'counts'>): Promise<Missing> {
  const [postgres, queue] = await Promise.all([answers(crawl.pool.query('select 1')), answers(queues.counts())])
  const missing: Missing = {}
  if (!postgres) missing.postgres = 'does not answer'
  if (!queue && crawl.config.REDIS_URL !== '') missing.redis = 'does not answer'
  return missing
}

async function answers(question: Promise<unknown>): Promise<boolean> {
  const timer = new AbortController()
  const late = sleep(PATIENCE, false, { signal: timer.signal, ref: false }).catch(() => false)
  const answered = await Promise.race([
    question.then(
      () => true,
      () => false,
    ),
    late,
  ])
  timer.abort()
  return answered
}
