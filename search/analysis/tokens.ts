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

/** Code units of the longest text whose words `writeWords` writes. */
const LONGEST_WRITTEN = 1 << 20

/** Grows with the longest text. */
let written = Buffer.alloc(1 << 14)

/**
 * The words of a text as `words` finds them, each after a line break. Makes no string for each
 * word: a text takes a fifth of the time.
 *
 * @returns null: the text is very long, or a folded word lies beyond Latin-1
 */
export function writeWords(text: string): string | null {
  const normal = text.normalize('NFC')
  if (normal.length > LONGEST_WRITTEN) return null
  if (written.length < normal.length + 2) written = Buffer.alloc(normal.length * 2)
  const end = normal.length
  let units = written
  let start = -1
  let kinds = 0
  let from = 0
  let to = 0
  for (let at = 0; at <= end; at++) {
    const kind = at === end ? SEPARATOR : kindAt(normal, at)
    if (kind !== SEPARATOR) {
      if (start < 0) {
        start = at
        from = to
        units[to++] = BREAK
      }
      // Of a plain word this is its folded form; other words are written over below.
      units[to++] = lowered(normal.charCodeAt(at), kind)
      kinds |= kind
      if (kind === PAIR) at++
      continue
    }
    if (start < 0) continue
    if (kinds > (PLAIN | CAPITAL)) {
      to = writeFolded(normal.slice(start, at), from, end - at)
      if (to < 0) return null
      units = written
    }
    start = -1
    kinds = 0
  }
  return written.toString('latin1', 0, to)
}

const lowered = (unit: number, kind: number) => (kind === CAPITAL ? unit | 0x20 : unit)

/**
 * @param from where its line break stands
 * @param follows code units of the text that come after it
 * @returns where it ends; −1: it lies beyond Latin-1
 */
function writeFolded(word: string, from: number, follows: number): number {
  const folded = foldWord(word)
  if (folded === '') return from
  if (/[^\0-\xff]/.test(folded)) return -1
  const start = from + 1
  const end = start + folded.length
  const room = end + follows + 2
  if (written.length < room) written = Buffer.concat([written.subarray(0, start)], room * 2)
  written.write(folded, start, 'latin1')
  return end
}

const BREAK = 10 // \n

/** Whether a text holds anything to search for (decision 19). A mark alone is no letter. */
export function hasLetterOrDigit(text: string): boolean {
  return /[\p{L}\p{Nd}⁰¹²³⁴-⁹₀-₉]/u.test(text)
}

const SEPARATOR = 0
/** a–z, 0–9 */
const PLAIN = 1
/** A–Z */
const CAPITAL = 2
/** Any other part of a word, and format characters: they join what they stand between. */
const FOLDED = 4
/** A part of a word outside the basic plane, two code units long. */
const PAIR = 8

const WORD_PART = /[\p{L}\p{Nd}\p{M}\p{Cf}⁰¹²³⁴-⁹₀-₉]/u

/** One kind for each code unit of the basic plane; 255: not looked at yet. */
const KINDS = new Uint8Array(0x10000).fill(255)

function kindAt(text: string, at: number): number {
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
