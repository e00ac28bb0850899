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

export interface HashedWords {
  units: Uint16Array<ArrayBufferLike>
  ends: Int32Array<ArrayBuffer>
  hashes: Uint32Array<ArrayBuffer>
  count: number
}

/**
 * Hashes the words of a word list, as `wordList` writes it: `hashes` has `hashOf` of each word. In
 * `units`, word n stands before `ends[n]` and begins one unit after the end of the word before. The
 * first word begins at 1. The arrays may be longer than `count`, and the next call overwrites them.
 * `hashWords` makes no string for a word.
 */
export function hashWords(list: string): HashedWords {
  const units = codeUnits(list)
  const { length } = list
  if (ends.length < length) {
    ends = new Int32Array(length * 2)
    hashes = new Uint32Array(length * 2)
  }
  const wordEnds = ends
  const wordHashes = hashes
  let count = 0
  let hash = HASH_SEED
  for (let at = 1; at < length; at++) {
    const unit = units[at]!
    if (unit !== BREAK) {
      hash = hashStep(hash, unit)
      continue
    }
    wordEnds[count] = at
    wordHashes[count++] = finishHash(hash)
    hash = HASH_SEED
  }
  return { units, ends, hashes, count }
}

let ends = new Int32Array(1 << 13)
let hashes = new Uint32Array(1 << 13)

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
export const pairHash = (first: number, second: number): number =>
  finishHash(Math.imul(first, 0x9e3779b1) ^ second)

export function finishHash(hash: number): number {
  let mixed = hash ^ (hash >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed ^= mixed >>> 13
  mixed = Math.imul(mixed, 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

/**
 * Sorts hashes, or other numbers that are 0 or more, in place. The bits of such floats have the
 * order of the floats, and Node sorts integers twice as fast.
 */
export function sortHashes(numbers: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  new BigInt64Array(numbers.buffer, numbers.byteOffset, numbers.length).sort()
  return numbers
}

/**
 * The place of the first of some ascending numbers that is not below `number`.
 *
 * @param end numbers from this place on are not looked at
 */
export function placeOf(sorted: Float64Array, number: number, end: number = sorted.length): number {
  let low = 0
  let high = end
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sorted[middle]! < number) low = middle + 1
    else high = middle
  }
  return low
}
