import { createBullBoard } from '@bull-board/api'
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import { ExpressAdapter } from '@bull-board/express'
import { Queue } from 'bullmq'
import { type RequestHandler, Router } from 'express'
import type { Logger } from '../../../shared/log/logger.ts'
import { QUEUE_NAMES } from '../../../shared/queues/messages.ts'
import { type RedisSettings, redisConnection } from '../../../shared/queues/redis.ts'
import { pageSecurity } from '../http/security.ts'

export interface Board {
  router: Router
  close(): Promise<void>
}

/**
 * bull-board on the queues in Redis, to look at only: a message is a doorbell, so there is nothing
 * to repair in a queue, and a browser that sends a password by itself must not be led to change
 * anything. `npm run queues` does.
 */
export function openBoard(settings: RedisSettings, path: string, log: Logger): Board {
  const connection = { ...redisConnection(settings, false), maxRetriesPerRequest: 1 }
  const queues = QUEUE_NAMES.map(name => {
    const queue = new Queue(name, { connection })
    queue.on('error', error => log.debug({ err: error.message }, 'the queues are out of reach'))
    return queue
  })
  const adapter = new ExpressAdapter()
  adapter.setBasePath(path)
  createBullBoard({
    queues: queues.map(queue => new BullMQAdapter(queue, { readOnlyMode: true })),
    serverAdapter: adapter,
    options: { uiConfig: { boardTitle: 'Perscope queues', hideRedisDetails: true, miscLinks: [] } },
  })
  const app = adapter.getRouter()
  app.disable('x-powered-by')
  const router = Router()
  // It writes style attributes.
  router.use(pageSecurity({ inlineStyles: true, base: true }), noStore, withoutFonts, app)
  return {
    router,
    async close() {
      await Promise.allSettled(queues.map(queue => queue.close()))
    },
  }
}

/** Its page asks others for a font: nothing leaves the house, and no browser need complain. */
const withoutFonts: RequestHandler = (_request, response, next) => {
  const send = response.send.bind(response)
  response.send = body => send(typeof body === 'string' ? body.replace(/<link href="https?:[^>]*>/g, '') : body)
  next()
}

const noStore: RequestHandler = (_request, response, next) => {
  response.set('Cache-Control', 'private, no-cache')
  next()
}
