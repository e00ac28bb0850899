import type { Country, Language } from '../../../shared/articles/article.ts'
import type { Queryable } from '../../../shared/postgres/pool.ts'
import { readNames } from './names.ts'
import type { ArticleRow } from './query.ts'

/** What the article object shows, of some articles in the given order. Numbers that are none are left out. */
export async function readArticles(db: Queryable, seqs: bigint[]): Promise<ArticleRow[]> {
  if (seqs.length === 0) return []
  const { rows } = await db.query<StoredArticle>({ name: 'search-rows', text: ROWS, values: [seqs] })
  return nameArticles(db, rows)
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
  from unnest($1::bigint[]) with ordinality as wanted (seq, place)
  join articles a on a.seq = wanted.seq
  join article_texts t on t.seq = wanted.seq
  order by wanted.place`
