import { Worker } from 'node:worker_threads'
import type { SegmentWork } from '../store/segment-store.ts'
import type { MadeSegment } from './make-segments.ts'

/** A task for the thread. */
export interface Task {
  url: string
  kinds: readonly SegmentWork[]
  waitFor: readonly SegmentWork[]
  /** Works for a part of the time only, where that is enough. */
  paced: boolean
  /** ms for which searches can read a segment before they use it. */
  ahead: number
  /**
   * Flushes all articles up to this `seq`, and no later ones; null: full segments of all articles.
   */
  flushTo: bigint | null
  /** Keeps the words of flushed segments for the merge, as long as the thread lives. */
  keepsWords: boolean
}

/** The segments that the thread has made; `failure`: why it made no more. */
export interface TaskResult {
  made: MadeSegment[]
  failure: string | null
}

/**
 * A thread that makes segments, one task at a time; the caller sees to that. It does not hold the
 * process.
 */
export interface SegmentThread {
  /**
   * Resolves when the thread is done. Searches find the articles of a failed segment in memory, and
   * a later task makes it.
   */
  run(task: Task): Promise<TaskResult>
  close(): Promise<void>
}

/**
 * @param options.gently gives way to all other work; a priority that was given up does not come
 *   back
 * @param options.keepAlive ms to keep the idle thread: a new one compiles for a third of its first
 *   half a minute
 */
export function createSegmentThread({ gently, keepAlive }: { gently: boolean; keepAlive: number }): SegmentThread {
  let worker: Worker | null = null
  let idle: NodeJS.Timeout | undefined
  /** Set by an error that ended the thread. */
  let crash: string | null = null
  const start = () => {
    const started = new Worker(new URL('./worker.ts', import.meta.url), { workerData: gently })
    crash = null
    return started
      .on('error', error => {
        crash = error instanceof Error ? error.message : String(error)
      })
      .on('exit', () => {
        if (worker === started) worker = null
      })
  }
  const end = async () => {
    const ending = worker
    worker = null
    await ending?.terminate()
  }
  return {
    async run(task) {
      clearTimeout(idle)
      let result: TaskResult
      try {
        worker ??= start()
        result = await resultOf(worker, task, () => crash)
      } catch (error) {
        result = { made: [], failure: error instanceof Error ? error.message : String(error) }
      }
      if (keepAlive === 0) void end()
      else {
        idle = setTimeout(end, keepAlive)
        idle.unref()
      }
      return result
    },
    async close() {
      clearTimeout(idle)
      await end()
    },
  }
}

function resultOf(worker: Worker, task: Task, crash: () => string | null): Promise<TaskResult> {
  return new Promise(resolve => {
    const done = (result: TaskResult) => {
      worker.off('message', done).off('exit', ended)
      resolve(result)
    }
    const ended = () => done({ made: [], failure: crash() })
    worker.on('message', done).on('exit', ended)
    worker.unref()
    worker.postMessage(task)
  })
}
