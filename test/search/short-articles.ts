import { type Indexer, openIndexer } from '#search/indexer'
import { openArticleWriter } from '#search/indexing/writer'
import type { ArticleWriter, NewArticle, Pool } from '#search/types'
import { SEGMENT_THREAD } from '#shared/postgres/segment-thread'

/** An article of a title alone, which has the word "gemeente" and one of its own. */
export function newArticle(number: number, more: Partial<NewArticle> = {}): NewArticle {
  return {
    title: `Gemeente woord${number}`,
    body: null,
    url: `https://example.org/${number}`,
    addresses: [`https://example.org/${number}`],
    publishedAt: new Date(Date.parse('2026-03-01T12:00:00Z') + number * 1_000),
    authors: [],
    outlet: { name: 'Voorbeeld', domain: 'example.org' },
    country: 'NL',
    language: 'nl',
    ...more,
  }
}

/** So many of them, so that thousands are soon there. */
export const shortArticles = (from: number, count: number): NewArticle[] =>
  Array.from({ length: count }, (_, at) => newArticle(from + at))

/** A writer of articles with the indexer that is told of them; `write` of the writer alone. */
export function openTestWriter(
  pool: Pool,
  embedDelay = 0,
): { indexer: Indexer; writer: ArticleWriter; write: ArticleWriter['write'] } {
  const indexer = openIndexer(pool, SEGMENT_THREAD)
  const writer = openArticleWriter({ pool, indexer, embedDelay })
  return { indexer, writer, write: writer.write }
}
