import type { Country, Language } from '../../shared/articles/article.ts'
import type { Queryable } from '../../shared/postgres/pool.ts'
import { createMemory, type Memory } from '../cache/cache.ts'
import type { ArticleRow } from '../query/article-query.ts'
import { readNames } from './names.ts'

/**
 * Bytes of articles that a process keeps as they are shown: what is visible never changes (decision 24), and who lists or polls
 * asks for the newest again and again.
 */
const ROWS_BYTES = 64 << 20

/** By the article's number, which a `Map` finds sooner than the `bigint`. */
const memories = new WeakMap<Queryable, Memory<number, ArticleRow>>()

function memoryOf(db: Queryable): Memory<number, ArticleRow> {
  let memory = memories.get(db)
  if (memory === undefined) {
    memory = createMemory(ROWS_BYTES)
    memories.set(db, memory)
  }
  return memory
}

/** What the article object shows, of some articles in the given order. Numbers that are none are left out. */
export async function readArticles(db: Queryable, seqs: bigint[]): Promise<ArticleRow[]> {
  const memory = memoryOf(db)
  const found = seqs.map(seq => memory.get(Number(seq)))
  const missing = seqs.filter((_, place) => found[place] === undefined)
  if (missing.length > 0) {
    const { rows } = await db.query<StoredArticle>({ name: 'search-rows', text: ROWS, values: [missing] })
    const read = new Map((await keepArticles(db, rows)).map(row => [row.seq, row]))
    seqs.forEach((seq, place) => {
      found[place] ??= read.get(seq)
    })
  }
  return found.filter(row => row !== undefined)
}

/** Takes in articles that will be shown, so that they need not be read then. */
export async function keepArticles(db: Queryable, stored: StoredArticle[]): Promise<ArticleRow[]> {
  const rows = await nameArticles(db, stored)
  const memory = memoryOf(db)
  for (const row of rows) memory.set(Number(row.seq), row, bytesOf(row))
  return rows
}

/** The id of an article that was shown lately; null: it is to be read. */
export function knownId(db: Queryable, seq: bigint): string | null {
  return memories.get(db)?.get(Number(seq))?.id ?? null
}

/** Texts at two bytes for a character; the fields, dates and list of authors take some 500 more. */
function bytesOf({ title, url, snippet }: ArticleRow): number {
  return 500 + 2 * (title.length + url.length + (snippet?.length ?? 0))
}

/** Rows as articles are shown, with the names of outlets and authors. */
export async function nameArticles(db: Queryable, rows: StoredArticle[]): Promise<ArticleRow[]> {
  const names = await readNames(
    db,
    rows.map(row => row.publisher_no),
    rows.flatMap(row => row.author_nos),
  )
  return rows.map(row => ({
    seq: row.seq,
    id: row.id,
    title: row.title,
    url: row.url,
    snippet: row.snippet,
    publishedAt: row.published_at,
    ingestedAt: row.ingested_at,
    authors: row.author_nos.map(no => names.author(no)),
    outlet: names.outlet(row.publisher_no),
    language: row.language,
    country: row.country,
  }))
}

/** What the statements of a page read of an article. */
export interface StoredArticle {
  seq: bigint
  id: string
  title: string
  url: string
  snippet: string | null
  published_at: Date | null
  ingested_at: Date | null
  publisher_no: number
  author_nos: number[]
  language: Language
  country: Country
}

// $1 seqs. Indexes: the primary keys.
const ROWS = `
  select a.seq, a.id, t.title, t.url, t.snippet, a.published_at, a.ingested_at, a.publisher_no, a.author_nos,
    a.language, a.country
  from unnest($1::bigint[]) as wanted (seq)
  join articles a on a.seq = wanted.seq
  join article_texts t on t.seq = wanted.seq`
