import { setTimeout as pause } from 'node:timers/promises'
import { openIndexer } from '../../search/indexer.ts'
import { BATCH, openArticleWriter } from '../../search/indexing/writer.ts'
import type { Client } from '../../shared/postgres/pool.ts'
import { createPool } from '../../shared/postgres/pool.ts'
import { SEGMENT_THREAD } from '../../shared/postgres/segment-thread.ts'
import { createCorpus } from '../search/generator.ts'

// A process that writes articles as a normaliser does: batches through the article writer, which
// also makes segments. Arguments: the database, the rows of its corpus, the number of the first
// article, articles a second, and for how many seconds. It says "ready" when it has generated them
// and begins to write, and sends the result in the end.

/** The result of the writer. */
export interface Written {
  articles: number
  /** ms of each transaction, from its begin to its commit. */
  transactions: number[]
  /** ms of each batch, from the call to the return. */
  batches: number[]
}

const [url = '', ...numbers] = process.argv.slice(2)
const [rows = 0, from = 0, perSecond = 0, seconds = 0] = numbers.map(Number)
const pool = createPool(url, 'bench writer', () => {})
const articleWriter = openArticleWriter({ pool, indexer: openIndexer(pool, SEGMENT_THREAD), embedDelay: 7_200_000 })

/** When a connection was taken, and whether a batch's transaction took it. */
const taken = new WeakMap<Client, { at: number; batch: boolean }>()
const written: Written = { articles: 0, transactions: [], batches: [] }
pool.on('acquire', client => void taken.set(client, { at: performance.now(), batch: false }))
pool.on('release', (_error, client) => {
  const use = taken.get(client)
  if (use?.batch) written.transactions.push(performance.now() - use.at)
})

// The clock stamps them, as it stamps crawled articles.
const ready = createCorpus(rows)
  .articles(from, from + perSecond * seconds + BATCH)
  .map(({ ingestedAt: _, ...article }) => article)
process.on('disconnect', () => process.exit(0))
process.send?.('ready')
const start = performance.now()
while (performance.now() - start < seconds * 1_000) {
  await pause(Math.max(0, start + (written.articles / perSecond) * 1_000 - performance.now()))
  const begun = performance.now()
  await articleWriter.write(ready.slice(written.articles, written.articles + BATCH), {
    within: async client => {
      const use = taken.get(client)
      if (use !== undefined) use.batch = true
    },
  })
  written.batches.push(performance.now() - begun)
  written.articles += BATCH
}
process.send?.(written)
