/**
 * The words of a text in their order, folded: the one tokenizer for articles and queries (decision
 * 16). Letters, digits and combining marks make words. All other characters, including every
 * apostrophe (decision 44), separate words. Format characters are ignored. Superscript and
 * subscript digits are digits. The time is linear in the length of any text.
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
    // Nearly every word of a text is plain. A plain word needs no folding.
    const word =
      kinds === PLAIN
        ? written
        : kinds <= (PLAIN | CAPITAL)
          ? written.toLowerCase()
          : foldWord(written)
    if (word !== '') found.push(word)
    start = -1
    kinds = 0
  }
  return found
}

/**
 * Whether a search for a text is possible (decision 19): the text needs a letter or a digit. A
 * combining mark alone is neither.
 */
export const hasLetterOrDigit = (text: string): boolean =>
  /(?!ʼ)[\p{L}\p{Nd}⁰¹²³⁴-⁹₀-₉]/u.test(text)

/**
 * Kinds of code units, as bits. The kinds of a word are the kinds of all its code units together.
 */
export const SEPARATOR = 0
/** a–z, 0–9 */
const PLAIN = 1
/** A–Z */
const CAPITAL = 2
/**
 * Any other part of a word. Format characters have this kind too, because they separate no words.
 */
const FOLDED = 4
/** A part of a word that takes two code units, because it lies outside the basic plane. */
export const PAIR = 8

/**
 * A part of a word. U+02BC is excluded: Unicode calls it a letter, but it is an apostrophe here.
 */
const WORD_PART = /(?!ʼ)[\p{L}\p{Nd}\p{M}\p{Cf}⁰¹²³⁴-⁹₀-₉]/u

/** The kind of each code unit of the basic plane; 255: `kindAt` has not computed it yet. */
const KINDS = new Uint8Array(0x10000).fill(255)

/** The kind of the character at a place of a text in NFC. @param unit its first code unit */
export function kindAt(text: string, at: number, unit: number = text.charCodeAt(at)): number {
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

/**
 * The longest word that is a term itself, in code units. A longer word has a digest as its term, so
 * that terms stay short.
 */
export const LONGEST_WORD = 255

/** A word of a text: its place, and its folded form. */
interface WordRun {
  start: number
  end: number
  word: string
}

const RUN = new RegExp(`(?:${WORD_PART.source})+`, 'gu')

/**
 * Finds the words of a text with their places, to mark them. In a text that is not in NFC, these
 * may differ from the words that `words` finds.
 */
export function wordRuns(text: string): WordRun[] {
  const runs: WordRun[] = []
  for (const { 0: written, index } of text.matchAll(RUN)) {
    const [word] = words(written)
    if (word !== undefined) runs.push({ start: index, end: index + written.length, word })
  }
  return runs
}

/**
 * Letters that NFKD does not decompose, and their folded forms (decision 16). U+02BC is here
 * because NFKD makes it and an `n` of `ŉ`.
 */
const LETTERS: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
  ʼ: '',
}

/**
 * Latin letters lie below this code unit. The folded form of such a letter does not depend on its
 * neighbours, so `kept` can hold it. A word of our languages then takes a tenth of the time.
 */
export const KEPT = 0x250
const kept: (string | undefined)[] = Array.from({ length: KEPT })

/**
 * One word without case, accents and format characters: NFKD, marks dropped, lower case, then ß→ss
 * and similar letters (decision 16). The result may be longer than the word, or empty.
 */
export function foldWord(word: string): string {
  let folded = ''
  for (let at = 0; at < word.length; at++) {
    const unit = word.charCodeAt(at)
    if (unit >= KEPT) return foldAny(word)
    kept[unit] ??= foldAny(String.fromCharCode(unit))
    folded += kept[unit]
  }
  return folded
}

/** Folds as `foldWord` does, but without its memory of Latin letters. */
export const foldAny = (word: string): string =>
  word
    .replace(/\p{Cf}+/gu, '')
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[ßæœøłđðþıʼ]/g, letter => LETTERS[letter]!)
    .replace(/\p{M}+/gu, '')

/** Characters that people write for `'` (decision 44). */
export const APOSTROPHES = '‘’ʼ`´'
const APOSTROPHE = new RegExp(`[${APOSTROPHES}]`, 'g')

/**
 * Version of the rules of `foldName`. Raise it with every change. A start folds the names again
 * that have another version.
 */
export const NAME_RULES = 1

/**
 * Folds a name for `outlet=` and `author=` (decisions 15, 44), by the rules for words. Separators
 * stay, all apostrophes become `'`, and white space is collapsed.
 */
export const foldName = (name: string): string =>
  foldWord(name.normalize('NFC').replace(APOSTROPHE, "'")).replace(/\s+/g, ' ').trim()
