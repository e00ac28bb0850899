import { SNIPPET_LENGTH } from './article.ts'

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })

/**
 * The snippet of a plain text (decision 33): white space collapsed, the first 200 code points,
 * never half a grapheme, without space at its ends. Null when there is no text.
 */
export function snippetOf(body: string | null): string | null {
  if (body === null) return null
  // Characters of a body that are enough for a snippet, with any spacing.
  const text = body.replace(/\s+/g, ' ').trim()
  if (text === '') return null
  let snippet = ''
  let length = 0
  for (const { segment } of graphemes.segment(text.slice(0, SNIPPET_LENGTH * 8))) {
    length += [...segment].length
    if (length > SNIPPET_LENGTH) break
    snippet += segment
  }
  return snippet.trimEnd()
}
