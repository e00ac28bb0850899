/*
 * Hash functions for words. Term dictionaries, pairs of words and the shingles of copies use these
 * functions. All 32 bits of a hash are well mixed. The functions must never change, because stored
 * segments hold their results.
 */

const HASH_SEED = 0x811c9dc5

/** The hash of a text: FNV-1a over UTF-16 code units, then the finaliser of MurmurHash3. */
export function hashOf(text: string): number {
  let hash = HASH_SEED
  for (let at = 0; at < text.length; at++) hash = hashStep(hash, text.charCodeAt(at))
  return finishHash(hash)
}

/**
 * Calls `visit` for each word of a word list, as `wordList` writes it: with the word's hash
 * (`hashOf`), and with the code units of the list. The word stands there from `from` to before
 * `to`. `eachWord` makes no string for a word.
 */
export function eachWord(
  list: string,
  visit: (hash: number, units: Uint16Array, from: number, to: number) => void,
): void {
  const units = codeUnits(list)
  const { length } = list
  let from = 1
  let hash = HASH_SEED
  for (let at = 1; at < length; at++) {
    const unit = units[at]!
    if (unit !== BREAK) {
      hash = hashStep(hash, unit)
      continue
    }
    visit(finishHash(hash), units, from, at)
    from = at + 1
    hash = HASH_SEED
  }
}

/** The line break before, between and after the words of a word list. */
export const BREAK = 10

let units = new Uint16Array(1 << 13)
let bytes = Buffer.from(units.buffer)

/**
 * Copies a text into an array of UTF-16 code units that has room for one more. Each call uses the
 * same array. Code reads an array several times as fast as a string.
 */
export function codeUnits(text: string): Uint16Array {
  if (text.length >= units.length) {
    units = new Uint16Array(text.length * 2)
    bytes = Buffer.from(units.buffer)
  }
  // The array has the byte order of the processor: little-endian on x64 and ARM.
  bytes.write(text, 'utf16le')
  return units
}

/** Adds one code unit to a hash. Call `finishHash` after the last code unit. */
const hashStep = (hash: number, unit: number): number => Math.imul(hash ^ unit, 0x01000193)

/** The hash of two neighbouring words, from their own hashes. The order counts. */
export const pairHash = (first: number, second: number): number => finishHash(Math.imul(first, 0x9e3779b1) ^ second)

export function finishHash(hash: number): number {
  let mixed = hash ^ (hash >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed ^= mixed >>> 13
  mixed = Math.imul(mixed, 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
