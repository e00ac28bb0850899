import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { basename } from 'node:path'
import { workerData } from 'node:worker_threads'
import { createPool } from '../postgres/pool.ts'
import type { SealingTask } from './background.ts'
import { SEGMENT_SIZES } from './planning.ts'
import { sealArticles } from './sealing.ts'

// The thread that `background.ts` starts.

/** From 0 to 19: at 10 a thread gets a tenth of a core that another wants. Articles without a segment are found as well. */
const GIVES_WAY = 10

/** On Linux priorities belong to threads; elsewhere this one has that of its process. */
function giveWay(): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), GIVES_WAY)
  } catch {}
}

const { url, ways, waits }: SealingTask = workerData
const gently = waits.length === 0
if (gently) giveWay()
const pool = createPool(url, 'sealing', () => {}, { max: 2, statementTimeout: 0 })
try {
  await sealArticles(pool, SEGMENT_SIZES, { ways, waits, gently })
} finally {
  await pool.end()
}
