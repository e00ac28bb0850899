/** Letters that NFKD leaves whole (decision 16). */
const LETTERS: Record<string, string> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ı: 'i' }

/**
 * Latin letters lie below this code unit. Each is folded by itself, whatever stands beside it, so
 * the results can be kept. A word of our languages then takes a tenth of the time.
 */
const KEPT = 0x250
const kept: (string | undefined)[] = Array.from({ length: KEPT })

/**
 * One word without case, accents and format characters: NFKD, marks dropped, lower case, then ß→ss
 * and its like (decision 16). May be longer than what was written, or empty.
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

/** The rule itself. */
export function foldAny(word: string): string {
  return word
    .replace(/\p{Cf}+/gu, '')
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[ßæœøłđðþı]/g, letter => LETTERS[letter]!)
    .replace(/\p{M}+/gu, '')
}

/**
 * A name folded as words are; separators stay, and white space is collapsed. For `outlet=` and
 * `author=` (decision 15).
 */
export function foldName(name: string): string {
  return foldWord(name.normalize('NFC')).replace(/\s+/g, ' ').trim()
}
