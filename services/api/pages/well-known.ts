import { type RequestHandler, Router } from 'express'
import type { Config } from '../../../shared/config/config.ts'
import { makeFile, sendFile, type WebFile } from './files.ts'

/** Addresses that browsers and programs ask every site for. */
export const WELL_KNOWN_PATHS = ['/robots.txt', '/.well-known/security.txt', '/favicon.ico']

/** Pages for people; the rest are answers to keys, and feeds whose addresses are secret. */
const ROBOTS = ['User-agent: *', 'Allow: /$', 'Allow: /docs', 'Allow: /bot', 'Disallow: /', ''].join('\n')

/** The sign of the pages (web/parts/page.html). */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#115e67"/><path d="M9 26V6h8a6.5 6.5 0 0 1 0 13h-4" fill="none" stroke="#fff" stroke-width="3.4"/></svg>'

/** `/robots.txt`, `/.well-known/security.txt`, `/favicon.ico`, without a key. */
export function wellKnownPages(config: Config, publicUrl: string): Router {
  const router = Router({ strict: true, caseSensitive: true })
  const send = (make: () => WebFile): RequestHandler => {
    return (request, response) => sendFile(request, response, make(), 'public, max-age=86400')
  }
  const robots = makeFile('text/plain; charset=utf-8', ROBOTS)
  const icon = makeFile('image/svg+xml', ICON)
  router.get(
    '/robots.txt',
    send(() => robots),
  )
  router.get(
    '/.well-known/security.txt',
    send(() => makeFile('text/plain; charset=utf-8', securityText(config, publicUrl, new Date()))),
  )
  router.get(
    '/favicon.ico',
    send(() => icon),
  )
  return router
}

/** RFC 9116. It expires five to six months ahead, so that it stays the same for a month. */
function securityText({ CRAWL_FROM }: Config, publicUrl: string, now: Date): string {
  const expires = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 6, 1))
  return [
    `Contact: ${CRAWL_FROM === '' ? `${publicUrl}/bot` : `mailto:${CRAWL_FROM}`}`,
    `Expires: ${expires.toISOString()}`,
    'Preferred-Languages: en, nl, fr, de',
    `Canonical: ${publicUrl}/.well-known/security.txt`,
    '',
  ].join('\n')
}
