import { hash, randomBytes } from 'node:crypto'

/** Prefix of all keys: scanners recognise a key in a log or a commit by it. */
const PREFIX = 'psk_'

/** A new API key: 256 random bits, 47 characters. Shown once, stored only as its hash. */
export function makeSecret(): string {
  return PREFIX + randomBytes(32).toString('base64url')
}

/** Whether a text has the form of a key. Other texts need no query. */
export function looksLikeSecret(text: string): boolean {
  return /^psk_[\w-]{43}$/.test(text)
}

/**
 * SHA-256 of a key. A slow hash would protect guessable passwords; 256 random bits cannot be
 * guessed, and the hash is taken with every request.
 */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}
