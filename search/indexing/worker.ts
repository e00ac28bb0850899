import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import type { Pool } from '../postgres.ts'
import { createSegmentBuilder } from '../segment/builder.ts'
import { type NgramThread, openNgramThread } from '../segment/ngram-thread.ts'
import { type AheadSegment, openSegmentWriter } from '../store/postgres-segment-writer.ts'
import { SEGMENT_SIZES } from './policy.ts'
import {
  type Answer,
  failureOf,
  isSegmentThread,
  lowerPriority,
  type MakeTask,
  type Question,
  type Task,
  type TaskResult,
} from './scheduler.ts'
import {
  createKnownWords,
  type ImportedArticles,
  type KnownWords,
  type MadeSegment,
  makeSegments,
} from './segments.ts'

/**
 * Makes segments in a thread that the scheduler has started to make segments. Does nothing in other
 * threads.
 *
 * @param openPool called for each task, because an idle thread holds no connections
 */
export function serveSegments(openPool: (url: string) => Pool): void {
  if (isMainThread || !isSegmentThread(workerData)) return
  if (workerData.lowPriority) lowerPriority()
  if (workerData.opensThread) ngrams = openNgramThread()
  parentPort?.on('message', ({ id, task }: Question) => {
    void run(openPool(task.url), task).then(result =>
      parentPort?.postMessage({ id, result } satisfies Answer),
    )
  })
  // This runs after all modules have run, even those that import this module.
  setImmediate(async () => {
    await ngrams?.loaded
    parentPort?.postMessage({ id: 0, result: LOADED } satisfies Answer)
  })
}

/** Reports that the thread has loaded its modules. It answers no question. */
const LOADED: TaskResult = { made: [], ahead: null, failure: null }

let knownWords: KnownWords | undefined
let ngrams: NgramThread | undefined

async function run(pool: Pool, task: Task): Promise<TaskResult> {
  const made: MadeSegment[] = []
  try {
    const ahead =
      'articles' in task
        ? await buildImported(pool, task.articles)
        : await makeDue(pool, task, made)
    return { made, ahead, failure: null }
  } catch (error) {
    return { made, ahead: null, failure: failureOf(error) }
  } finally {
    await pool.end()
  }
}

async function makeDue(
  pool: Pool,
  { url: _, keepsWords, ...options }: MakeTask,
  made: MadeSegment[],
): Promise<null> {
  if (keepsWords) knownWords ??= createKnownWords()
  const words = keepsWords && knownWords ? { knownWords, ngrams, publishing: beforeBuilds } : {}
  await makeSegments(pool, SEGMENT_SIZES, { ...options, ...words, onMade: one => made.push(one) })
  return null
}

/** Makes a merged segment visible. It never rejects. */
let publishing: Promise<unknown> = Promise.resolve()

function beforeBuilds(publish: () => Promise<void>): Promise<void> {
  const published = publish()
  publishing = published.catch(() => {})
  return published
}

/** Builds the segment of an import and stores it ahead: searches do not use it yet. */
async function buildImported(
  pool: Pool,
  { sources, titles, bodies }: ImportedArticles,
): Promise<AheadSegment> {
  // To add the words takes most of a second, in which this thread can end no transaction. Other
  // processes may wait for this one.
  await publishing
  knownWords ??= createKnownWords()
  const builder = createSegmentBuilder(sources, 1n, { vocabulary: knownWords.vocabulary })
  sources.forEach(({ seq }, at) => {
    builder.addWords(seq, titles[at]!, bodies[at]!)
  })
  const texts = builder.knownTexts()
  const range = { first: 1n, last: BigInt(sources.length) }
  const segment = { range, articles: sources, built: await builder.build(ngrams) }
  const ahead = await openSegmentWriter(pool).prepareImported(segment)
  knownWords.keep(ahead.no, texts, segment)
  return ahead
}
