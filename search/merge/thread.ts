import { Worker } from 'node:worker_threads'
import type { Way } from './flush-and-merge.ts'

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

/**
 * Makes segments in one thread, one task at a time: the caller sees to that. The thread does not hold the process.
 *
 * @param options.gently gives way to everything else, for good: a priority that was given up does not come back
 * @param options.keep ms that it is kept without work: one that is new spends a third of its first half a minute on compiling
 */
export function createSealingThread({ gently, keep }: { gently: boolean; keep: number }): SealingThread {
  let worker: Worker | null = null
  let idle: NodeJS.Timeout | undefined
  const start = () => {
    const started = new Worker(new URL('./worker.ts', import.meta.url), { workerData: gently })
    const forget = () => {
      if (worker === started) worker = null
    }
    return started.on('error', warn).on('exit', forget)
  }
  const end = () => {
    void worker?.terminate()
    worker = null
  }
  return {
    async seal(task) {
      clearTimeout(idle)
      try {
        worker ??= start()
        const { failure } = await done(worker, task)
        if (failure !== null) warn(new Error(failure))
      } catch (error) {
        warn(error instanceof Error ? error : new Error(String(error)))
      }
      if (keep === 0) return end()
      idle = setTimeout(end, keep)
      idle.unref()
    },
  }
}

function done(worker: Worker, task: SealingTask): Promise<SealingEnd> {
  return new Promise(resolve => {
    const end = (said: SealingEnd) => {
      worker.off('message', end).off('exit', ended)
      resolve(said)
    }
    // Why it ended, an error has said.
    const ended = () => end({ failure: null })
    worker.on('message', end).on('exit', ended)
    worker.unref()
    worker.postMessage(task)
  })
}

function warn(error: Error): void {
  process.emitWarning(`Segments could not be made: ${error.message}`)
}
