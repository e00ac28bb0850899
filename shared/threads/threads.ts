import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { Piscina } from 'piscina'
import { describe } from '#shared/log/printable'
import { withTimeLimit } from '#shared/resilience/time-limit'
import { type Begun, createBegun, startClock } from './clock.ts'

/** Why a task failed: it took too long, used too much memory, or threw an error. */
export type ThreadFailure = 'timeout' | 'memory' | 'error'

/** A task failed. Other threads are not affected. */
export class ThreadError extends Error {
  override name = 'ThreadError'
  readonly failure: ThreadFailure

  constructor(failure: ThreadFailure, message: string, cause?: unknown) {
    super(message, { cause })
    this.failure = failure
  }
}

/**
 * A task in the form that its thread gets. The thread calls `begin(begun)` when it has loaded its
 * modules.
 */
export type Timed<Task> = Task & { begun: Begun }

/**
 * Threads for work on data from outside. The event loop of the process never waits for this work,
 * and the work has a time limit.
 */
export interface Threads<Task, Result> {
  /**
   * Runs a task at once. Callers must not run more tasks than there are threads
   * (`createFairQueue`).
   *
   * @throws ThreadError when the task fails
   */
  run(task: Task): Promise<Result>
  /** Ends all threads as soon as they have loaded their modules. Running tasks fail. */
  close(): Promise<void>
}

/** The most ms that `close` waits for threads that load their modules. */
const LOADING = 5_000

/**
 * The first task starts the first thread, because many a command and test opens threads and has no
 * task for them.
 *
 * @param options.worker module whose default export does a task
 * @param options.threads tasks at the same time
 * @param options.timeout ms that a task may keep its thread. After that the thread is ended and
 *   replaced.
 * @param options.memory MB of heap that a task may use. A task that uses more ends only its thread.
 */
export function openThreads<Task, Result>(options: {
  worker: URL
  threads: number
  timeout: number
  memory: number
}): Threads<Task, Result> {
  const { worker, threads, timeout, memory } = options
  let pool: Piscina<Timed<Task>, Result> | undefined
  let closed = false
  const open = () => {
    const opened = new Piscina<Timed<Task>, Result>({
      filename: worker.href,
      minThreads: 1,
      maxThreads: threads,
      concurrentTasksPerWorker: 1,
      idleTimeout: 60_000,
      resourceLimits: {
        maxOldGenerationSizeMb: memory,
        maxYoungGenerationSizeMb: 64,
        stackSizeMb: 8,
      },
    })
    // When a thread dies, its task gets the error too. Without this listener the error would end
    // the process. Another thread has taken its place.
    return opened.on('error', watch)
  }
  const known = new WeakSet<Worker>()
  /** Threads whose first message has not come. It says that their modules are loaded. */
  const loading = new Map<Worker, Promise<unknown>>()
  const watch = () => {
    for (const thread of pool?.threads ?? []) {
      if (known.has(thread)) continue
      known.add(thread)
      const isLoaded = firstMessage(thread).then(() => loading.delete(thread))
      loading.set(thread, isLoaded)
    }
  }
  async function untilLoaded(): Promise<void> {
    // Another thread takes the place of one that dies meanwhile, and loads its modules, too.
    for (watch(); loading.size > 0; watch()) await Promise.race(loading.values())
  }
  return {
    async run(task) {
      if (closed) throw new ThreadError('error', 'The threads were ended.')
      pool ??= open()
      const begun = createBegun()
      const late = new AbortController()
      const stopClock = startClock(begun, timeout, () => late.abort())
      try {
        const result = pool.run({ ...task, begun }, { signal: late.signal })
        watch()
        return await result
      } catch (error) {
        throw failureOf(error, late.signal.aborted, { timeout, memory })
      } finally {
        stopClock()
        watch()
      }
    },
    async close() {
      closed = true
      // Node may crash when a thread is ended while it loads its modules.
      await withTimeLimit(untilLoaded(), LOADING, () => undefined)
      await pool?.destroy()
    },
  }
}

/** Resolves with the first message of a thread, or with its end. */
const firstMessage = (thread: Worker): Promise<unknown> =>
  Promise.race([once(thread, 'message'), once(thread, 'exit')]).catch(() => {})

function failureOf(
  error: unknown,
  late: boolean,
  limits: { timeout: number; memory: number },
): ThreadError {
  if (late)
    return new ThreadError('timeout', `It kept a thread for more than ${limits.timeout} ms.`, error)
  const message = describe(error)
  if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY')
    return new ThreadError('memory', `It needs more than ${limits.memory} MB.`, error)
  return new ThreadError('error', message.split('\n')[0]?.slice(0, 500) ?? '', error)
}
