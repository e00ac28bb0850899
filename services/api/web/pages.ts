import { type Request, type RequestHandler, type Response, Router } from 'express'
import { matchesEtag } from '../http/answer.ts'
import { pageSecurity } from '../http/security.ts'
import { ASSETS_PATH, bundlePages, type Coding, type WebBundle, type WebFile } from './bundle.ts'

const YEAR = 31_536_000

/** Not a path with a parameter: Express would decode it, and fail at a broken percent-encoding. */
const ASSET_PATH = new RegExp(`^${ASSETS_PATH}[^/]+$`)

let bundled: Promise<WebBundle> | undefined

/**
 * The pages of `web/`, bundled once a process. A failed attempt is forgotten, so the next request
 * tries again.
 */
export function webBundle(): Promise<WebBundle> {
  bundled ??= bundlePages().catch(error => {
    bundled = undefined
    throw error
  })
  return bundled
}

/**
 * `/`, the explorer, and the files of all pages. Open to everybody: they hold nothing but the
 * program; articles come from `/v1` with a key. A path that names no file is left to the others,
 * and so is `/` when the client does not ask for HTML: programs get the contract's error (decision
 * 5).
 */
export function webPages(): Router {
  const router = Router({ strict: true, caseSensitive: true })
  router.get('/', asBrowsersAsk, pageSecurity(), async (request, response) => {
    const { pages } = await webBundle()
    response.vary('Accept')
    await sendFile(request, response, pages.explorer, 'no-cache')
  })
  router.get(ASSET_PATH, async (request, response, next) => {
    const { assets } = await webBundle()
    const file = assets.get(request.path)
    if (file === undefined) next()
    else await sendFile(request, response, file, `public, max-age=${YEAR}, immutable`)
  })
  return router
}

/** Leaves the router unless the client prefers HTML. A client that takes anything does not. */
const asBrowsersAsk: RequestHandler = (request, _response, next) => {
  next(request.accepts(['application/json', 'text/html']) === 'text/html' ? undefined : 'router')
}

/** Sends a bundled file in the best coding that the browser takes, or 304. */
export async function sendFile(
  request: Request,
  response: Response,
  file: WebFile,
  cacheControl: string,
): Promise<void> {
  response.vary('Accept-Encoding').set({ 'Cache-Control': cacheControl, ETag: file.etag })
  if (matchesEtag(request.headers['if-none-match'], file.etag)) {
    response.status(304).end()
    return
  }
  const coding = codingFor(request)
  const body = await file.body(coding)
  if (coding !== 'identity') response.set('Content-Encoding', coding)
  response.set({ 'Content-Type': file.contentType, 'Content-Length': String(body.length) }).end(body)
}

/** The smaller one that the browser takes: browsers name both alike. */
function codingFor(request: Request): Coding {
  if (request.acceptsEncodings('br') === 'br') return 'br'
  return request.acceptsEncodings('gzip') === 'gzip' ? 'gzip' : 'identity'
}
