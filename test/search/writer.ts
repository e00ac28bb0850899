import { setTimeout } from 'node:timers/promises'
import { openIndexer } from '../../search/indexer.ts'
import { openArticleWriter } from '../../search/indexing/writer.ts'
import { createPool } from '../../shared/postgres/pool.ts'
import { PATIENT } from '../database.ts'
import { randomArticles } from './archive.ts'
import { createRandom } from './random.ts'

/*
 * One of several processes that index at the same time, at random speed:
 * `writer.ts URL SEED MS`.
 * Its transactions are open for a random while before they take the clock, as a normaliser's are
 * that marks its pages.
 */
const [url = '', seed = '1', duration = '1000'] = process.argv.slice(2)
const random = createRandom(Number(seed))
const pool = createPool(url, 'writer', () => {}, { max: 2, ...PATIENT })
const writer = openArticleWriter({ pool, indexer: openIndexer(pool), embedDelay: 0 })
const end = Date.now() + Number(duration)
for (let batch = 0; Date.now() < end; batch++) {
  const articles = randomArticles(random, 1 + random.below(8)).map((article, index) => {
    delete article.ingestedAt
    const address = `writer${seed}.example/${batch}/${index}`
    return { ...article, url: `https://${address}`, addresses: [address] }
  })
  await writer.write(articles, { within: () => setTimeout(random.below(25)) })
  await setTimeout(random.below(10))
}
await pool.end()
