import { type Job, Queue } from 'bullmq'
import type { Config } from '../config/config.ts'
import { openReady, runWhenReady } from './late-start.ts'
import type { QueueMessages, QueueName } from './messages.ts'
import { onPostgres, PatientPostgresWorker, PatientWorker, RETRY } from './patient-worker.ts'

type AnyMessage = QueueMessages[QueueName]
type Handler = (job: Job) => Promise<void>
type WorkerSettings = { concurrency: number; lockDuration: number; stalledInterval: number; maxStalledCount: number }

/** The common interface of the two stores of queues. */
interface JobQueue {
  addBulk(jobs: { name: string; data: AnyMessage; opts: Record<string, unknown> }[]): Promise<unknown>
  getJobCounts(
    ...states: ('waiting' | 'active' | 'delayed' | 'failed' | 'prioritized')[]
  ): Promise<Record<string, number>>
  drain(delayed?: boolean): Promise<void>
  on(event: 'error', listener: (error: Error) => void): unknown
  waitUntilReady(): Promise<void>
  close(): Promise<void>
}

export interface Backend {
  /** @throws when the store cannot be reached; the next call tries again */
  queue(name: QueueName): Promise<JobQueue>
  worker(name: QueueName, handler: Handler, settings: WorkerSettings): { close(force?: boolean): Promise<void> }
  /**
   * Sends a small request on a queue that is open already.
   * @throws when the store does not answer
   */
  ask(): Promise<void>
  close(): Promise<void>
}

/** Schema of BullMQ's tables when it works on Postgres. */
export const QUEUE_SCHEMA = 'bullmq'

/** The one place where the store of the queues is chosen. */
export function createBackend(
  config: Pick<Config, 'REDIS_URL' | 'DATABASE_URL'>,
  onError: (error: Error) => void,
): Backend {
  const queues = new Map<QueueName, Promise<JobQueue>>()
  const { openQueue, startWorker } =
    config.REDIS_URL === '' ? inPostgres(config.DATABASE_URL, onError) : inRedis(config.REDIS_URL, onError)
  return {
    queue(name) {
      const known = queues.get(name)
      if (known) return known
      const queue = openQueue(name)
      queues.set(name, queue)
      queue.catch(() => queues.delete(name))
      return queue
    },
    worker: startWorker,
    async ask() {
      const queue = await queues.values().next().value
      await queue?.getJobCounts('active')
    },
    async close() {
      await Promise.allSettled([...queues.values()].map(async queue => (await queue).close()))
    },
  }
}

function inRedis(url: string, onError: (error: Error) => void) {
  const connection = { url, maxRetriesPerRequest: null, enableReadyCheck: true }
  return {
    // A producer fails soon with an error; a worker waits for Redis to come back.
    async openQueue(name: string): Promise<JobQueue> {
      const queue = new Queue(name, { connection: { url, maxRetriesPerRequest: 3 } })
      queue.on('error', onError)
      return queue
    },
    startWorker(name: string, handler: Handler, settings: WorkerSettings) {
      const worker = new PatientWorker(name, handler, { connection, runRetryDelay: RETRY, ...settings })
      worker.on('error', onError)
      return worker
    },
  }
}

function inPostgres(url: string, onError: (error: Error) => void) {
  // Per queue and per worker: up to three connections and, for a worker, one that listens.
  const connection = { connectionString: url, schema: QUEUE_SCHEMA, max: 3, application_name: 'perscope queues' }
  return {
    openQueue: (name: string): Promise<JobQueue> =>
      openReady(() => new onPostgres.Queue(name, { connection }), onError),
    startWorker: (name: string, handler: Handler, settings: WorkerSettings) =>
      runWhenReady(
        () =>
          new PatientPostgresWorker(name, handler, { connection, autorun: false, runRetryDelay: RETRY, ...settings }),
        onError,
      ),
  }
}
