import { setTimeout as pause } from 'node:timers/promises'
import { openIndexer } from '../../search/indexer.ts'
import { BATCH, openArticleWriter } from '../../search/indexing/writer.ts'
import type { Client } from '../../shared/postgres/pool.ts'
import { createPool } from '../../shared/postgres/pool.ts'
import { createArchive } from '../search/generator.ts'
import type { Job, Making, Written } from './messages.ts'

// A process that writes articles as a normaliser does: batches through the article writer, which
// also makes segments. Arguments: the database, and the rows of its archive.

const [url = '', rows = ''] = process.argv.slice(2)
const archive = createArchive(Number(rows))
const pool = createPool(url, 'bench writer', () => {})
const articleWriter = openArticleWriter({ pool, indexer: openIndexer(pool), embedDelay: 7_200_000 })

/** When a connection was taken, and whether a batch's transaction took it. */
const taken = new WeakMap<Client, { at: number; batch: boolean }>()
let transactions: number[] = []
pool.on('acquire', client => void taken.set(client, { at: performance.now(), batch: false }))
pool.on('release', (_error, client) => {
  const use = taken.get(client)
  if (use?.batch) transactions.push(performance.now() - use.at)
})

process.on('disconnect', () => process.exit(0))
/** Articles generated ahead, from the first of the next job on. */
let ready: ReturnType<typeof archive.articles> = []

process.on('message', (order: Job | Making) => {
  if ('articles' in order) {
    ready = archive.articles(order.from, order.from + order.articles)
    process.send?.('made')
    return
  }
  write(order).then(
    written => process.send?.(written),
    error => {
      process.stderr.write(`The writer failed: ${error instanceof Error ? error.message : error}\n`)
      process.exit(1)
    },
  )
})
process.send?.('ready')

async function write({ perSecond, seconds, from }: Job): Promise<Written> {
  const batches: number[] = []
  transactions = []
  const start = performance.now()
  let making = 0
  let articles = 0
  for (; performance.now() - start - making < seconds * 1_000; articles += BATCH) {
    if (perSecond !== null) await pause(Math.max(0, start + (articles / perSecond) * 1_000 - performance.now()))
    const before = performance.now()
    // The clock stamps them, as it stamps crawled articles.
    const made = articles + BATCH <= ready.length
    const batch = (
      made ? ready.slice(articles, articles + BATCH) : archive.articles(from + articles, from + articles + BATCH)
    ).map(({ ingestedAt: _, ...article }) => article)
    const begun = performance.now()
    if (perSecond === null) making += begun - before
    await articleWriter.write(batch, {
      within: async client => {
        const use = taken.get(client)
        if (use !== undefined) use.batch = true
      },
    })
    batches.push(performance.now() - begun)
  }
  ready = []
  return { articles, ms: performance.now() - start - making, transactions, batches }
}
