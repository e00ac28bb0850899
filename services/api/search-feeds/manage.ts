import { type Request, type RequestHandler, type Response, Router } from 'express'
import {
  createFeed,
  listFeeds,
  listFeedsWithTokens,
  revokeFeed,
  type SearchFeed,
  TooManyFeeds,
} from '../../../shared/plans/search-feeds.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import { accessOf } from '../access/access.ts'
import type { Permits } from '../access/permits.ts'
import { ApiError } from '../contract/errors.ts'
import { feedAddresses, OPML_TYPE, type Publisher, writeOpml } from './address.ts'
import { readBody, readMembers } from './body.ts'
import { readNewFeed, refuseParameters } from './search.ts'

/** What the handlers work with. */
export interface FeedParts extends Publisher {
  pool: Pool
  /** So that one key's requests never hold many connections. */
  counts: Permits
}

/**
 * The feeds of a key, for its owner: list, make, revoke, OPML. Behind the key and its minute; they
 * cost nothing of the month.
 */
export function feedPages(parts: FeedParts): Router {
  const router = Router({ strict: true, caseSensitive: true })
  const by =
    (answer: Handler): RequestHandler =>
    (request, response) =>
      parts.counts.take(`feeds ${accessOf(response).key.id}`, () => answer(parts, request, response))

  router.use(['/explore/feeds', '/explore/feeds.opml'], (_request, response, next) => {
    // Addresses of feeds are secrets: nothing keeps these answers.
    response.set('Cache-Control', 'no-store').vary('Authorization')
    next()
  })
  router
    .route('/explore/feeds')
    .get(takesNone, by(answerList))
    .post(takesNone, readBody, by(answerNew))
    .all(refuse('GET, HEAD, POST', 'Only GET, HEAD and POST are served here.'))
  router
    .route('/explore/feeds.opml')
    .get(takesNone, by(answerOpml))
    .all(refuse('GET, HEAD', 'Only GET and HEAD are served here.'))
  router
    .route(/^\/explore\/feeds\/[^/]+$/)
    .delete(takesNone, by(answerEnd))
    .all(refuse('DELETE', 'Only DELETE is served here.'))
  return router
}

/** A list that ignored a filter in silence would be a wrong answer. */
const takesNone: RequestHandler = (request, _response, next) => {
  refuseParameters(request, 'This operation takes no parameters.')
  next()
}

type Handler = (parts: FeedParts, request: Request, response: Response) => Promise<void>

const answerList: Handler = async ({ pool }, _request, response) => {
  const feeds = await listFeeds(pool, accessOf(response).key.id)
  response.json({ status: 'ok', feeds: feeds.map(feedObject) })
}

const answerNew: Handler = async ({ pool, publicUrl, serviceName }, request, response) => {
  const { search, title } = readMembers(request, ['search', 'title'])
  if (search === undefined) {
    const errors = { search: ['Write the search as a query string, or "" for all.'] }
    throw new ApiError('invalid_request', { errors })
  }
  const { key } = accessOf(response)
  const made = await createFeed(pool, key.id, readNewFeed(search, title ?? null, key.plan, serviceName)).catch(
    error => {
      throw error instanceof TooManyFeeds ? new ApiError('too_many_feeds', { message: error.message }) : error
    },
  )
  // The key was revoked in this very moment.
  if (!made) throw new ApiError('invalid_token')
  const urls = feedAddresses(publicUrl, made.token)
  response.status(201).json({ status: 'ok', ...feedObject(made.feed), url: urls.rss, urls })
}

const answerEnd: Handler = async ({ pool }, request, response) => {
  const id = request.path.slice('/explore/feeds/'.length)
  if (!(await revokeFeed(pool, id, accessOf(response).key.id))) {
    throw new ApiError('not_found', { message: 'This key has no such feed; see GET /explore/feeds.' })
  }
  response.status(204).end()
}

const answerOpml: Handler = async (parts, _request, response) => {
  const feeds = await listFeedsWithTokens(parts.pool, accessOf(response).key.id)
  response.set({ 'Content-Type': OPML_TYPE, 'Content-Disposition': 'attachment; filename="feeds.opml"' })
  response.send(writeOpml(parts, feeds))
}

/** A feed as its owner sees it: without its address. */
function feedObject(feed: SearchFeed) {
  return {
    id: feed.id,
    title: feed.title,
    search: feed.search,
    created_at: feed.createdAt.toISOString(),
    last_used_at: feed.lastUsedAt?.toISOString() ?? null,
    requests: feed.requests,
  }
}

/** Any method that a path does not have. */
function refuse(methods: string, message: string): RequestHandler {
  return (_request, _response, next) => {
    next(new ApiError('method_not_allowed', { message, headers: { Allow: methods } }))
  }
}
