import { parentPort, workerData } from 'node:worker_threads'
import { createPool } from '../../shared/postgres/pool.ts'
import { SEGMENT_SIZES } from './policy.ts'
import { lowerPriority, type Task, type TaskResult } from './scheduler.ts'
import { createKnownWords, type KnownWords, type MadeSegment, makeSegments } from './segments.ts'

// The thread that `thread.ts` starts.

if (workerData === true) lowerPriority()

parentPort?.on('message', (task: Task) => {
  void run(task).then(result => parentPort?.postMessage(result))
})

let knownWords: KnownWords | undefined

async function run({ url, kinds, waitFor, paced, ahead, flushTo, keepsWords }: Task): Promise<TaskResult> {
  const made: MadeSegment[] = []
  if (keepsWords) knownWords ??= createKnownWords()
  // A pool for each task: an idle thread holds no connections.
  const pool = createPool(url, 'indexer', () => {}, { max: 2, statementTimeout: 0 })
  try {
    await makeSegments(pool, SEGMENT_SIZES, {
      ...{ kinds, waitFor, gently: paced, ahead, onMade: one => made.push(one) },
      ...(flushTo !== null && { flushTo }),
      ...(keepsWords && knownWords && { knownWords }),
    })
    return { made, failure: null }
  } catch (error) {
    return { made, failure: error instanceof Error ? error.message : String(error) }
  } finally {
    await pool.end()
  }
}
