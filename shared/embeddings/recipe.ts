/**
 * The number of the recipe: which parts of an article are embedded, and how they become one vector.
 * Measurements decided it (`docs/search-by-meaning.md`). A change needs a new number, and
 * `npm run reembed -- --all`.
 */
export const RECIPE = 1

/** How many characters of the body are embedded, in addition to the headline. */
const BODY = 500

/** A text to embed, and its weight in the article's vector. */
interface Passage {
  text: string
  weight: number
}

/** The texts from whose vectors `articleVector` makes the vector of an article: at least one. */
export function passagesOf({ title, body }: { title: string; body: string | null }): Passage[] {
  const beginning = cut((body ?? '').trim(), BODY)
  if (beginning === '') return [{ text: title, weight: 1 }]
  return [
    { text: title, weight: 1 },
    { text: beginning, weight: 1 },
  ]
}

/** The vector of an article: the mean of its passages' vectors, scaled to length 1. */
export function articleVector(passages: Passage[], vectors: number[][]): number[] {
  const sum = new Float64Array(vectors[0]?.length ?? 0)
  for (const [index, vector] of vectors.entries()) {
    const { weight } = passages[index]!
    for (let at = 0; at < sum.length; at++) sum[at]! += weight * vector[at]!
  }
  const length = Math.hypot(...sum)
  // Exactly opposite vectors cancel out. Then the first vector alone counts.
  return length > 1e-9 ? Array.from(sum, number => number / length) : (vectors[0] ?? [])
}

/** The first `length` UTF-16 units at most. Cuts at the end of a word if one is near. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text
  const end = text.lastIndexOf(' ', length)
  return text.slice(0, end > length * 0.8 ? end : length)
}

/**
 * In UTF-16 units. A search term has at most 191 characters, and some characters take two units.
 */
const QUESTION_LENGTH = 382

/** The text of a search term for the model, without a prefix. */
export const questionText = (text: string): string => modelText(text, QUESTION_LENGTH)

/**
 * Makes a text safe for model servers. Removes NUL (which ends a text in C) and lone surrogates
 * (which UTF-8 cannot have), and collapses white space. Cuts the text between characters, to at
 * most `max` UTF-16 units. The result is never empty, because some servers refuse an empty text.
 */
export function modelText(text: string, max: number): string {
  // If the text will be cut, its end is not processed.
  const clean = text
    .slice(0, max * 4)
    .replaceAll('\0', ' ')
    .toWellFormed()
    .replace(/\s+/g, ' ')
    .trim()
  if (clean.length <= max) return clean || '-'
  const cut = clean.slice(0, max)
  return (cut.isWellFormed() ? cut : cut.slice(0, -1)).trimEnd()
}
