import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { basename } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { createPool } from '../../shared/postgres/pool.ts'
import { sealArticles } from './flush-and-merge.ts'
import { SEGMENT_SIZES } from './policy.ts'
import type { SealingEnd, SealingTask } from './thread.ts'

// The thread that `thread.ts` starts.

/** From 0 to 19: at 10 a thread gets a tenth of a core that another wants. Articles without a segment are found as well. */
const GIVES_WAY = 10

/** On Linux priorities belong to threads; elsewhere this one has that of its process. */
function giveWay(): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), GIVES_WAY)
  } catch {}
}

const gently: boolean = workerData
if (gently) giveWay()

parentPort?.on('message', (task: SealingTask) => {
  void work(task).then(end => parentPort?.postMessage(end))
})

async function work({ url, ways, waits }: SealingTask): Promise<SealingEnd> {
  // Of its own for each task: an idle thread holds no connections.
  const pool = createPool(url, 'sealing', () => {}, { max: 2, statementTimeout: 0 })
  try {
    await sealArticles(pool, SEGMENT_SIZES, { ways, waits, gently })
    return { failure: null }
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) }
  } finally {
    await pool.end()
  }
}
