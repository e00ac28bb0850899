/**
 * The version of the rules of `snippetOf`. Raise it with every change. A start then makes all
 * snippets anew, as `npm run reindex -- --snippets` does.
 */
export const SNIPPET_RULES = 1

/** Code points of the body that make the snippet (contract, "Article object"). */
export const SNIPPET_LENGTH = 200

/** Made at its first use, because it takes 30 ms, and few texts and commands need it. */
let graphemes: Intl.Segmenter | undefined

/**
 * The snippet of a plain text (decision 33): white space collapsed, the first 200 code points,
 * never half a grapheme, without space at its ends. Null when there is no text.
 *
 * @param allowed the most code points that the outlet allows (decision 41)
 */
export function snippetOf(body: string | null, allowed: number = SNIPPET_LENGTH): string | null {
  if (body === null) return null
  const most = Math.min(allowed, SNIPPET_LENGTH)
  const first = collapsed(body.slice(0, SNIPPET_LENGTH * 2)).slice(0, most + 1)
  // Below U+0300 each code unit is a grapheme of its own, so the text can be cut anywhere.
  if (first.length > most && !/[^\0-\u02ff]/.test(first))
    return first.slice(0, most).trimEnd() || null
  // The first part of the body, which is long enough for any snippet.
  const text = collapsed(body).slice(0, SNIPPET_LENGTH * 8)
  if (text === '') return null
  let snippet = ''
  let length = 0
  graphemes ??= new Intl.Segmenter('und', { granularity: 'grapheme' })
  for (const { segment } of graphemes.segment(text)) {
    length += [...segment].length
    if (length > most) break
    snippet += segment
  }
  return snippet.trimEnd() || null
}

const collapsed = (text: string) => text.replace(/\s{2,}|[^\S ]/g, ' ').trim()

/**
 * The most UTF-16 units of an article's title and body. These limits hold for crawled and for
 * imported articles.
 */
export const TEXT_LIMITS = { title: 2_000, body: 2_000_000 }

/**
 * Cuts a text after the last word that fits into a limit. A word that is longer than the limit is
 * cut itself, but never within a surrogate pair.
 */
export const cutText = (text: string, most: number): string =>
  text.length <= most ? text : text.slice(0, most).replace(/\s\S*$|[\ud800-\udbff]$/, '')

/** The highest number of combining marks in a row. */
const MOST_MARKS = 30

/**
 * Keeps at most 30 combining marks in a row, as in Unicode's Stream-Safe Text Format (UAX #15, 13).
 * Normalising sorts the marks of a letter. The time for this is quadratic in their number: 100,000
 * marks took five seconds.
 */
export function boundMarks(text: string): string {
  return hasLongRun(text)
    ? text.replace(/\p{M}+/gu, run => [...run].slice(0, MOST_MARKS).join(''))
    : text
}

/**
 * Whether a text has more than `MOST_MARKS` characters from U+0300 on in a row. Marks begin at
 * U+0300. Such a run is at least `MOST_MARKS + 1` places long. So the loop looks at one place in
 * every `MOST_MARKS + 1`, and still meets every run.
 */
function hasLongRun(text: string): boolean {
  const isHigh = (at: number) => text.charCodeAt(at) >= 0x300
  for (let at = MOST_MARKS; at < text.length; at += MOST_MARKS + 1) {
    if (!isHigh(at)) continue
    let start = at
    let end = at + 1
    while (isHigh(start - 1)) start--
    while (isHigh(end)) end++
    if (end - start > MOST_MARKS) return true
  }
  return false
}
