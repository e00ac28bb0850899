import { type DocumentWords, indexText } from '../../text/document.ts'
import { writeTsvector } from '../../text/tsvector.ts'
import type { NewArticle } from '../article.ts'
import { snippetOf } from '../snippet.ts'

/** What the index holds of an article's text alone. */
export interface PreparedText {
  title: string
  body: string | null
  snippet: string | null
  /** The lexemes of its words and stems, as Postgres reads a `tsvector`. */
  terms: string
  limits: number
  words: DocumentWords
}

/**
 * Everything whose cost grows with an article's text: tokenizing, stemming, writing the tsvector. Half a second for a
 * megabyte, so a service does it in a thread.
 */
export function prepareText(article: Pick<NewArticle, 'title' | 'body' | 'language'>): PreparedText {
  const title = storable(article.title)
  const body = article.body === null ? null : storable(article.body)
  const { lexemes, limits, words } = indexText(title, body, article.language)
  return { title, body, snippet: snippetOf(body), terms: writeTsvector(lexemes), limits, words }
}

/** A text without what Postgres cannot hold: NUL, and halves of surrogate pairs. */
export function storable(text: string): string {
  return text.replaceAll('\0', ' ').toWellFormed()
}
