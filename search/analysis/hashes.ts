/*
 * Hash functions for words. Term dictionaries, pairs of words and the shingles of copies use these
 * functions. All 32 bits of a hash are well mixed. The functions must never change, because stored
 * segments hold their results.
 */

export const HASH_SEED = 0x811c9dc5

/** The hash of a text: FNV-1a over UTF-16 code units, then the finaliser of MurmurHash3. */
export function hashOf(text: string): number {
  let hash = HASH_SEED
  for (let at = 0; at < text.length; at++) hash = hashStep(hash, text.charCodeAt(at))
  return finishHash(hash)
}

/** Adds one code unit to a hash. Call `finishHash` after the last code unit. */
export const hashStep = (hash: number, unit: number): number => Math.imul(hash ^ unit, 0x01000193)

/** The hash of two neighbouring words, from their own hashes. The order counts. */
export const pairHash = (first: number, second: number): number => finishHash(Math.imul(first, 0x9e3779b1) ^ second)

export function finishHash(hash: number): number {
  let mixed = hash ^ (hash >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed ^= mixed >>> 13
  mixed = Math.imul(mixed, 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
