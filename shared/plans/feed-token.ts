import { createHmac, randomBytes } from 'node:crypto'
import type { Queryable } from '../postgres/pool.ts'
import { loadSharedSecret } from '../postgres/shared-secret.ts'

/** So that a token is known for one when it turns up in a log or a commit. */
const PREFIX = 'psf_'

/** What a feed's token is made of. */
export interface TokenSource {
  feedId: string
  keyId: string
  nonce: Buffer
}

/**
 * Makes the tokens of feeds: the same source gives the same token for as long as the secret stays.
 */
export type TokenMaker = (source: TokenSource) => string

/** 256 random bits. */
export const makeNonce = (): Buffer => randomBytes(32)

/**
 * Tokens are HMAC-SHA-256 of their source, 256 bits, 47 characters. So their table holds hashes
 * only, and an address can still be shown to the key's owner again.
 */
export async function loadTokenMaker(db: Queryable): Promise<TokenMaker> {
  const secret = await loadSharedSecret(db, 'feeds')
  return ({ feedId, keyId, nonce }) =>
    PREFIX + createHmac('sha256', secret).update(`${feedId} ${keyId} `).update(nonce).digest('base64url')
}

/** Whether a text has the form of a token; what has not needs no look into the database. */
export const looksLikeToken = (text: string): boolean => /^psf_[\w-]{43}$/.test(text)
