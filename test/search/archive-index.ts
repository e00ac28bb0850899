import type { Test } from 'tap'
import { SEARCH_SETTINGS } from '#search/index'
import { makeSegments, openIndexer } from '#search/indexer'
import { openArticleWriter } from '#search/indexing/writer'
import type { ArticleRow, Indexed, NewArticle, Pool, SearchIndex } from '#search/types'
import { SEGMENT_THREAD } from '#shared/postgres/segment-thread'
import { createTestDatabase, type TestDatabase } from '#test/database'
import { createRandom } from '#test/faults/random'
import { openTestReading } from '#test/standbys/reading'
import type { Known } from './oracle.ts'
import { randomArticles } from './random-articles.ts'
import { emptyTestArchive, openTestIndex } from './store.ts'

/** Sizes with which some dozen articles make several segments. */
export const FEW = { flushed: 16n, merged: 64n }

/** A database of its own with some articles in it. */
export interface ArchiveIndex {
  pool: Pool
  search: SearchIndex<ArticleRow>
  database: TestDatabase
  close(): Promise<void>
  /** Indexes more articles; gives back what became of them, without those known already. */
  add(articles: NewArticle[]): Promise<Known[]>
}

/** @param test closes the index when it ends; null: the caller does */
export async function openArchiveIndex(test: Pick<Test, 'teardown'> | null): Promise<ArchiveIndex> {
  const database = await createTestDatabase()
  const {
    pool,
    standbys,
    close: closePools,
  } = openTestReading(null, database.url, { settings: SEARCH_SETTINGS })
  const indexer = openIndexer(pool, SEGMENT_THREAD)
  const writer = openArticleWriter({ pool, indexer, embedDelay: 0 })
  const search = openTestIndex(pool, standbys)
  async function close(): Promise<void> {
    await indexer.close()
    await search.close()
    await emptyTestArchive(pool)
    await closePools()
    await database.drop()
  }
  test?.teardown(close)
  return {
    pool,
    search,
    database,
    close,
    async add(articles: NewArticle[]): Promise<Known[]> {
      const results: Indexed[] = []
      for (const part of parts(articles)) results.push(...(await writer.write(part)))
      const seqs = results.flatMap(result => (result.outcome === 'indexed' ? [result.seq] : []))
      const { rows } = await pool.query<{ seq: bigint; time: Date | null }>(
        'select seq, ingested_at as time from articles where seq = any ($1::bigint[])',
        [seqs],
      )
      const times = new Map(rows.map(({ seq, time }) => [seq, time]))
      return results.flatMap((result, at) => {
        if (result.outcome !== 'indexed') return []
        return [
          {
            ...articles[at]!,
            id: result.id,
            seq: result.seq,
            ingestedAt: times.get(result.seq) ?? null,
          },
        ]
      })
    },
  }
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
