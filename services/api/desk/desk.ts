import { type RequestHandler, Router } from 'express'
import { accessOf } from '#services/api/access/access'
import { refuseMethod } from '#services/api/http/answer'
import { readBody, refuseParameters } from '#services/api/http/body'
import { SEARCH_LIMITS } from './described.ts'
import { FEED_ROUTES } from './feeds.ts'
import type { Handler, OwnerParts } from './handler.ts'
import { OUTLET_SET_ROUTES } from './outlet-sets.ts'
import { SEARCH_ROUTES } from './searches.ts'

/**
 * The pages for the owner of a key: its feeds, its kept searches, and their feeds and alerts. A
 * request needs the key and is counted in its minute, but takes nothing from the quota of the
 * month. Each request waits for a permit of its key.
 */
export function ownerPages(parts: OwnerParts): Router {
  const router = Router({ strict: true, caseSensitive: true })
  const by =
    (answer: Handler): RequestHandler =>
    (request, response) => {
      const { key } = accessOf(response)
      const searches = parts.searchesOf(response)
      const id = request.path.split('/')[3] ?? ''
      const asked = { ...parts, pool: searches.db, searches, key, id }
      const work = () => answer(asked, request, response)
      return parts.counts.take(`feeds ${key.id}`, work, searches.leaves)
    }
  router.use(
    ['/explore/feeds', '/explore/feeds.opml', '/explore/searches', '/explore/outlet-sets'],
    keptNowhere,
  )
  for (const [path, operations] of [...FEED_ROUTES, ...SEARCH_ROUTES, ...OUTLET_SET_ROUTES]) {
    const route = router.route(path)
    for (const method of METHODS) {
      const answer = operations[method]
      if (Array.isArray(answer))
        route[method](takesNone, readBody(SEARCH_LIMITS.body), by(answer[0]))
      else if (answer !== undefined) route[method](takesNone, by(answer))
    }
    const served = METHODS.filter(method => method in operations).map(method =>
      method.toUpperCase(),
    )
    route.all(refuseMethod(served.join(', ').replace('GET', 'GET, HEAD')))
  }
  return router
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const

/** Forbids caches to store these answers, because addresses of feeds are secrets. */
const keptNowhere: RequestHandler = (_request, response, next) => {
  response.set('Cache-Control', 'no-store').vary('Authorization')
  next()
}

/** Refuses parameters. A list that silently ignored a filter would be a wrong answer. */
const takesNone: RequestHandler = (request, _response, next) => {
  refuseParameters(request, 'This operation takes no parameters.')
  next()
}
