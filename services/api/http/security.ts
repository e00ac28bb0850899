import cors from 'cors'
import type { Request, RequestHandler } from 'express'
import { HEADERS } from '#services/api/contract/resources'

/**
 * The headers of every answer for browsers, as the package helmet sets them. HTML pages have a
 * policy of their own (`pageSecurity`).
 */
const SECURITY_HEADERS: readonly (readonly [name: string, value: string])[] = [
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

/** Sent only where clients come by https, through a proxy, because our own port speaks http. */
const TRANSPORT_SECURITY = ['Strict-Transport-Security', 'max-age=31536000'] as const

/** @param publicUrl address of the API as its clients write it */
export function securityHeaders(publicUrl: string): RequestHandler {
  const headers = publicUrl.startsWith('https:')
    ? [...SECURITY_HEADERS, TRANSPORT_SECURITY]
    : SECURITY_HEADERS
  return (_request, response, next) => {
    for (const [name, value] of headers) response.setHeader(name, value)
    next()
  }
}

/**
 * Headers of our HTML pages. A browser loads everything from this server, shows the page in no
 * frame, and sends no form from it.
 *
 * @param options.inlineStyles the page has styles in its markup
 */
export function pageSecurity({ inlineStyles = false } = {}): RequestHandler {
  const styles = inlineStyles ? "'self' 'unsafe-inline'" : "'self'"
  const policy =
    `default-src 'none';script-src 'self';style-src ${styles};img-src 'self' data:;font-src 'self';` +
    "connect-src 'self';base-uri 'none';form-action 'none';frame-ancestors 'none'"
  return (_request, response, next) => {
    response.setHeader('Content-Security-Policy', policy)
    next()
  }
}

/**
 * Lets pages of these origins read answers, and answers the preflights of their browsers. Any other
 * OPTIONS request gets `method_not_allowed`, after the check of its key.
 */
export function crossOrigin(origins: string[]): RequestHandler[] {
  const reading = {
    origin: origins.includes('*') ? '*' : origins,
    methods: ['GET', 'HEAD'],
    allowedHeaders: ['Authorization', 'If-None-Match', 'X-Request-Id'],
    exposedHeaders: Object.keys(HEADERS),
    maxAge: 600,
    preflightContinue: true,
  }
  const changing = {
    ...reading,
    methods: [...reading.methods, 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: [...reading.allowedHeaders, 'Content-Type', 'MCP-Protocol-Version'],
  }
  return [
    cors<Request>(({ path }, done) => done(null, path.startsWith('/v1/') ? reading : changing)),
    (request, response, next) => {
      const asks =
        request.method === 'OPTIONS' && request.get('Access-Control-Request-Method') !== undefined
      if (asks && response.hasHeader('Access-Control-Allow-Origin')) response.status(204).end()
      else next()
    },
  ]
}
