/**
 * The number of the recipe: which parts of an article are embedded, and how. It was chosen by
 * measurement (`docs/search-by-meaning.md`). A change needs a new number, and
 * `npm run reembed -- --all`.
 */
export const RECIPE = 1

/** How many characters of the body are embedded, beside the headline. */
const BODY = 500

/** A text to embed, and its share in the article's vector. */
interface Passage {
  text: string
  weight: number
}

/** The texts whose vectors make the vector of an article: at least one. */
export function passagesOf({ title, body }: { title: string; body: string | null }): Passage[] {
  const beginning = cut((body ?? '').trim(), BODY)
  if (beginning === '') return [{ text: title, weight: 1 }]
  return [
    { text: title, weight: 1 },
    { text: beginning, weight: 1 },
  ]
}

/** The vector of an article: the mean of its passages' vectors, of length 1. */
export function articleVector(passages: Passage[], vectors: number[][]): number[] {
  const sum = new Float64Array(vectors[0]?.length ?? 0)
  for (const [index, vector] of vectors.entries()) {
    const { weight } = passages[index]!
    for (let at = 0; at < sum.length; at++) sum[at]! += weight * vector[at]!
  }
  const length = Math.hypot(...sum)
  // Vectors that are exactly opposite cancel out. The first then counts alone.
  return length > 1e-9 ? Array.from(sum, number => number / length) : (vectors[0] ?? [])
}

/** At most `length` UTF-16 units, ending at a word's end where one is near. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text
  const end = text.lastIndexOf(' ', length)
  return text.slice(0, end > length * 0.8 ? end : length)
}

/** UTF-16 units. A search term has at most 191 characters, and some characters count as two. */
const QUESTION_LENGTH = 382

/** A search term as the model gets it, without a prefix. */
export const questionText = (text: string): string => modelText(text, QUESTION_LENGTH)

/**
 * Makes a text safe for model servers: without NUL (which ends it in C) and lone surrogates (which
 * are no UTF-8), white space collapsed, at most `max` UTF-16 units, cut between characters. It is
 * never empty, because some servers refuse that.
 */
export function modelText(text: string, max: number): string {
  // A text that will be cut is not read to its end.
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
