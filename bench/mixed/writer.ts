import { setTimeout as pause } from 'node:timers/promises'
import { createCorpus } from '#bench/search/generator'
import { openIndexer } from '#search/indexer'
import { BATCH, openArticleWriter } from '#search/indexing/writer'
import type { Client } from '#shared/postgres/pool'
import { createPool } from '#shared/postgres/pool'
import { SEGMENT_THREAD } from '#shared/postgres/segment-thread'

// This process writes articles as a normaliser does: in batches through the article writer, which
// also makes segments. Its arguments are: the database, the rows of its corpus, the number of the
// first article, articles a second, and for how many seconds. It sends "ready" when it has
// generated the articles and begins to write. At the end it sends the result.

/** The result that the writer sends at its end. */
export interface Written {
  articles: number
  /** ms of each transaction, from when it took a connection until it released it. */
  transactions: number[]
  /** ms of each batch, from the call of the article writer until it returned. */
  batches: number[]
}

const [url = '', ...numbers] = process.argv.slice(2)
const [rows = 0, from = 0, perSecond = 0, seconds = 0] = numbers.map(Number)
const pool = createPool(url, 'bench writer', () => {})
const articleWriter = openArticleWriter({
  pool,
  indexer: openIndexer(pool, SEGMENT_THREAD),
  embedDelay: 7_200_000,
})

/** When a connection was taken from the pool, and whether a batch's transaction uses it. */
const taken = new WeakMap<Client, { at: number; batch: boolean }>()
const written: Written = { articles: 0, transactions: [], batches: [] }
pool.on('acquire', client => void taken.set(client, { at: performance.now(), batch: false }))
pool.on('release', (_error, client) => {
  const use = taken.get(client)
  if (use?.batch) written.transactions.push(performance.now() - use.at)
})

// The articles have no time of ingestion: the database's clock gives it, as it does for crawled
// articles.
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
