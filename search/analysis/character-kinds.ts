/** Kinds of code units for a tokenizer, as bits: a word's kinds are those of its code units. */
export const SEPARATOR = 0
/** a–z, 0–9 */
export const PLAIN = 1
/** A–Z */
export const CAPITAL = 2
/** Any other part of a word, and format characters: they join what they stand between. */
const FOLDED = 4
/** A part of a word outside the basic plane, two code units long. */
export const PAIR = 8

const WORD_PART = /[\p{L}\p{Nd}\p{M}\p{Cf}⁰¹²³⁴-⁹₀-₉]/u

/** One kind for each code unit of the basic plane; 255: not looked at yet. */
const KINDS = new Uint8Array(0x10000).fill(255)

/** The kind of the character at a place of a text in NFC. */
export function kindAt(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  const known = KINDS[unit]!
  if (known !== 255) return known
  if (unit >= 0xd800 && unit <= 0xdbff) {
    const point = text.codePointAt(at)!
    return point > 0xffff && WORD_PART.test(String.fromCodePoint(point)) ? PAIR : SEPARATOR
  }
  const character = String.fromCharCode(unit)
  const kind = /[a-z0-9]/.test(character)
    ? PLAIN
    : /[A-Z]/.test(character)
      ? CAPITAL
      : WORD_PART.test(character)
        ? FOLDED
        : SEPARATOR
  KINDS[unit] = kind
  return kind
}
