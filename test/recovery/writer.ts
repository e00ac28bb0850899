import { openIndexer } from '../../search/indexer.ts'
import type { NewArticle } from '../../search/indexing/article.ts'
import { openArticleWriter } from '../../search/indexing/writer.ts'
import { createPool, type Pool } from '../../shared/postgres/pool.ts'
import { PATIENT } from '../database.ts'
import { until } from '../fleet.ts'
import { newArticle } from '../search/short-articles.ts'

export interface Writer {
  pool: Pool
  /** Titles of the articles whose transactions have committed. */
  titles: string[]
  /** Waits until so many more are there. */
  more(count: number): Promise<void>
  stop(): Promise<void>
}

/** Writes batches of articles without a pause, until it is stopped. */
export async function startWriter(url: string, name: string): Promise<Writer> {
  const pool = createPool(url, 'test', () => {}, PATIENT)
  const { write } = openArticleWriter({ pool, indexer: openIndexer(pool), embedDelay: 3_600_000 })
  const titles: string[] = []
  let stopped = false
  const loop = async () => {
    for (let batch = 0; !stopped; batch++) {
      const articles = [1, 2, 3].map(number => article(`${name} ${batch} ${number}`))
      await write(articles)
      titles.push(...articles.map(({ title }) => title))
    }
  }
  const looping = loop()
  return {
    pool,
    titles,
    async more(count) {
      const enough = titles.length + count
      await until(() => titles.length >= enough, 60_000)
    },
    async stop() {
      stopped = true
      await looping
      await pool.end()
    },
  }
}

function article(title: string): NewArticle {
  const address = `krant.example/${title.replaceAll(' ', '-')}`
  return newArticle(0, {
    ...{ url: `https://${address}`, addresses: [address], title, body: 'De gemeenteraad vergadert.' },
    publishedAt: new Date(),
  })
}
