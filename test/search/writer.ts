import { setTimeout } from 'node:timers/promises'
import { openIndexer } from '#search/indexer'
import { openImporter } from '#search/indexing/import'
import { openArticleWriter } from '#search/indexing/writer'
import { createPool } from '#shared/postgres/pool'
import { SEGMENT_THREAD } from '#shared/postgres/segment-thread'
import { PATIENT } from '#test/database'
import { createRandom } from '#test/faults/random'
import { randomArticles } from './random-articles.ts'

/*
 * One of several processes that index at the same time, at random speed:
 * `writer.ts URL SEED MS [import]`. With `import` its articles come in segments.
 * Its transactions are open for a random while before they take the clock, as a normaliser's are
 * that marks its pages.
 */
const [url = '', seed = '1', duration = '1000', imports] = process.argv.slice(2)
const random = createRandom(Number(seed))
const pool = createPool(url, 'writer', () => {}, { max: 2, ...PATIENT })
const indexer = openIndexer(pool, SEGMENT_THREAD)
const writer = openArticleWriter({ pool, indexer, embedDelay: 0 })
const importer = openImporter({
  pool,
  writer,
  indexer,
  embedDelay: 0,
  written() {},
  sizes: { most: 40, least: 20, text: 1_000_000 },
})
const end = Date.now() + Number(duration)
for (let batch = 0; Date.now() < end; batch++) {
  const articles = randomArticles(random, 1 + random.below(8)).map((article, index) => {
    delete article.ingestedAt
    const address = `writer${seed}.example/${batch}/${index}`
    return { ...article, url: `https://${address}`, addresses: [address] }
  })
  if (imports === 'import') await importer.add(articles)
  else await writer.write(articles, { within: () => setTimeout(random.below(25)) })
  await setTimeout(random.below(10))
}
await importer.flush()
await indexer.close()
await pool.end()
