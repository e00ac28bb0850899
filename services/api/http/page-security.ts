import type { RequestHandler } from 'express'
import helmet from 'helmet'

/**
 * Headers of our HTML pages: a browser loads everything from this server, frames the page nowhere
 * and sends no form from it.
 *
 * @param own what its component cannot do without: styles in its markup, a `<base>` of its own
 */
export function pageSecurity(own: { inlineStyles?: boolean; base?: boolean } = {}): RequestHandler {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: own.inlineStyles ? ["'self'", "'unsafe-inline'"] : ["'self'"],
        imgSrc: ["'self'", 'data:'],
        fontSrc: ["'self'"],
        connectSrc: ["'self'"],
        baseUri: own.base ? ["'self'"] : ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    strictTransportSecurity: false, // said, or not, by the app
  })
}
