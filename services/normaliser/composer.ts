import type { Config } from '#shared/config/config'
import type { StoredPage } from '#shared/outlets/page'
import { type RightsRules, rightsRules } from '#shared/outlets/rights'
import { createFairQueue } from '#shared/threads/fair-queue'
import { openThreads, ThreadError, type ThreadFailure } from '#shared/threads/threads'
import type { ComposeOptions, Composition } from './compose.ts'
import type { ComposeTask } from './composer-worker.ts'
import { composeSeconds } from './metrics.ts'

/** How a page failed. In this try, the composer could make no article from it. */
export type Failure = ThreadFailure
export const ComposeError = ThreadError

/** @throws ComposeError when the page fails */
type Compose = (page: StoredPage, options?: TaskOptions) => Promise<Composition>

interface TaskOptions extends Omit<ComposeOptions, 'rules'> {
  /** The time that bounds publication dates; by default the current time. */
  now?: Date
}

/** Threads that compose articles, so that the process's own event loop never waits for one. */
export interface Composer {
  /**
   * Runs `work` when a thread is free. `work` may then compose one page after another.
   * @param outlet the outlet whose turn this is; the time of the thread counts for it
   * @throws the signal's reason when it aborts before a thread is free
   */
  inTurn<T>(
    outlet: string | number,
    work: (compose: Compose) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>
  /** Composes one page in its outlet's turn. */
  compose(page: StoredPage, options?: TaskOptions & { signal?: AbortSignal }): Promise<Composition>
  /** Ends all threads as soon as they have loaded. Pages that are being composed fail. */
  close(): Promise<void>
}

/**
 * MB of heap that a thread may use: enough for the largest page and everything that is made from
 * it. A thread that needs more is ended, and the process continues.
 */
const MEMORY = 768

interface ComposerOptions {
  /** Pages that are composed at the same time. */
  threads: number
  /** ms that one page may keep a thread; then the thread is ended and replaced. */
  timeout: number
  /** MB of heap that one page may use. */
  memory?: number
  /** The module that the threads run, for tests. */
  worker?: URL
  /** How signals of rights are read. */
  rules?: RightsRules
}

export const composerOptions = (config: Config): ComposerOptions => ({
  threads: config.NORMALISE_THREADS,
  timeout: config.NORMALISE_TIMEOUT,
  rules: rightsRules(config),
})

export function openComposer(options: ComposerOptions): Composer {
  const { threads, timeout, memory = MEMORY, rules } = options
  const pool = openThreads<ComposeTask, Composition>({
    worker: options.worker ?? new URL('./composer-worker.ts', import.meta.url),
    threads,
    timeout,
    memory,
  })
  const queue = createFairQueue(threads)

  const compose: Compose = async (page, { now = new Date(), ...options } = {}) => {
    const measured = composeSeconds.startTimer()
    try {
      return await pool.run({ page, now, options: { ...options, ...(rules && { rules }) } })
    } finally {
      measured()
    }
  }
  return {
    inTurn: (outlet, work, signal) => queue.take(outlet, () => work(compose), signal),
    compose: (page, { signal, ...options } = {}) =>
      queue.take(page.outlet.domain, () => compose(page, options), signal),
    close: () => pool.close(),
  }
}
