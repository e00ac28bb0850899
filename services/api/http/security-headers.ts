import type { RequestHandler } from 'express'

/**
 * The headers of every answer for browsers, as helmet sets them: made once, because helmet runs a
 * function for each header of each answer. HTML pages have a policy of their own
 * (`page-security.ts`).
 */
export const SECURITY_HEADERS: readonly (readonly [name: string, value: string])[] = [
  ['Content-Security-Policy', "default-src 'none';frame-ancestors 'none'"],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Origin-Agent-Cluster', '?1'],
  ['Referrer-Policy', 'no-referrer'],
  ['X-Content-Type-Options', 'nosniff'],
  ['X-DNS-Prefetch-Control', 'off'],
  ['X-Download-Options', 'noopen'],
  ['X-Frame-Options', 'SAMEORIGIN'],
  ['X-Permitted-Cross-Domain-Policies', 'none'],
  ['X-XSS-Protection', '0'],
]

/** Only where clients come by https; the port that we listen on speaks http. */
export const TRANSPORT_SECURITY = ['Strict-Transport-Security', 'max-age=31536000'] as const

/** @param publicUrl address of the API as its clients write it */
export function securityHeaders(publicUrl: string): RequestHandler {
  const headers = publicUrl.startsWith('https:') ? [...SECURITY_HEADERS, TRANSPORT_SECURITY] : SECURITY_HEADERS
  return (_request, response, next) => {
    for (const [name, value] of headers) response.setHeader(name, value)
    next()
  }
}
