import { createPool } from '../../shared/postgres/pool.ts'
import { SEGMENT_THREAD } from '../../shared/postgres/segment-thread.ts'
import { createTestDatabase } from '../../test/database.ts'
import {
  type ArticleQuery,
  NO_FILTERS,
  openIndex,
  parseKeyword,
  SEARCH_SETTINGS,
} from '../index.ts'
import { openIndexer } from '../indexer.ts'
import type { NewArticle } from '../indexing/new-article.ts'
import { openArticleWriter } from '../indexing/writer.ts'
import type { ArticleWriter, SearchIndex } from '../types.ts'

/** The parts of an engine: one that writes, and one that searches. */
export interface Engine {
  writer: ArticleWriter
  index: SearchIndex
  close(): Promise<void>
}

/**
 * Runs `work` with a writer and an index in a new database, and drops the database afterwards. The
 * database is on the server of DATABASE_URL, or on a server that is started for the example.
 */
export async function withEngine(work: (engine: Engine) => Promise<void>): Promise<void> {
  const database = await createTestDatabase()
  const engine = openEngine(database.url)
  try {
    await work(engine)
  } finally {
    await engine.close()
    await database.drop()
  }
}

/** Opens the engine. The engine needs a pool, and the module of a thread that makes segments. */
function openEngine(url: string): Engine {
  const pool = createPool(url, 'example', error => console.error(error.message), {
    settings: SEARCH_SETTINGS,
  })
  const indexer = openIndexer(pool, SEGMENT_THREAD)
  const index = openIndex(pool)
  return {
    writer: openArticleWriter({ pool, indexer, embedDelay: 0 }),
    index,
    async close(): Promise<void> {
      await indexer.close()
      await index.close()
      await pool.end()
    },
  }
}

export function article(number: number, title: string, body: string | null = null): NewArticle {
  const url = `https://example.org/${number}`
  return {
    url,
    addresses: [url],
    title,
    body,
    publishedAt: new Date(Date.UTC(2026, 0, number)),
    authors: ['Jan Jansen'],
    outlet: { name: 'Voorbeeld', domain: 'example.org' },
    language: 'nl',
    country: 'NL',
  }
}

/** A search for words in title and body, the latest articles first. */
export function query(q: string, perPage = 5): ArticleQuery {
  const parsed = parseKeyword(q)
  if (!parsed.ok) throw new Error(parsed.errors.join(' '))
  return {
    ...NO_FILTERS,
    match: parsed.match,
    searchIn: 'title_body',
    reach: { historyStart: new Date(0), publishedAfter: null, publishedBefore: null },
    sort: 'published_at',
    order: 'desc',
    perPage,
  }
}
