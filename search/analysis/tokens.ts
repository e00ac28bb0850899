import { CAPITAL, kindAt, PAIR, PLAIN, SEPARATOR } from './character-kinds.ts'
import { foldWord } from './folding.ts'

/**
 * The words of a text in their order, folded: the one tokenizer for articles and queries (decision
 * 16). Letters, digits and combining marks make words, everything else separates; format characters
 * are not there at all; superscript and subscript digits are digits. Linear in the text, whatever
 * it holds.
 */
export function words(text: string): string[] {
  const normal = text.normalize('NFC')
  const found: string[] = []
  let start = -1
  let kinds = 0
  const end = normal.length
  for (let at = 0; at <= end; at++) {
    const kind = at === end ? SEPARATOR : kindAt(normal, at)
    if (kind !== SEPARATOR) {
      if (start < 0) start = at
      kinds |= kind
      if (kind === PAIR) at++
      continue
    }
    if (start < 0) continue
    const written = normal.slice(start, at)
    // Nearly every word of a text is plain: nothing to fold.
    const word = kinds === PLAIN ? written : kinds <= (PLAIN | CAPITAL) ? written.toLowerCase() : foldWord(written)
    if (word !== '') found.push(word)
    start = -1
    kinds = 0
  }
  return found
}

/** Whether a text holds anything to search for (decision 19). A mark alone is no letter. */
export function hasLetterOrDigit(text: string): boolean {
  return /[\p{L}\p{Nd}⁰¹²³⁴-⁹₀-₉]/u.test(text)
}
