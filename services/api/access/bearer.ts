import type { IncomingMessage } from 'node:http'

/** The key that a request brings. */
export type Credentials = { kind: 'missing' } | { kind: 'malformed' } | { kind: 'bearer'; token: string }

// RFC 6750 §2.1: the scheme in any case, one or more spaces, a b64token.
const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i

/**
 * Reads `Authorization` (decision 1): absent, empty or a bare `Bearer` is no key at all; another
 * scheme, a malformed token or a second header is a wrong one. Nothing else of a request (query,
 * body, cookie) can carry a key.
 */
export function readCredentials(request: IncomingMessage): Credentials {
  const headers = request.headersDistinct.authorization ?? []
  const header = headers[0]?.trim() ?? ''
  if (headers.length > 1) return { kind: 'malformed' }
  if (header === '' || /^bearer$/i.test(header)) return { kind: 'missing' }
  const token = BEARER.exec(header)?.[1]
  return token === undefined ? { kind: 'malformed' } : { kind: 'bearer', token }
}
