import { readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { basename } from 'node:path'
import { Worker } from 'node:worker_threads'
import { type Pool, reasonOf } from '../postgres.ts'
import {
  type AheadSegment,
  openSegmentWriter,
  readCovered,
} from '../store/postgres-segment-writer.ts'
import type { SegmentWork } from '../store/segment-store.ts'
import type { Indexer } from '../types.ts'
import { endOfFlush, mergesDue, remainderToFlush, SEGMENT_SIZES } from './policy.ts'
import {
  type ImportedArticles,
  KINDS,
  type MadeSegment,
  type MakeOptions,
  type SegmentEvents,
} from './segments.ts'

/*
 * Threads make segments, because building one takes seconds of computing. Flushes, merges and
 * imports have a thread each, so a flush never waits for a merge. Each thread starts with its first
 * task.
 */

/**
 * ms for which a segment is stored before searches use it. Searching processes look for such
 * segments five times a second, and read them. To read one took 155 to 462 ms beside 1,200 requests
 * a second.
 */
export const AHEAD = 1_000

/** ms for which an idle thread is kept. Under load flushes come every few seconds. */
const KEEP_ALIVE = 60_000

/**
 * Starts flushes and merges when they are due, in threads and on connections of their own.
 *
 * @param module the file that a thread runs; it calls `serveSegments`
 */
export function createScheduler(
  pool: Pool,
  module: string,
  events: SegmentEvents,
): Omit<Indexer, 'rebuild'> {
  const writer = openSegmentWriter(pool)
  const threads = createThreads(pool, module, events)
  /**
   * The scheduler looks at the database again when an article with this `seq` exists: once for
   * flushes, once for merges.
   */
  let nextLook = 0n
  let nextMergeLook = 0n
  let flushing: Promise<void> | null = null
  /** 'again': another merge was requested during the running merge. */
  let merging: 'no' | 'yes' | 'again' = 'no'

  const isMergeDue = async () =>
    mergesDue(await writer.readRanges(), SEGMENT_SIZES).length > 0 ||
    (await writer.readUncleared()).length > 0

  async function flushIfDue(last: bigint): Promise<void> {
    const covered = await readCovered(pool)
    if (flushing !== null) return
    nextLook = endOfFlush(covered, SEGMENT_SIZES)
    if (last < nextLook) return
    // Another process may be flushing. This process then finds nothing to do, and does not look
    // again after each batch.
    nextLook = last + SEGMENT_SIZES.flushed / 4n
    flushing = threads.run('flush').then(() => {
      flushing = null
      // Stored segments can be merged even if no more articles come.
      void mergeIfDue()
    })
  }

  async function mergeIfDue(): Promise<void> {
    if (merging !== 'no') {
      merging = 'again'
      return
    }
    do {
      merging = 'yes'
      // This look may fail, for instance because the pool is closed. The next batch looks again.
      if (await isMergeDue().catch(() => false)) await threads.run('merge')
      // A flush that ended meanwhile may have made another merge due.
    } while (isMergeAskedAgain())
    merging = 'no'
  }
  const isMergeAskedAgain = () => merging === 'again'

  return {
    async notify(last) {
      if (flushing === null && last >= nextLook) await flushIfDue(last)
      // Merges do not wait for the end of a flush, because under load a flush is always running.
      if (last >= nextMergeLook) {
        nextMergeLook = last + SEGMENT_SIZES.flushed / 4n
        void mergeIfDue()
      }
    },
    async finish(how = 'due') {
      const last = await writer.readLastSeq()
      await holdingProcess(flushing)
      await holdingProcess(how === 'due' ? threads.runAll() : threads.runUpTo(last))
    },
    imported: {
      build: articles => holdingProcess(threads.build(articles)),
      async cover() {
        const last = await writer.readLastSeq()
        if (remainderToFlush(await writer.readRanges(), last, SEGMENT_SIZES) === null) return
        await holdingProcess(threads.cover(last))
      },
      async merge() {
        const ranges = await writer.readRanges()
        if (mergesDue(ranges, SEGMENT_SIZES).length > 0) await holdingProcess(threads.merge())
      },
    },
    close: threads.close,
  }
}

type ThreadKey = SegmentWork | 'import' | 'all'

/** The threads of a scheduler, each started when it is first needed. */
function createThreads(pool: Pool, module: string, events: SegmentEvents) {
  const threads = new Map<ThreadKey, SegmentThread>()
  const threadOf = (key: ThreadKey): SegmentThread => {
    // A merge is rare. Its hundreds of megabytes are freed when its thread ends.
    const data = { lowPriority: key !== 'all' && key !== 'import', opensThread: key === 'import' }
    const thread =
      threads.get(key) ?? createSegmentThread(module, data, key === 'merge' ? 0 : KEEP_ALIVE)
    threads.set(key, thread)
    return thread
  }
  let closed = false
  const run = async (
    key: ThreadKey,
    task: Omit<MakeTask, 'url'>,
    how: 'run' | 'runBeside' = 'run',
  ): Promise<void> => {
    const url = pool.options.connectionString
    if (url === undefined || closed) return
    const { made, failure } = await threadOf(key)[how]({ url, ...task })
    for (const one of made) events.made(one)
    if (failure !== null && !closed) events.failed(task.kinds, failure.message)
  }
  const runGently = (kind: SegmentWork, own: Pick<MakeTask, 'waitFor' | 'flushTo'> = {}) =>
    run(kind, { ...own, kinds: [kind], gently: true, ahead: AHEAD })
  return {
    /** Makes the due segments of one kind. Gives way to all other work. */
    run: (kind: SegmentWork) => runGently(kind),
    /** Makes all due segments. Waits for other processes that make segments. */
    runAll: () => run('all', { kinds: KINDS, waitFor: KINDS }),
    /** Flushes the last articles, when no more will come. Gives way to all other work. */
    runUpTo: (last: bigint) => runGently('flush', { waitFor: ['flush'], flushTo: last }),
    async build(articles: ImportedArticles): Promise<AheadSegment> {
      const url = pool.options.connectionString ?? ''
      const start = performance.now()
      const { ahead, failure } = await threadOf('import').run({ url, articles })
      if (ahead === null) throw new SegmentError(failure)
      events.made({
        kind: 'import',
        articles: articles.sources.length,
        ms: performance.now() - start,
      })
      return ahead
    },
    cover: (last: bigint) => run('import', { kinds: ['flush'], waitFor: ['flush'], flushTo: last }),
    /**
     * Makes due merges in the thread that has the words of imported segments. A merge mostly waits
     * for the other thread and for Postgres, so segments are built beside it.
     */
    merge: () => run('import', { kinds: ['merge'], ahead: AHEAD, keepsWords: true }, 'runBeside'),
    async close() {
      closed = true
      await Promise.all(threads.values().map(thread => thread.close()))
    },
  }
}

/**
 * Waits for a thread, and keeps the process running meanwhile. A thread alone does not keep it
 * running.
 */
async function holdingProcess<T>(work: T | Promise<T>): Promise<T> {
  const holding = setInterval(() => {}, 1_000)
  try {
    return await work
  } finally {
    clearInterval(holding)
  }
}

/** A task for a thread: due segments, or one segment of an import. */
export type Task = MakeTask | { url: string; articles: ImportedArticles }

export interface MakeTask extends Omit<MakeOptions, 'knownWords' | 'ngrams' | 'onMade'> {
  url: string
  kinds: readonly SegmentWork[]
  /** Keeps the words of flushed segments for the merge, as long as the thread lives. */
  keepsWords?: boolean
}

/** The segments that the thread has made. `failure`: the error that stopped it. */
export interface TaskResult {
  made: MadeSegment[]
  /** The segment of an import; null for other tasks, and after a failure. */
  ahead: AheadSegment | null
  failure: Failure | null
}

/** An error that a thread reports. Its code tells whether the work may be tried again. */
interface Failure {
  message: string
  code?: string
}

export function failureOf(error: unknown): Failure {
  const hasCode = error instanceof Error && 'code' in error && typeof error.code === 'string'
  return { message: reasonOf(error), ...(hasCode && { code: String(error.code) }) }
}

class SegmentError extends Error {
  override name = 'SegmentError'
  readonly code: string | undefined
  constructor(failure: Failure | null) {
    super(`a segment could not be built: ${failure?.message ?? 'its thread made none'}`)
    this.code = failure?.code
  }
}

/** The `workerData` of a thread that makes segments. */
interface SegmentThreadData {
  makesSegments: true
  lowPriority: boolean
  /** This thread starts another thread, which makes the n-grams. */
  opensThread: boolean
}

export const isSegmentThread = (data: unknown): data is SegmentThreadData =>
  typeof data === 'object' && data !== null && 'makesSegments' in data

/** A message to the thread. The answer has the same number. */
export type Question = { id: number; task: Task }
export type Answer = { id: number; result: TaskResult }

interface SegmentThread {
  /**
   * Runs a task. Resolves when the thread has ended it. Searches find the articles of a failed
   * segment in memory, and a later task makes that segment.
   */
  run(task: Task): Promise<TaskResult>
  /** Runs a task beside the others: neither waits for the other. */
  runBeside(task: Task): Promise<TaskResult>
  /** Ends the running tasks. Tasks that wait never begin. */
  close(): Promise<void>
}

/**
 * A thread that makes segments, one task at a time, and at most one beside it. Other tasks wait in
 * their order. The thread does not keep the process running.
 *
 * @param data.lowPriority lowers the priority of the thread, which cannot raise it again
 * @param keepAlive ms to keep the idle thread. A new thread spends a third of its first half minute
 *   on compiling.
 */
function createSegmentThread(
  module: string,
  data: Omit<SegmentThreadData, 'makesSegments'>,
  keepAlive: number,
): SegmentThread {
  let worker: Worker | null = null
  /**
   * Resolves when the thread has loaded its modules or has ended. It reports the loading with the
   * id 0, which no question has.
   */
  let loaded: Promise<unknown> = Promise.resolve()
  let idle: NodeJS.Timeout | undefined
  /** The error that ended the thread. */
  let crash: unknown
  let closed = false
  let questions = 0
  let running = 0
  /** Resolves with the last requested task. It never rejects. */
  let last: Promise<unknown> = Promise.resolve()
  let lastBeside: Promise<unknown> = Promise.resolve()
  const start = () => {
    const started = new Worker(new URL(module), {
      workerData: { makesSegments: true, ...data } satisfies SegmentThreadData,
    })
    crash = undefined
    loaded = new Promise(resolve => {
      const answered = ({ id }: Answer) => {
        if (id === 0) resolve(id)
      }
      started.on('message', answered).once('exit', resolve)
    })
    return started
      .on('error', error => {
        crash = error
      })
      .on('exit', () => {
        if (worker === started) worker = null
      })
  }
  const end = async () => {
    const ending = worker
    worker = null
    ending?.ref()
    // Node crashes when a thread is ended while it loads its modules.
    await loaded
    await ending?.terminate()
  }
  async function perform(task: Task): Promise<TaskResult> {
    clearTimeout(idle)
    running++
    let result: TaskResult
    try {
      if (closed) throw new Error('the process ends')
      worker ??= start()
      result = await answerOf(worker, { id: ++questions, task }, () => crash)
    } catch (error) {
      result = { made: [], ahead: null, failure: failureOf(error) }
    }
    running--
    if (keepAlive === 0) await end()
    else if (running === 0) {
      idle = setTimeout(end, keepAlive)
      idle.unref()
    }
    return result
  }
  return {
    run(task) {
      const result = last.then(() => perform(task))
      last = result
      return result
    },
    runBeside(task) {
      const result = lastBeside.then(() => perform(task))
      lastBeside = result
      return result
    },
    async close() {
      closed = true
      await end()
      await Promise.all([last, lastBeside])
      clearTimeout(idle)
    },
  }
}

function answerOf(worker: Worker, question: Question, crash: () => unknown): Promise<TaskResult> {
  return new Promise((resolve, reject) => {
    const done = () => worker.off('message', answered).off('exit', ended)
    const answered = ({ id, result }: Answer) => {
      if (id !== question.id) return
      done()
      resolve(result)
    }
    const ended = () => {
      done()
      reject(crash() ?? new Error('its thread was ended'))
    }
    worker.on('message', answered).on('exit', ended)
    worker.unref()
    worker.postMessage(question)
  })
}

/** A nice value, from 0 to 19. At 10 a thread gets a tenth of a core that another thread wants. */
const LOW_PRIORITY = 10

/**
 * Lowers the priority of this thread for good, because only root may raise it again. On Linux a
 * priority belongs to a thread, and threads that it starts later inherit it. On other systems this
 * does nothing.
 */
export function lowerPriority(): void {
  try {
    const thread = Number(basename(readlinkSync('/proc/thread-self')))
    if (getPriority(thread) < LOW_PRIORITY) setPriority(thread, LOW_PRIORITY)
  } catch {}
}
