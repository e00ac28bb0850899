import { randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import { NO_FILTERS, openIndex } from '#search/index'
import { openIndexer } from '#search/indexer'
import { openArticleWriter } from '#search/indexing/writer'
import type { ArticleRow, NewArticle, Pool } from '#search/types'
import type { SemanticQuery, SemanticSearch } from '#services/api/semantic/query'
import { openSemanticSearch } from '#services/api/semantic/search'
import { type Config, readConfig } from '#shared/config/config'
import { createLogger } from '#shared/log/logger'
import { countOf, createPool } from '#shared/postgres/pool'
import { SEGMENT_THREAD } from '#shared/postgres/segment-thread'
import { createTestDatabase, PATIENT } from '#test/database'
import { createFleet, type Fleet, until } from '#test/fleet'
import { newArticle } from '#test/search/short-articles'
import { startTestServers } from '#test/servers'
import { readUrlsOf } from '#test/standbys/reading'
import { startWordModel, type WordModel } from './word-model.ts'

/** A database, a vector store and a model of one test's own. */
export interface World {
  env: Record<string, string>
  config: Config
  pool: Pool
  model: WordModel
  fleet: Fleet
  close(): Promise<void>
  /** How many articles are noted as embedded. */
  noted(): Promise<number>
  /** Indexes articles with the promise of their embeddings; returns their numbers. */
  index(articles: Partial<NewArticle>[], embedDelay?: number): Promise<bigint[]>
  /** A semantic search as a process of its own would have it. */
  openSearch(own?: Record<string, string>): Promise<SemanticSearch<ArticleRow>>
  /** Waits until so many articles are embedded. */
  embedded(count: number, ms?: number): Promise<void>
}

/**
 * @param test closes the world when it ends; null: the caller does
 * @param settings on top of the world's own
 * @param reach how everybody reaches the database, when not directly
 */
export async function createWorld(
  test: Pick<Test, 'teardown'> | null,
  settings: Record<string, string> = {},
  reach: (databaseUrl: string) => string = url => url,
): Promise<World> {
  const database = await createTestDatabase()
  const url = reach(database.url)
  // `npm test` brings Qdrant; a test file run alone starts one.
  const servers = process.env.QDRANT_URL ? null : await startTestServers({ servers: ['qdrant'] })
  const model = await startWordModel()
  const env: Record<string, string> = {
    DATABASE_URL: url,
    DATABASE_READ_URL: readUrlsOf(database.url).join(),
    QDRANT_URL: servers?.addresses.QDRANT_URL ?? process.env.QDRANT_URL ?? '',
    QDRANT_API_KEY: servers?.settings.QDRANT_API_KEY ?? process.env.QDRANT_API_KEY ?? '',
    QDRANT_COLLECTION: `test-${randomBytes(4).toString('hex')}`,
    EMBEDDINGS_URL: model.url,
    EMBEDDINGS_API_KEY: '',
    EMBEDDINGS_API: 'openai',
    EMBEDDINGS_MODEL: 'words',
    EMBED_DELAY: '0',
    REDIS_URL: '',
    ...settings,
  }
  const config = readConfig(env)
  const pool = createPool(url, 'test', () => {}, PATIENT)
  const fleet = createFleet(env)
  let made = 0
  const indexer = openIndexer(pool, SEGMENT_THREAD)
  const noted = () =>
    countOf(pool, 'select count(*)::int from embeddings where embedded_at is not null')
  async function close(): Promise<void> {
    await fleet.stop()
    await pool.end()
    await model.stop()
    await servers?.stop()
    await database.drop()
  }
  test?.teardown(close)
  return {
    env,
    config,
    pool,
    model,
    fleet,
    close,
    noted,
    async index(articles: Partial<NewArticle>[], embedDelay = 0): Promise<bigint[]> {
      const writer = openArticleWriter({ pool, indexer, embedDelay })
      const results = await writer.write(
        articles.map(article => ({ ...articleNumber(++made), ...article })),
      )
      return results.flatMap(result => (result.outcome === 'indexed' ? [result.seq] : []))
    },
    openSearch: (own: Record<string, string> = {}) =>
      openSemanticSearch(
        readConfig({ ...env, ...own }),
        pool,
        openIndex(pool),
        createLogger('test', 'silent'),
      ),
    embedded: (count: number, ms = 60_000) =>
      until(
        async () => (await noted()) === count,
        ms,
        () =>
          `${count} articles were not embedded; ${fleet.members.map(member => member.log()).join('\n')}`,
      ),
  }
}

function articleNumber(number: number): NewArticle {
  return newArticle(number, {
    url: `https://dagkoerier.example/${number}`,
    addresses: [`dagkoerier.example/${number}`],
    title: `Artikel ${number}`,
    publishedAt: new Date(Date.UTC(2026, 0, 1) + number * 60_000),
    outlet: { name: 'De Dagkoerier', domain: 'dagkoerier.example' },
  })
}

/** A search over everything, with what a test sets apart. */
export function query(text: string, own: Partial<SemanticQuery> = {}): SemanticQuery {
  return {
    text,
    planCountries: ['NL', 'BE', 'LU'],
    ...NO_FILTERS,
    reach: { historyStart: new Date('2000-01-01'), publishedAfter: null, publishedBefore: null },
    sort: 'relevance',
    order: 'desc',
    perPage: 25,
    ...own,
  }
}

/** Name of the collection that serves. */
export const served = async ({ pool }: World): Promise<string> =>
  (
    await pool.query<{ name: string }>(
      `select name from vector_collections where state = 'serving'`,
    )
  ).rows[0]?.name ?? ''
