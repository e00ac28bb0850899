import type { Test } from 'tap'
import type { NewArticle, Pool } from '#search/types'
import type { ShownArticle } from '#services/api/articles/shown-article'
import { type SemanticSearch, SemanticUnavailable } from '#services/api/semantic/query'
import { openApiIndex, startApi } from '#services/api/serve'
import { openServers } from '#services/api/standbys/servers'
import { type Config, readConfig } from '#shared/config/config'
import { createLogger } from '#shared/log/logger'
import { type ApiKey, createKey, type Plan } from '#shared/plans/keys'
import { createPool } from '#shared/postgres/pool'
import { createTestDatabase, PATIENT } from '#test/database'
import { newArticle, openTestWriter } from '#test/search/short-articles'
import { emptyTestArchive, makeTestSegments, TEST_ARCHIVE } from '#test/search/store'
import { readUrlsOf } from '#test/standbys/reading'

/** A listening API on a database of its own. */
export interface TestApi {
  base: string
  pool: Pool
  config: Config
  /** Another API on the same database. */
  another(more?: Record<string, string>): Promise<{ base: string; stop(): Promise<void> }>
  issue(plan?: Partial<Plan>): Promise<{ key: ApiKey; secret: string }>
  /** Asks with a key; `path` with its query. */
  ask(secret: string | null, path: string, init?: RequestInit): Promise<Answered>
  /** Makes articles visible. Missing fields get defaults. */
  index(articles: (Partial<NewArticle> & { title: string })[]): Promise<void>
  stop(): Promise<void>
}

export interface Answered {
  status: number
  headers: Headers
  text: string
  // A type would claim what document.test.ts checks against the document. A field that is missing
  // is undefined, and fails the test that compares it.
  // biome-ignore lint/suspicious/noExplicitAny: each test says by its expectations what it holds
  json: any
}

/** What keys of tests have when a test says nothing else. */
export const PLAN: Plan = {
  countries: ['NL', 'BE', 'LU'],
  history: { kind: 'fixed', at: new Date('2020-01-01T00:00:00Z') },
  rate: 100_000,
  quota: null,
}

/** With an archive, where tests run on one. */
const ARCHIVE_SETTINGS: Record<string, string> =
  TEST_ARCHIVE === null
    ? {}
    : { OPENSEARCH_URL: TEST_ARCHIVE.nodes.join(), OPENSEARCH_INDEX: TEST_ARCHIVE.prefix }

/** Semantic search when no model is configured. */
export const noSemanticSearch: SemanticSearch<ShownArticle> = {
  async search() {
    throw new SemanticUnavailable('No model is configured.')
  },
  async candidates() {
    throw new SemanticUnavailable('No model is configured.')
  },
  around: async () => null,
  missing: async () => ({ model: 'is not configured' }),
  close: async () => {},
}

/**
 * Starts an API in this process, until the test ends: on a real port, on a real database.
 *
 * @param reach how the API reaches the database, when not directly; the test always connects
 * directly
 * @param indexOf opens the index of the API
 */
export async function startTestApi(
  test: Pick<Test, 'teardown'>,
  env: Record<string, string> = {},
  semantic: SemanticSearch<ShownArticle> = noSemanticSearch,
  reach: (databaseUrl: string) => Promise<string> = async url => url,
  indexOf = openApiIndex,
): Promise<TestApi> {
  const database = await createTestDatabase()
  const addresses = {
    DATABASE_URL: database.url,
    DATABASE_READ_URL: readUrlsOf(database.url).join(),
  }
  const config = readConfig({
    PORT: '0',
    LOG_LEVEL: 'silent',
    PUBLIC_URL: 'https://news.example',
    ...ARCHIVE_SETTINGS,
    ...env,
    ...addresses,
  })
  const start = async (own: Config) => {
    const log = createLogger('api', own.LOG_LEVEL)
    const servers = openServers(own, log)
    const api = await startApi(own, log, { ...servers, index: indexOf(servers, own), semantic })
    return { base: `http://127.0.0.1:${api.port}`, stop: () => api.stop() }
  }
  const api = await start({ ...config, DATABASE_URL: await reach(database.url) })
  const others = new Set<{ stop(): Promise<void> }>()
  const pool = createPool(database.url, 'test', () => {}, PATIENT)
  let numbered = 0
  const one = {
    base: api.base,
    pool,
    config,
    async another(more: Record<string, string> = {}) {
      const other = await start(
        readConfig({
          PORT: '0',
          LOG_LEVEL: 'silent',
          ...ARCHIVE_SETTINGS,
          ...env,
          ...more,
          ...addresses,
        }),
      )
      others.add(other)
      return {
        base: other.base,
        async stop() {
          others.delete(other)
          await other.stop()
        },
      }
    },
    issue: (plan?: Partial<Plan>) => createKey(pool, 'test', { ...PLAN, ...plan }),
    ask: (secret: string | null, path: string, init?: RequestInit) =>
      ask(`${api.base}${path}`, secret, init),
    async index(articles: (Partial<NewArticle> & { title: string })[]) {
      const complete = articles.map(article => completed(article, ++numbered))
      await openTestWriter(pool, 3_600_000).write(complete)
      if (TEST_ARCHIVE !== null) await makeTestSegments(pool, { flushed: 1n, merged: 8n })
    },
    async stop() {
      for (const other of others) await other.stop()
      await api.stop()
      await emptyTestArchive(pool)
      await pool.end()
      await database.drop()
    },
  }
  test.teardown(() => one.stop())
  return one
}

export interface Trains {
  api: TestApi
  at(time: string): { publishedAt: Date }
  secret: string
}

/** An API with a key and four articles, three of them of the days when clocks change. */
export async function startTrains(test: Pick<Test, 'teardown'>): Promise<Trains> {
  const api = await startTestApi(test)
  const at = (time: string) => ({ publishedAt: new Date(time) })
  const outlet = { name: 'L’Écho', domain: 'echo.example' }
  await api.index([
    {
      title: 'Trein rijdt weer',
      ...at('2026-03-29T00:30:00Z'),
      authors: ['Jan Jansen', 'Zoë Müller'],
    },
    { title: 'Trein staat stil', ...at('2026-03-29T01:30:00Z'), authors: ['Jan Janssens'] },
    { title: 'Le train', language: 'fr', country: 'BE', ...at('2026-03-31T22:30:00Z'), outlet },
    { title: 'Trein zonder datum', publishedAt: null, authors: ['Jan Jansen'] },
  ])
  return { api, at, secret: (await api.issue()).secret }
}

/** A request with a body as pages send it: as JSON; a text as it stands. */
export const sent = (
  method: string,
  body?: unknown,
  headers: Record<string, string> = {},
): RequestInit =>
  body === undefined
    ? { method }
    : {
        method,
        headers: { 'Content-Type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }

/** One request on a connection of its own, its answer read whole. */
export async function ask(
  url: string,
  secret: string | null,
  init: RequestInit = {},
): Promise<Answered> {
  const headers = new Headers(init.headers)
  if (secret !== null) headers.set('Authorization', `Bearer ${secret}`)
  const response = await fetch(url, { ...init, headers })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson && text !== '' ? JSON.parse(text) : null,
  }
}

function completed(article: Partial<NewArticle> & { title: string }, number: number): NewArticle {
  const url = article.url ?? `https://dagkoerier.example/artikel/${number}`
  return newArticle(number, {
    addresses: [url.replace(/^https?:\/\//, '')],
    publishedAt: new Date(Date.UTC(2026, 0, 1) + number * 60_000),
    outlet: { name: 'De Dagkoerier', domain: 'dagkoerier.example' },
    ...article,
    url,
  })
}
