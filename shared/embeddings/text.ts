/** A search term has at most 191 characters. The rest is for letters that count as two. */
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
