import { setTimeout as sleep } from 'node:timers/promises'
import {
  createPostgresBackend,
  createRedisBackend,
  type IQueueBackend,
  type Job,
  type JobProgress,
  Queue,
  Worker,
} from 'bullmq'
import { describe } from '#shared/log/printable'
import { HeardClient, startupOptions } from '#shared/postgres/pool'
import { sentenceOf } from '#shared/process/command'
import { withTimeLimit } from '#shared/resilience/time-limit'
import { IDLE_WAIT, type RedisSettings, redisConnection } from './redis.ts'

/*
 * The queues of BullMQ in Redis and in Postgres. This file corrects BullMQ's behaviour while its
 * store is away.
 */

type Handler = (job: Job) => Promise<void>
type WorkerSettings = {
  concurrency: number
  lockDuration: number
  stalledInterval: number
  maxStalledCount: number
}

/** The methods that queues in both stores have. */
export type JobQueue = Pick<Queue, 'addBulk' | 'getJobCounts' | 'getJobs' | 'drain' | 'close'>

/** A worker that runs. */
export interface Closable {
  close(force?: boolean): Promise<void>
}

/** The queues and workers of one store. */
export interface Backend {
  openQueue(name: string): Promise<JobQueue>
  startWorker(name: string, handler: Handler, settings: WorkerSettings): Closable
}

/** Schema of BullMQ's tables in Postgres. */
export const QUEUE_SCHEMA = 'bullmq'

/**
 * The most ms for a call to Redis. Without this limit, a queue that has never reached its Redis
 * would wait for ever.
 */
const ANSWER = 10_000

/** @param isOnce see `openQueues` */
export function inRedis(
  config: RedisSettings,
  onError: (error: Error) => void,
  isOnce: boolean,
): Backend {
  // A producer soon fails with an error. A worker waits until Redis is back.
  const asking = redisConnection(config, false)
  const waiting = redisConnection(config, true)
  return {
    async openQueue(name: string): Promise<JobQueue> {
      const queue = new Queue(name, { connection: asking })
      queue.on('error', onError)
      return inTime(queue, isOnce)
    },
    startWorker(name: string, handler: Handler, settings: WorkerSettings) {
      const worker = new PatientWorker(
        name,
        handler,
        { connection: waiting, runRetryDelay: RETRY, drainDelay: IDLE_WAIT, ...settings },
        createRedisBackend,
      )
      worker.on('error', onError)
      return worker
    },
  }
}

/** A queue whose calls always end in time, with an error if necessary. */
function inTime(queue: Queue, isOnce: boolean): JobQueue {
  let last = ''
  const away = Promise.withResolvers<never>()
  away.promise.catch(() => {})
  queue.on('error', error => {
    last = ` (${sentenceOf(error)})`
    if (isOnce) away.reject(error)
  })
  const soon = <T>(work: Promise<T>) => (isOnce ? Promise.race([work, away.promise]) : work)
  const limit = <T>(work: Promise<T>): Promise<T> =>
    withTimeLimit(soon(work).catch(sayAway), ANSWER, () => {
      throw new Error(`The Redis of the queues does not answer within ${ANSWER / 1_000} s${last}.`)
    })
  return {
    addBulk: jobs => limit(queue.addBulk(jobs)),
    getJobCounts: (...states) => limit(queue.getJobCounts(...states)),
    getJobs: states => limit(queue.getJobs(states)),
    drain: delayed => limit(queue.drain(delayed)),
    close: () => limit(queue.close()),
  }
}

/** Replaces ioredis's error for a command without a connection by a clear sentence. */
function sayAway(error: unknown): never {
  if (error instanceof Error && error.message.includes('enableOfflineQueue'))
    throw new Error('The Redis of the queues is not connected; the connection is tried again.', {
      cause: error,
    })
  throw error
}

/** The most ms for a connection to Postgres, and for the answer to a statement. */
const CONNECT = 5_000
const LOST = 60_000

export function inPostgres(url: string, onError: (error: Error) => void): Backend {
  // For each queue and each worker: up to three connections. A worker has another one that listens.
  const connection = {
    connectionString: url,
    schema: QUEUE_SCHEMA,
    max: 3,
    application_name: 'perscope queues',
    Client: HeardClient,
    // A host that vanished neither refuses a connection nor ends one, and the kernel waits minutes.
    connectionTimeoutMillis: CONNECT,
    query_timeout: LOST,
    // BullMQ sends notifications, and transactions with notifications commit one after another. If
    // each commit waited for the disk and a standby, a standby 200 ms away would limit this to five
    // messages a second. A message that is lost with the server is derived again from Postgres.
    options: startupOptions({ synchronous_commit: 'off' }),
  }
  return {
    openQueue: (name: string): Promise<JobQueue> =>
      openReady(() => new Queue(name, { connection }, createPostgresBackend), onError),
    startWorker: (name: string, handler: Handler, settings: WorkerSettings) =>
      runWhenReady(
        () =>
          new PatientWorker(
            name,
            handler,
            { connection, autorun: false, runRetryDelay: RETRY, ...settings },
            createPostgresBackend,
          ),
        onError,
      ),
  }
}

/** The methods that BullMQ's queues and workers have in common. */
interface Opened {
  on(event: 'error', listener: (error: Error) => void): unknown
  waitUntilReady(): Promise<void>
  close(force?: boolean): Promise<void>
}

/** A worker that was made with `autorun: false`. */
interface IdleWorker extends Opened {
  run(): Promise<void>
}

/** ms between two attempts to reach the store. */
const REACH_AGAIN = 500

/**
 * On Postgres, BullMQ 6.7 keeps the result of its first connection for good. So a queue or worker
 * that was made while the server was starting fails for ever. A worker even fails in a loop without
 * a pause. Then nothing else in the process runs, not even a handler of SIGTERM. So a queue or
 * worker that could not reach its store is closed and made again.
 */

/** Makes a queue. If it cannot reach its store, closes it and throws the reason. */
async function openReady<T extends Opened>(
  make: () => T,
  onError: (error: Error) => void,
): Promise<T> {
  const opened = make()
  opened.on('error', onError)
  try {
    await opened.waitUntilReady()
    return opened
  } catch (error) {
    await opened.close().catch(onError)
    throw error
  }
}

/** Makes a worker and runs it as soon as it reaches its store. */
function runWhenReady(make: () => IdleWorker, onError: (error: Error) => void) {
  const closing = new AbortController()
  let worker: IdleWorker | undefined

  const start = async () => {
    while (!closing.signal.aborted) {
      const made = make()
      made.on('error', onError)
      worker = made
      try {
        await made.waitUntilReady()
        if (!closing.signal.aborted) await made.run()
        return
      } catch (error) {
        if (closing.signal.aborted) return
        onError(error instanceof Error ? error : new Error(describe(error)))
        await made.close(true).catch(onError)
        await sleep(REACH_AGAIN, undefined, { signal: closing.signal }).catch(() => {})
      }
    }
  }
  void start()

  return {
    async close(force = false) {
      closing.abort()
      await worker?.close(force)
    },
  }
}

/**
 * ms after which a lost connection is tried again. BullMQ's default of 15 s would be added to every
 * restart of a store.
 */
const RETRY = 1_000

/** ms between an error and the next request. If the connection is lost, BullMQ adds RETRY. */
const PAUSE = 500
const STEP = 100

/**
 * When its store answers with an error, BullMQ's worker asks for the next message at once. Examples
 * are a Redis at its memory limit, or a Postgres that has no disk space or is shutting down. This
 * loop would cause thousands of errors a second, so this worker waits after each error.
 */
class PatientWorker<B extends IQueueBackend, C> extends Worker<
  unknown,
  void,
  string,
  B,
  JobProgress,
  C
> {
  protected override async moveToActive(token: string, name?: string) {
    try {
      return await super.moveToActive(token, name)
    } catch (error) {
      for (let waited = 0; waited < PAUSE && this.closing === undefined; waited += STEP)
        await sleep(STEP)
      throw error
    }
  }
}
