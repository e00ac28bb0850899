import type { Test } from 'tap'
import { SEARCH_SETTINGS, type SearchIndex } from '../../search/index.ts'
import { makeSegments, openIndexer } from '../../search/indexer.ts'
import type { Indexed, NewArticle } from '../../search/indexing/article.ts'
import { openArticleWriter } from '../../search/indexing/writer.ts'
import type { Pool } from '../../shared/postgres/pool.ts'
import { createTestDatabase, type TestDatabase } from '../database.ts'
import { createRandom } from '../faults/random.ts'
import { openTestReading } from '../standbys/reading.ts'
import { randomArticles } from './archive.ts'
import type { Known } from './oracle.ts'
import { emptyTestArchive, openTestIndex } from './store.ts'

/** Sizes with which some dozen articles make several segments. */
export const FEW = { flushed: 16n, merged: 64n }

/** A database of its own with some articles in it. */
export interface ArchiveIndex {
  pool: Pool
  search: SearchIndex
  database: TestDatabase
  /** Indexes more articles; gives back what became of them, without those known already. */
  add(articles: NewArticle[]): Promise<Known[]>
  /** The same, but says nothing of them. */
  addMany(articles: NewArticle[]): Promise<void>
  close(): Promise<void>
}

/** @param test closes the index when it ends; null: the caller does */
export async function openArchiveIndex(test: Pick<Test, 'teardown'> | null): Promise<ArchiveIndex> {
  const database = await createTestDatabase()
  const { pool, standbys, close } = openTestReading(null, database.url, { settings: SEARCH_SETTINGS })
  const indexer = openIndexer(pool)
  const writer = openArticleWriter({ pool, indexer, embedDelay: 0 })
  const search = openTestIndex(pool, standbys)
  const index: ArchiveIndex = {
    pool,
    search,
    database,
    async add(articles) {
      const results: Indexed[] = []
      for (const part of parts(articles)) results.push(...(await writer.write(part)))
      const known: Known[] = []
      for (const [index, result] of results.entries()) {
        if (result.outcome !== 'indexed') continue
        const { rows } = await pool.query<{ ingested_at: Date | null }>(
          'select ingested_at from articles where seq = $1',
          [result.seq],
        )
        known.push({ ...articles[index]!, id: result.id, seq: result.seq, ingestedAt: rows[0]!.ingested_at })
      }
      return known
    },
    async addMany(articles) {
      await writer.write(articles)
    },
    async close() {
      await indexer.close()
      await search.close()
      await emptyTestArchive(pool)
      await close()
      await database.drop()
    },
  }
  test?.teardown(() => index.close())
  return index
}

/** An index with four flushed segments of random articles. */
export async function openFlushed(
  test: Pick<Test, 'teardown'>,
  seed: number,
  options: Parameters<typeof makeSegments>[2] = {},
): Promise<ArchiveIndex> {
  const index = await openArchiveIndex(test)
  const articles = randomArticles(createRandom(seed), 200)
  for (let added = 0, at = 0; added < 64; at++) {
    added += (await index.add(articles.slice(at, at + 1))).length
    if (added % 16 === 0) await makeSegments(index.pool, FEW, { kinds: ['flush'], ...options })
  }
  return index
}

/**
 * A megabyte holds this process for a while: not while the transaction of those before it is open.
 */
function parts(articles: NewArticle[]): NewArticle[][] {
  const found: NewArticle[][] = [[]]
  for (const article of articles) {
    if ((article.body?.length ?? 0) > 50_000) found.push([article], [])
    else found.at(-1)!.push(article)
  }
  return found.filter(part => part.length > 0)
}
