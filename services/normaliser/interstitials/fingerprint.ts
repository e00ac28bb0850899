import { createHash } from 'node:crypto'

/**
 * Texts shorter than this are captions and one-line reports. Several articles may have the same
 * one.
 */
const SHORTEST = 120

/**
 * A hash of a text's words, without spaces, punctuation and capitals. Null for a text that is too
 * short. An outlet that serves one text under many addresses serves an interstitial.
 *
 * @returns 16 bytes
 */
export function textFingerprint(text: string): Uint8Array | null {
  const words = text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ')
  if (words.length < SHORTEST) return null
  return createHash('sha256').update(words).digest().subarray(0, 16)
}
