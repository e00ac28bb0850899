/**
 * Code points of the body that make the snippet (contract, "Article object"). After a change,
 * `npm run reindex -- --snippets` makes the stored snippets anew.
 */
export const SNIPPET_LENGTH = 200

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })

/**
 * The snippet of a plain text (decision 33): white space collapsed, the first 200 code points,
 * never half a grapheme, without space at its ends. Null when there is no text.
 *
 * @param allowed code points, where the outlet allows fewer (decision 41)
 */
export function snippetOf(body: string | null, allowed: number = SNIPPET_LENGTH): string | null {
  if (body === null) return null
  const most = Math.min(allowed, SNIPPET_LENGTH)
  const first = collapsed(body.slice(0, SNIPPET_LENGTH * 2)).slice(0, most + 1)
  // Below U+0300 each code unit is a grapheme, which nothing that follows it there lengthens.
  if (first.length > most && !/[^\0-\u02ff]/.test(first)) return first.slice(0, most).trimEnd() || null
  // Characters of a body that are enough for a snippet, with any spacing.
  const text = collapsed(body).slice(0, SNIPPET_LENGTH * 8)
  if (text === '') return null
  let snippet = ''
  let length = 0
  for (const { segment } of graphemes.segment(text)) {
    length += [...segment].length
    if (length > most) break
    snippet += segment
  }
  return snippet.trimEnd() || null
}

const collapsed = (text: string) => text.replace(/\s{2,}|[^\S ]/g, ' ').trim()
