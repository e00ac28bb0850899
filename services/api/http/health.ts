import type { RequestHandler, Router } from 'express'
import type { SearchIndex } from '#search/index'
import type { Logger } from '#shared/log/logger'
import { shared } from '#shared/metrics'
import { sentenceOf } from '#shared/process/command'
import { joinsOthers } from '#shared/process/node'
import { repeatEvery } from '#shared/process/repeat'
import { withTimeLimit } from '#shared/resilience/time-limit'

/**
 * The dependencies that this process cannot reach. The page shows only their names, because
 * anybody may read it.
 */
export interface Readiness {
  /** Missing dependencies without which no request with a key is answered. By name: the reason. */
  required(): Promise<Record<string, string>>
  /** Missing dependencies without which only semantic search fails. By name: the reason. */
  semantic(): Promise<Record<string, string>>
  warmUp: Pick<ProcessWarmUp, 'isWarm' | 'isOver'>
}

/** ms for which the result of a check is kept. Anybody can load the page, so it must be cheap. */
const FRESH = 1_000

/**
 * `/healthz`: this process answers. `/readyz`: 200, or 503 when the database is missing or while
 * the process warms up. It also names the missing dependencies.
 */
export function addHealthPages(router: Router, { required, semantic, warmUp }: Readiness): void {
  const look = shared(async () => {
    const [needed, others] = await Promise.all([required(), semantic()])
    const ready = Object.keys(needed).length === 0
    const missing = [...Object.keys(needed), ...Object.keys(others)]
    return { ready, status: missing.length > 0 ? 'degraded' : 'ok', missing }
  }, FRESH)
  router.get('/healthz', noStore, (_request, response) => {
    response.json({ status: 'ok' })
  })
  router.get('/readyz', noStore, async (_request, response) => {
    const { ready, status, missing } = await look()
    const warm = warmUp.isWarm()
    if (!ready) response.status(503).json({ status: 'unavailable', missing })
    else if (warmUp.isOver()) response.json({ status, missing, warm })
    else response.status(503).json({ status: 'warming up', missing, warm })
  })
}

const noStore: RequestHandler = (_request, response, next) => {
  response.set('Cache-Control', 'no-store')
  next()
}

/** ms after which a process counts as ready, even if it is not warm. */
const WARM_UP_LIMIT = 10_000

export interface ProcessWarmUp {
  /** Resolves when the process is warm: searches then have their full speed. */
  done: Promise<void>
  isWarm(): boolean
  /** True when the process is warm, or the limit is over: it then answers, only slower. */
  isOver(): boolean
  /** Resolves when the process is warm, but at the latest after `wait` ms. */
  soon(wait: number): Promise<void>
}

/**
 * Reads into memory what searches need, until the index is closed.
 *
 * @param options.prepare prepares the statements that every request runs
 * @param options.limit ms after which the process counts as ready, even if it is not warm
 */
export function startWarmUp(
  index: Pick<SearchIndex, 'warm'>,
  log: Logger,
  { prepare, limit = WARM_UP_LIMIT }: { prepare?: () => Promise<unknown>; limit?: number } = {},
): ProcessWarmUp {
  const start = performance.now()
  let warm = false
  const tell = (error: unknown) => log.debug({ err: sentenceOf(error) }, 'could not read ahead')
  const done = index
    .warm(repeatEvery, tell, joinsOthers())
    .then(() => prepare?.().catch(tell))
    .then(() => {
      warm = true
      log.info({ ms: Math.round(performance.now() - start) }, 'warm')
    })
  return {
    done,
    isWarm: () => warm,
    isOver: () => warm || performance.now() - start > limit,
    soon: wait => withTimeLimit(done, wait, () => {}),
  }
}
