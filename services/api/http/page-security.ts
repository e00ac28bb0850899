import type { RequestHandler } from 'express'
import helmet from 'helmet'

/**
 * What an HTML page of ours tells browsers: everything comes from here, nothing frames it or is
 * sent from it.
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
