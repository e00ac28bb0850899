import { Worker } from 'node:worker_threads'
import type { Way } from './sealing.ts'

/** What the thread is told to do. */
export interface SealingTask {
  url: string
  ways: readonly Way[]
  /** Those that somebody waits for. */
  waits: readonly Way[]
}

/** What the thread says when it is done: why not all was made. */
export type SealingEnd = { failure: string | null }

/** A thread that makes segments. */
export interface SealingThread {
  /** Resolves when the thread is done, in whatever way: searches find the articles without a segment too, and whoever indexes next tries again. */
  seal(task: SealingTask): Promise<void>
}

/** ms that a thread without work is kept: one that is new spends a third of its first half a minute on compiling. */
const IDLE = 60_000

/**
 * One task at a time; the caller sees to that.
 *
 * @param gently gives way to everything else, for good: a priority that was given up does not come back
 */
export function createSealingThread(gently: boolean): SealingThread {
  let worker: Worker | null = null
  let idle: NodeJS.Timeout | undefined
  const start = () => {
    const started = new Worker(new URL('./worker.ts', import.meta.url), { workerData: gently })
    const forget = () => {
      if (worker === started) worker = null
    }
    return started.on('error', warn).on('exit', forget)
  }
  return {
    async seal(task) {
      clearTimeout(idle)
      try {
        worker ??= start()
        const { failure } = await done(worker, task, gently)
        if (failure !== null) warn(new Error(failure))
      } catch (error) {
        warn(error instanceof Error ? error : new Error(String(error)))
      }
      idle = setTimeout(() => void worker?.terminate(), IDLE)
      idle.unref()
    },
  }
}

/** What nobody waits for does not hold the process; neither does a thread without work. */
function done(worker: Worker, task: SealingTask, gently: boolean): Promise<SealingEnd> {
  return new Promise(resolve => {
    const end = (said: SealingEnd) => {
      worker.off('message', end).off('exit', ended)
      worker.unref()
      resolve(said)
    }
    // Why it ended, an error has said.
    const ended = () => end({ failure: null })
    worker.on('message', end).on('exit', ended)
    if (gently) worker.unref()
    else worker.ref()
    worker.postMessage(task)
  })
}

function warn(error: Error): void {
  process.emitWarning(`Segments could not be made: ${error.message}`)
}
