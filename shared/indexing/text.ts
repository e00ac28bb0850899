import { type DocumentWords, indexText } from '../../search/analysis/index.ts'
import { snippetOf } from '../articles/snippet.ts'

/** What the index holds of an article's text alone. */
export interface PreparedText {
  title: string
  body: string | null
  snippet: string | null
  words: DocumentWords
}

/**
 * Everything whose cost grows with an article's text: tokenizing, mostly. Tenths of a second for a
 * megabyte, so a service does it in a thread.
 */
export function prepareText(article: { title: string; body: string | null }): PreparedText {
  const title = storable(article.title)
  const body = article.body === null ? null : storable(article.body)
  return { title, body, snippet: snippetOf(body), words: indexText(title, body) }
}

/** A text without what Postgres cannot hold: NUL, and halves of surrogate pairs. */
export function storable(text: string): string {
  return text.replaceAll('\0', ' ').toWellFormed()
}
