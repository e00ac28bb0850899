import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { basename } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { createPool } from '../../shared/postgres/pool.ts'
import { createKnownWords, type KnownWords } from './known-words.ts'
import { type MadeSegment, makeSegments } from './make-segments.ts'
import { SEGMENT_SIZES } from './policy.ts'
import type { Task, TaskResult } from './thread.ts'

// The thread that `thread.ts` starts.

/** From 0 to 19. At 10 a thread gets a tenth of a core that another one wants. */
const LOW_PRIORITY = 10

/** On Linux a priority belongs to a thread; elsewhere this thread keeps that of its process. */
function lowerPriority(): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), LOW_PRIORITY)
  } catch {}
}

if (workerData === true) lowerPriority()

parentPort?.on('message', (task: Task) => {
  void run(task).then(result => parentPort?.postMessage(result))
})

let knownWords: KnownWords | undefined

async function run({ url, kinds, waitFor, paced, keepsWords }: Task): Promise<TaskResult> {
  const made: MadeSegment[] = []
  if (keepsWords) knownWords ??= createKnownWords()
  // A pool for each task: an idle thread holds no connections.
  const pool = createPool(url, 'indexer', () => {}, { max: 2, statementTimeout: 0 })
  try {
    await makeSegments(pool, SEGMENT_SIZES, {
      ...{ kinds, waitFor, gently: paced, onMade: one => made.push(one) },
      ...(keepsWords && knownWords && { knownWords }),
    })
    return { made, failure: null }
  } catch (error) {
    return { made, failure: error instanceof Error ? error.message : String(error) }
  } finally {
    await pool.end()
  }
}
