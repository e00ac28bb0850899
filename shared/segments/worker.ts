import { workerData } from 'node:worker_threads'
import { createPool } from '../postgres/pool.ts'
import { sealArticles } from './sealing.ts'

// The thread that `background.ts` starts.
const pool = createPool(workerData.url, 'sealing', () => {}, { max: 2, statementTimeout: 0 })
try {
  await sealArticles(pool)
} finally {
  await pool.end()
}
