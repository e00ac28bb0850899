import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
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
import { openPool } from './segment-thread.ts'

/** The parts of an engine: one that writes, and one that searches. */
export interface Engine {
  writer: ArticleWriter
  index: SearchIndex
}

const SCHEMA = new URL('../schema.sql', import.meta.url)
const THREAD = import.meta.resolve('./segment-thread.ts')

/**
 * Runs `work` with a writer and an index. Their tables stand in a schema of their own in the
 * database of DATABASE_URL, which is dropped afterwards. The engine needs a pool, and the module of
 * a thread that makes segments.
 */
export async function withEngine(work: (engine: Engine) => Promise<void>): Promise<void> {
  const url = new URL(process.env.DATABASE_URL || 'postgres://localhost/postgres')
  const schema = `search_example_${randomBytes(4).toString('hex')}`
  const settings = Object.entries({ search_path: schema, ...SEARCH_SETTINGS })
  url.searchParams.set('options', settings.map(([name, value]) => `-c ${name}=${value}`).join(' '))
  const pool = openPool(url.href)
  await pool.query(`create schema ${schema}`)
  await pool.query(await readFile(SCHEMA, 'utf8'))
  const indexer = openIndexer(pool, THREAD)
  const index = openIndex(pool)
  try {
    await work({ writer: openArticleWriter({ pool, indexer, embedDelay: 0 }), index })
  } finally {
    await indexer.close()
    await index.close()
    await pool.query(`drop schema ${schema} cascade`)
    await pool.end()
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
