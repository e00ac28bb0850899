import { type Job, Queue } from 'bullmq'
import type { Config } from '../config/config.ts'
import { startupOptions } from '../postgres/pool.ts'
import { sentenceOf } from '../process/command.ts'
import { withTimeLimit } from '../resilience/time-limit.ts'
import { openReady, runWhenReady } from './late-start.ts'
import type { QueueMessages, QueueName } from './messages.ts'
import { onPostgres, PatientPostgresWorker, PatientWorker, RETRY } from './patient-worker.ts'
import { IDLE_WAIT, type RedisSettings, redisConnection, usesRedis } from './redis.ts'

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

/** The settings that choose the store of the queues, and lead to it. */
export type QueueSettings = RedisSettings & Pick<Config, 'DATABASE_URL'>

/** The one place where the store of the queues is chosen. */
export function createBackend(config: QueueSettings, onError: (error: Error) => void): Backend {
  const queues = new Map<QueueName, Promise<JobQueue>>()
  const { openQueue, startWorker } = usesRedis(config)
    ? inRedis(config, onError)
    : inPostgres(config.DATABASE_URL, onError)
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

/**
 * ms that a call to Redis may take. A queue that has never reached its Redis would wait without
 * end.
 */
const ANSWER = 10_000

function inRedis(config: RedisSettings, onError: (error: Error) => void) {
  // A producer fails soon with an error; a worker waits for Redis to come back.
  const [asking, waiting] = [redisConnection(config, false), redisConnection(config, true)]
  return {
    async openQueue(name: string): Promise<JobQueue> {
      const queue = new Queue(name, { connection: asking })
      queue.on('error', onError)
      return inTime(queue)
    },
    startWorker(name: string, handler: Handler, settings: WorkerSettings) {
      const worker = new PatientWorker(name, handler, {
        connection: waiting,
        runRetryDelay: RETRY,
        drainDelay: IDLE_WAIT,
        ...settings,
      })
      worker.on('error', onError)
      return worker
    },
  }
}

/** A queue whose calls end in time, if need be with an error. */
function inTime(queue: Queue): JobQueue {
  let last = ''
  queue.on('error', error => {
    last = ` (${sentenceOf(error)})`
  })
  const limit = <T>(work: Promise<T>): Promise<T> =>
    withTimeLimit(work.catch(sayAway), ANSWER, () => {
      throw new Error(`The Redis of the queues does not answer within ${ANSWER / 1_000} s${last}.`)
    })
  return {
    addBulk: jobs => limit(queue.addBulk(jobs)),
    getJobCounts: (...states) => limit(queue.getJobCounts(...states)),
    drain: delayed => limit(queue.drain(delayed)),
    on: (event, listener) => queue.on(event, listener),
    waitUntilReady: async () => void (await queue.waitUntilReady()),
    close: () => queue.close(),
  }
}

/** Rewords what ioredis says of a command while it is not connected. */
function sayAway(error: unknown): never {
  if (error instanceof Error && error.message.includes('enableOfflineQueue')) {
    throw new Error('The Redis of the queues is not connected; the connection is tried again.', { cause: error })
  }
  throw error
}

function inPostgres(url: string, onError: (error: Error) => void) {
  // Per queue and per worker: up to three connections and, for a worker, one that listens.
  const connection = {
    ...{ connectionString: url, schema: QUEUE_SCHEMA, max: 3, application_name: 'perscope queues' },
    // BullMQ notifies, and notifying transactions commit one after another. If each waited for the
    // disk and a standby, a standby 200 ms away would leave five messages a second. A message that
    // is lost with the server is derived again.
    options: startupOptions({ synchronous_commit: 'off' }),
  }
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
