import { createHash } from 'node:crypto'

/** Texts shorter than this are captions and one-line reports, which may well be alike. */
const SHORTEST = 120

/**
 * What two texts share when they say the same in the same words, whatever their spaces, signs and
 * capitals; null for a text too short to be told by it. An outlet that serves one text under many
 * addresses serves a wall.
 *
 * @returns 16 bytes
 */
export function textFingerprint(text: string): Uint8Array | null {
  const words = text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ')
  if (words.length < SHORTEST) return null
  return createHash('sha256').update(words).digest().subarray(0, 16)
}
