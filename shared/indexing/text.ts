import { indexText } from '../../search/analysis/index.ts'
import { snippetOf } from '../articles/snippet.ts'

/**
 * The values in the index that depend on an article's text alone. `Text` is a string, or its bytes
 * in UTF-8.
 */
export interface PreparedText<Text = string> {
  title: Text
  body: Text | null
  snippet: Text | null
  words: { title: Text; body: Text }
  /** UTF-16 code units of title and body. */
  units: number
}

/**
 * Prepares an article's text: all work that grows with the text, mostly tokenising. A megabyte
 * takes tenths of a second, so services call this in a thread.
 */
export function prepareText(article: { title: string; body: string | null }): PreparedText {
  const title = storable(article.title)
  const body = article.body === null ? null : storable(article.body)
  const units = title.length + (body?.length ?? 0)
  return { title, body, snippet: snippetOf(body), words: indexText(title, body), units }
}

/** Removes characters that Postgres cannot store: NUL, and halves of surrogate pairs. */
export function storable(text: string): string {
  return text.replaceAll('\0', ' ').toWellFormed()
}
