import type { QueueCounts } from '#shared/figures'
import { withLogContext } from '#shared/log/context'
import type { Logger } from '#shared/log/logger'
import { createOutageLog } from '#shared/log/outage'
import { describe } from '#shared/log/printable'
import {
  type Backend,
  createBackend,
  QUEUE_NAMES,
  type QueueMessages,
  type QueueName,
  type QueueSettings,
} from './backend.ts'
import { usesRedis } from './redis.ts'

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
    () => backend.ask(),
  )
  const backend: Backend = createBackend(config, outage.met, isOnce)
  return {
    async add<N extends QueueName>(name: N, messages: Message<N>[]): Promise<void> {
      if (messages.length === 0) return
      const queue = await backend.queue(name)
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
      const worker = backend.worker(
        name,
        async job => {
          await withLogContext({ job: job.id ?? name }, async () => {
            try {
              await processor(job.data as QueueMessages[typeof name], stopping.signal)
            } catch (error) {
              log.error({ queue: name, err: describe(error) }, 'job failed')
              throw error
            }
          })
        },
        {
          concurrency: options.concurrency,
          lockDuration: options.lockDuration ?? 30_000,
          // Messages of a dead worker are found within this time after their lock has expired.
          stalledInterval: Math.min(5_000, options.lockDuration ?? 30_000),
          maxStalledCount: 1_000,
        },
      )
      return {
        /** Takes no new message, and waits for the running work; with `force`, does not wait. */
        async close(force = false) {
          stopping.abort()
          await worker.close(force)
        },
      }
    },
    async counts() {
      const counts = {} as Record<QueueName, QueueCounts>
      for (const name of QUEUE_NAMES) {
        const queue = await backend.queue(name)
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
      const queue = await backend.queue(name)
      const jobs = await queue.getJobs(['waiting', 'active', 'delayed', 'failed'])
      return jobs.map(({ data }) => data)
    },
    drain: async name => (await backend.queue(name)).drain(true),
    close: () => backend.close(),
  }
}
