import type { Job } from 'bullmq'
import type { Config } from '#shared/config/config'
import type { QueueCounts } from '#shared/figures'
import { withLogContext } from '#shared/log/context'
import type { Logger } from '#shared/log/logger'
import { createOutageLog } from '#shared/log/outage'
import { describe } from '#shared/log/printable'
import { type RedisSettings, usesRedis } from './redis.ts'
import type { Backend, JobQueue } from './stores.ts'

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

/** The settings that choose the store of the queues, and tell how to reach it. */
export type QueueSettings = RedisSettings & Pick<Config, 'DATABASE_URL'>

/** The queue of pg-boss whose cron starts maintenance. The database stores this name. */
export const MAINTENANCE = 'upkeep'

/**
 * One message. `key` names the work. While a message with the same key is in the queue, no second
 * one is added.
 */
interface Message<N extends QueueName> {
  key: string
  data: QueueMessages[N]
}

interface WorkerOptions {
  /** How many messages a worker processes at a time. */
  concurrency: number
  /** If a worker is silent for this many ms, its message goes to another worker. */
  lockDuration?: number
}

export interface Queues {
  /**
   * Queues messages. Drops a message if one with the same key waits or is being processed. That
   * is safe, because senders derive due work from Postgres and send it again.
   */
  add<N extends QueueName>(name: N, messages: Message<N>[]): Promise<void>
  /**
   * Consumes a queue. A message is delivered at least once. If `processor` throws, the message is
   * logged and dropped, because Postgres already says when the work is tried again.
   */
  work<N extends QueueName>(
    name: N,
    processor: (data: QueueMessages[N], signal: AbortSignal) => Promise<void>,
    options: WorkerOptions,
  ): { close(force?: boolean): Promise<void> }
  counts(): Promise<Record<keyof QueueMessages, QueueCounts>>
  /** The messages that wait or are being processed. */
  messages<N extends QueueName>(name: N): Promise<QueueMessages[N][]>
  /**
   * Removes every message that waits in a queue. Senders later derive due work from Postgres
   * again.
   */
  drain(name: QueueName): Promise<void>
  close(): Promise<void>
}

/**
 * Opens the work queues in the store that the configuration chooses: Redis with `REDIS_URL` or
 * `REDIS_SENTINELS`, otherwise Postgres.
 *
 * @param isOnce the caller asks once, so nothing waits for a store that is away
 */
export function openQueues(config: QueueSettings, log: Logger, isOnce = false): Queues {
  const outage = createOutageLog(
    log,
    `the queues are out of reach${usesRedis(config) ? '; start their Redis, or mend its address' : ''}`,
    'the queues are in reach again',
    async () => (await opened.values().next().value)?.getJobCounts('active'),
  )
  const opened = new Map<QueueName, Promise<JobQueue>>()
  let loaded: Promise<Backend> | undefined
  const backend = () =>
    (loaded ??= import('./stores.ts').then(({ inRedis, inPostgres }) =>
      usesRedis(config)
        ? inRedis(config, outage.met, isOnce)
        : inPostgres(config.DATABASE_URL, outage.met),
    ))
  /** @throws when the store cannot be reached. The next call tries again. */
  const open = (name: QueueName): Promise<JobQueue> => {
    const known = opened.get(name)
    if (known) return known
    const queue = backend().then(({ openQueue }) => openQueue(name))
    opened.set(name, queue)
    queue.catch(() => opened.delete(name))
    return queue
  }
  return {
    async add<N extends QueueName>(name: N, messages: Message<N>[]): Promise<void> {
      if (messages.length === 0) return
      const queue = await open(name)
      await queue.addBulk(
        messages.map(({ key, data }) => ({
          name,
          data,
          // A message only says that there is work (a doorbell). It is removed when it is done or
          // has failed. Otherwise the next message with the same key would be dropped.
          opts: {
            jobId: `${name}-${key}`,
            removeOnComplete: true,
            removeOnFail: true,
            attempts: 1,
          },
        })),
      )
    },
    work<N extends QueueName>(
      name: N,
      processor: (data: QueueMessages[N], signal: AbortSignal) => Promise<void>,
      options: WorkerOptions,
    ) {
      const stopping = new AbortController()
      const handler = async (job: Job) => {
        await withLogContext({ job: job.id ?? name }, async () => {
          try {
            await processor(job.data, stopping.signal)
          } catch (error) {
            log.error({ queue: name, err: describe(error) }, 'job failed')
            throw error
          }
        })
      }
      const { concurrency, lockDuration = 30_000 } = options
      const settings = {
        concurrency,
        lockDuration,
        // Messages of a dead worker are found within this time after their lock has expired.
        stalledInterval: Math.min(5_000, lockDuration),
        maxStalledCount: 1_000,
      }
      const worker = backend().then(({ startWorker }) => startWorker(name, handler, settings))
      return {
        /** Takes no new message, and waits for the running work; with `force`, does not wait. */
        async close(force = false) {
          stopping.abort()
          await (await worker).close(force)
        },
      }
    },
    async counts() {
      const counts = {} as Record<QueueName, QueueCounts>
      for (const name of QUEUE_NAMES) {
        const queue = await open(name)
        const jobs = await queue.getJobCounts('waiting', 'active', 'delayed', 'failed')
        counts[name] = {
          waiting: jobs.waiting ?? 0,
          active: jobs.active ?? 0,
          delayed: jobs.delayed ?? 0,
          failed: jobs.failed ?? 0,
        }
      }
      return counts
    },
    async messages<N extends QueueName>(name: N): Promise<QueueMessages[N][]> {
      const queue = await open(name)
      const jobs = await queue.getJobs(['waiting', 'active', 'delayed', 'failed'])
      return jobs.map(({ data }) => data)
    },
    drain: async name => (await open(name)).drain(true),
    async close() {
      await Promise.allSettled([...opened.values()].map(async queue => (await queue).close()))
    },
  }
}
