import type { Client, Queryable } from '../../shared/postgres/pool.ts'
import type { ArticleWords } from './article-source.ts'

/*
 * Texts and words as `reindex` reads and writes them. All statements look articles up by their
 * `seq`, the primary key of both tables.
 */

export interface ArticleText {
  seq: bigint
  title: string
  body: string | null
}

export interface TextAndWords extends ArticleText {
  title_words: string
  body_words: string
}

export async function readTexts(db: Queryable, seqs: bigint[]): Promise<ArticleText[]> {
  const { rows } = await db.query<ArticleText>(
    'select seq, title, body from article_texts where seq = any ($1::bigint[]) order by seq',
    [seqs],
  )
  return rows
}

/** @param last included, as `first` is */
export async function readTextsAndWords(db: Queryable, first: bigint, last: bigint): Promise<TextAndWords[]> {
  const { rows } = await db.query<TextAndWords>(
    `select seq, t.title, t.body, w.title as title_words, w.body as body_words
     from article_texts t join article_words w using (seq) where seq between $1 and $2`,
    [first, last],
  )
  return rows
}

/** @returns the number of articles whose words changed */
export async function updateWords(client: Client, words: ArticleWords[]): Promise<number> {
  const { rowCount } = await client.query(UPDATE, [
    words.map(one => one.seq),
    words.map(one => one.title),
    words.map(one => one.body),
  ])
  return rowCount ?? 0
}

// $1 seqs, $2 titles, $3 bodies
const UPDATE = `
  update article_words w set title = n.title, body = n.body
  from unnest($1::bigint[], $2::text[], $3::text[]) as n (seq, title, body)
  where w.seq = n.seq and (w.title, w.body) is distinct from (n.title, n.body)`

/** Searches then read the words of articles without a segment again. */
export async function raiseWordsVersion(client: Client): Promise<void> {
  await client.query('update segments_version set words_version = words_version + 1')
}
