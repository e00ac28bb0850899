import type { ArticleRow } from '../query/article-query.ts'

/** The fields of an article that searches look at. */
export interface KeptArticle {
  readonly seq: bigint
  readonly id: string
}

/**
 * The form in which an opened index keeps and returns articles. An application chooses the form
 * that it sends, so that no article is kept twice.
 */
export interface ArticleForm<A extends KeptArticle> {
  make(row: ArticleRow): A
  /** Bytes of memory that an article takes now. */
  bytesOf(article: A): number
}

/** Articles as objects with all their fields. */
export const ROWS: ArticleForm<ArticleRow> = {
  make: row => row,
  /** Texts at two bytes a character; the fields, dates and authors take some 500 bytes more. */
  bytesOf: ({ title, url, snippet }) => 500 + 2 * (title.length + url.length + (snippet?.length ?? 0)),
}
