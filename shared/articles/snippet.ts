/**
 * Code points of the body that make the snippet (contract, "Article object"). After a change,
 * `npm run reindex -- --snippets` makes the stored snippets anew.
 */
export const SNIPPET_LENGTH = 200

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })

/**
 * The snippet of a plain text (decision 33): white space collapsed, the first 200 code points,
 * never half a grapheme, without space at its ends. Null when there is no text.
 */
export function snippetOf(body: string | null): string | null {
  if (body === null) return null
  const first = collapsed(body.slice(0, SNIPPET_LENGTH * 2)).slice(0, SNIPPET_LENGTH + 1)
  // Below U+0300 each code unit is a grapheme, which nothing that follows it there lengthens.
  if (first.length > SNIPPET_LENGTH && !/[^\0-\u02ff]/.test(first)) return first.slice(0, SNIPPET_LENGTH).trimEnd()
  // Characters of a body that are enough for a snippet, with any spacing.
  const text = collapsed(body).slice(0, SNIPPET_LENGTH * 8)
  if (text === '') return null
  let snippet = ''
  let length = 0
  for (const { segment } of graphemes.segment(text)) {
    length += [...segment].length
    if (length > SNIPPET_LENGTH) break
    snippet += segment
  }
  return snippet.trimEnd()
}

const collapsed = (text: string) => text.replace(/\s{2,}|[^\S ]/g, ' ').trim()
