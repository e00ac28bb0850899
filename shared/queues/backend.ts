import type { Config } from '#shared/config/config'
import { type RedisSettings, usesRedis } from './redis.ts'
import type { Closable, JobQueue, Store } from './stores.ts'

/*
 * BullMQ keeps its queues in Redis, or in Postgres if no Redis is configured. This file offers one
 * interface to both. It loads BullMQ with the first queue, because an API and many commands need
 * none; that takes a fifth of a second.
 */

/** The work queues between the services. Messages carry identifiers, never text. */
export interface QueueMessages {
  /** A stored page, of which the normaliser makes an article. */
  normalise: { pageNo: string }
  /** Articles whose time for embedding has come; at most one batch. */
  embed: { seqs: string[] }
}

export type QueueName = keyof QueueMessages
export const QUEUE_NAMES: ['normalise', 'embed'] = [
  'normalise',
  'embed',
] as const satisfies QueueName[]

export interface Backend {
  /** @throws when the store cannot be reached. The next call tries again. */
  queue(name: QueueName): Promise<JobQueue>
  worker(...given: Parameters<Store['startWorker']>): Closable
  /**
   * Sends a small request on a queue that is already open.
   *
   * @throws when the store does not answer
   */
  ask(): Promise<void>
  close(): Promise<void>
}

/** The settings that choose the store of the queues, and tell how to reach it. */
export type QueueSettings = RedisSettings & Pick<Config, 'DATABASE_URL'>

/**
 * Chooses the store of the queues. No other code does so.
 *
 * @param isOnce the caller asks once, and tells that the store is away: no call waits for it
 */
export function createBackend(
  config: QueueSettings,
  onError: (error: Error) => void,
  isOnce = false,
): Backend {
  const queues = new Map<QueueName, Promise<JobQueue>>()
  let opened: Promise<Store> | undefined
  const store = () =>
    (opened ??= import('./stores.ts').then(({ inRedis, inPostgres }) =>
      usesRedis(config)
        ? inRedis(config, onError, isOnce)
        : inPostgres(config.DATABASE_URL, onError),
    ))
  return {
    queue(name) {
      const known = queues.get(name)
      if (known) return known
      const queue = store().then(({ openQueue }) => openQueue(name))
      queues.set(name, queue)
      queue.catch(() => queues.delete(name))
      return queue
    },
    worker(...given) {
      const worker = store().then(({ startWorker }) => startWorker(...given))
      return { close: async force => (await worker).close(force) }
    },
    async ask() {
      const queue = await queues.values().next().value
      await queue?.getJobCounts('active')
    },
    async close() {
      await Promise.allSettled([...queues.values()].map(async queue => (await queue).close()))
    },
  }
}
