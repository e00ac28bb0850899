import { Piscina } from 'piscina'
import type { StoredPage } from '../../../shared/pages/page.ts'
import type { Composition } from '../compose/article.ts'
import { composeSeconds } from '../metrics.ts'
import { createBegun, startClock } from './clock.ts'
import { createTurns } from './turns.ts'
import type { ComposeTask } from './worker.ts'

/** How a page failed its thread: it took too long, used up its memory, or met an error of ours. */
export type Failure = 'timeout' | 'memory' | 'error'

/** A page that no article could be made of this time; the thread it had is gone or fresh, others are untouched. */
export class ComposeError extends Error {
  override name = 'ComposeError'
  readonly failure: Failure

  constructor(failure: Failure, message: string, cause?: unknown) {
    super(message, { cause })
    this.failure = failure
  }
}

/** @throws ComposeError when the page fails */
export type Compose = (page: StoredPage, options?: { repeated?: boolean }) => Promise<Composition>

/** Threads that take pages apart, so that the process's own event loop never waits for one. */
export interface Composer {
  /**
   * Runs `work` when a thread is free; it may then compose one page after another.
   * @param outlet on whose account the thread's time is: outlets take turns
   * @throws the signal's reason when it is aborted before a thread was free
   */
  inTurn<T>(outlet: string | number, work: (compose: Compose) => Promise<T>, signal?: AbortSignal): Promise<T>
  /** Composes one page in its outlet's turn. */
  compose(page: StoredPage, options?: { repeated?: boolean; signal?: AbortSignal }): Promise<Composition>
  /** Ends all threads at once; pages in hand fail. */
  close(): Promise<void>
}

/**
 * MB of heap for one page of the largest size, with everything that is made of it. Beyond it the thread is ended, not
 * the process.
 */
const MEMORY = 768

/**
 * @param options.threads pages taken apart at the same time
 * @param options.timeout ms that one page may keep a thread; then the thread is ended and replaced
 * @param options.memory MB of heap that one page may use
 * @param options.worker what the threads run, for tests
 */
export function openComposer(options: { threads: number; timeout: number; memory?: number; worker?: URL }): Composer {
  const { threads, timeout, memory = MEMORY } = options
  const pool = new Piscina<ComposeTask, Composition>({
    filename: (options.worker ?? new URL('./worker.ts', import.meta.url)).href,
    minThreads: 1,
    maxThreads: threads,
    concurrentTasksPerWorker: 1,
    idleTimeout: 60_000,
    resourceLimits: { maxOldGenerationSizeMb: memory, maxYoungGenerationSizeMb: 64, stackSizeMb: 8 },
  })
  // A thread that dies tells the task it had; without a listener the same error would end the process.
  pool.on('error', () => {})
  const turns = createTurns(threads)

  const run = async (task: ComposeTask): Promise<Composition> => {
    const late = new AbortController()
    const stopClock = startClock(task.begun, timeout, () => late.abort())
    const measured = composeSeconds.startTimer()
    try {
      return await pool.run(task, { signal: late.signal })
    } catch (error) {
      throw failureOf(error, late.signal.aborted, { timeout, memory })
    } finally {
      stopClock()
      measured()
    }
  }
  const compose: Compose = (page, { repeated = false } = {}) =>
    run({ page, now: new Date(), repeated, begun: createBegun() })
  return {
    inTurn: (outlet, work, signal) => turns.take(outlet, () => work(compose), signal),
    compose: (page, { repeated = false, signal } = {}) =>
      turns.take(page.outlet.domain, () => compose(page, { repeated }), signal),
    close: () => pool.destroy(),
  }
}

function failureOf(error: unknown, late: boolean, limits: { timeout: number; memory: number }): ComposeError {
  if (late) return new ComposeError('timeout', `It kept a thread for more than ${limits.timeout} ms.`, error)
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return new ComposeError('memory', `It needs more than ${limits.memory} MB.`, error)
  }
  return new ComposeError('error', message.split('\n')[0]?.slice(0, 500) ?? '', error)
}
