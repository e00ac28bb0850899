import { type RequestHandler, Router } from 'express'
import type { Config } from '../../../shared/config/config.ts'
import type { Logger } from '../../../shared/log/logger.ts'
import { createPool } from '../../../shared/postgres/pool.ts'
import { openQueues } from '../../../shared/queues/queues.ts'
import { usesRedis } from '../../../shared/queues/redis.ts'
import { withTimeLimit } from '../../../shared/resilience/time-limit.ts'
import type { AddressLock } from '../access/lock.ts'
import { ApiError } from '../contract/errors.ts'
import type { Readiness } from '../http/health.ts'
import { pageSecurity } from '../http/security.ts'
import { sendFile, webBundle } from '../web/pages.ts'
import type { Board } from './board.ts'
import { requireOperator } from './operator.ts'
import { openFigures } from './read-figures.ts'

/** The pages for operators: the whole of a process's part in them. */
export interface OperatorPages {
  router: Router
  close(): Promise<void>
}

export interface OperatorParts {
  config: Config
  log: Logger
  lock: AddressLock
  readiness: Readiness
}

/** Longest a statement for the page may run, in ms. */
const STATEMENT_TIMEOUT = 3_000

const CLOSE_TIMEOUT = 2_000

/**
 * `/status`, a page that shows at a glance what goes on, with its figures at `/status/figures`; and
 * with queues on Redis `/queues`. All behind OPERATOR_KEY, all read-only, on connections of their
 * own, so that watching takes nothing from searches. The page's script and style are open files,
 * as those of all pages are: they hold the program and no figure.
 */
export async function openOperatorPages(parts: OperatorParts): Promise<OperatorPages> {
  const { config, log, lock, readiness } = parts
  const pool = createPool(config.DATABASE_URL, 'status', error => log.debug({ err: error.message }, 'status'), {
    max: 3,
    statementTimeout: STATEMENT_TIMEOUT,
    queryTimeout: STATEMENT_TIMEOUT + 500,
    // The page says that the database is a standby.
    mayBeStandby: true,
  })
  const queues = openQueues(config, log)
  const board = usesRedis(config) ? await boardOf(config, log) : null
  const figures = openFigures({ pool, queues, readiness, config, service: config.SERVICE_NAME, board: board !== null })

  const router = Router({ strict: true, caseSensitive: true })
  router.use(['/status', '/queues'], requireOperator(config.OPERATOR_KEY, lock), onlyReading)
  router.get('/status/figures', async (_request, response) => {
    response.set('Cache-Control', 'no-store').json(await figures())
  })
  router.get('/status', pageSecurity(), async (request, response) => {
    const { pages } = await webBundle()
    await sendFile(request, response, pages.status, 'private, no-cache')
  })
  if (board) router.use('/queues', board.router)
  router.use(['/status', '/queues'], (_request, _response, next) => {
    next(
      new ApiError(
        'not_found',
        board
          ? {}
          : { message: 'There is nothing here: `/queues` needs queues in Redis; set REDIS_URL or REDIS_SENTINELS.' },
      ),
    )
  })
  return {
    router,
    async close() {
      const closed = Promise.allSettled([board?.close(), queues.close(), pool.end()])
      // A Redis that is away answers no farewell.
      await withTimeLimit(closed, CLOSE_TIMEOUT, () => {})
    },
  }
}

/** bull-board is loaded only where the queues are in Redis. */
async function boardOf(config: Config, log: Logger): Promise<Board> {
  const { openBoard } = await import('./board.ts')
  return openBoard(config, '/queues', log)
}

const onlyReading: RequestHandler = (request, _response, next) => {
  if (request.method === 'GET' || request.method === 'HEAD') return next()
  next(new ApiError('method_not_allowed', { headers: { Allow: 'GET, HEAD' } }))
}
