import { type RequestHandler, type Response, Router } from 'express'
import {
  createFeed,
  listFeeds,
  listFeedsWithTokens,
  MAX_FEEDS,
  revokeFeed,
  type SearchFeed,
  TooManyFeeds,
} from '../../../shared/plans/search-feeds.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import { accessOf } from '../access/locals.ts'
import type { Permits } from '../access/permits.ts'
import { ApiError } from '../contract/api-error.ts'
import { feedAddress, subscriptionOf } from './address.ts'
import { readBody, readMembers } from './body.ts'
import { OPML_TYPE, writeOpml } from './opml.ts'
import { readNewFeed } from './search.ts'

/** What the handlers work with. */
export interface FeedParts {
  pool: Pool
  /** So that one key's requests never hold many connections. */
  counts: Permits
  publicUrl: string
  serviceName: string
}

/**
 * The feeds of a key, for its owner: list, make, revoke, OPML. Behind the key and its minute; they
 * cost nothing of the month.
 */
export function feedPages(parts: FeedParts): Router {
  const router = Router({ strict: true, caseSensitive: true })
  const byKey = (response: Response, work: () => Promise<void>) =>
    parts.counts.take(`feeds ${accessOf(response).key.id}`, work)
  const handle =
    (work: (request: Parameters<RequestHandler>[0], response: Response) => Promise<void>): RequestHandler =>
    (request, response) =>
      byKey(response, () => work(request, response))

  router.use(['/explore/feeds', '/explore/feeds.opml'], (_request, response, next) => {
    // Addresses of feeds are secrets: nothing keeps these answers.
    response.set('Cache-Control', 'no-store').vary('Authorization')
    next()
  })
  router
    .route('/explore/feeds')
    .get(
      handle(async (_request, response) => {
        const feeds = await listFeeds(parts.pool, accessOf(response).key.id)
        response.json({ status: 'ok', feeds: feeds.map(feedObject) })
      }),
    )
    .post(
      readBody,
      handle(async (request, response) => {
        response.status(201).json(await make(parts, response, readMembers(request, ['search', 'title'])))
      }),
    )
    .all(refuse('GET, HEAD, POST'))
  router
    .route('/explore/feeds.opml')
    .get(handle(async (_request, response) => sendOpml(parts, response)))
    .all(refuse('GET, HEAD'))
  router
    .route(/^\/explore\/feeds\/[^/]+$/)
    .delete(
      handle(async (request, response) => {
        const id = request.path.slice('/explore/feeds/'.length)
        const isRevoked = await revokeFeed(parts.pool, id, accessOf(response).key.id)
        if (!isRevoked)
          throw new ApiError('not_found', { message: 'This key has no such feed; see GET /explore/feeds.' })
        response.status(204).end()
      }),
    )
    .all(refuse('DELETE'))
  return router
}

async function make({ pool, publicUrl, serviceName }: FeedParts, response: Response, members: Members) {
  if (members.search === undefined) {
    throw new ApiError('invalid_request', {
      errors: { search: ['Write the search as a query string, or "" for all.'] },
    })
  }
  const { key } = accessOf(response)
  const described = readNewFeed(members.search, members.title ?? null, key.plan, serviceName)
  const made = await createFeed(pool, key.id, described).catch(error => {
    if (!(error instanceof TooManyFeeds)) throw error
    throw new ApiError('too_many_feeds', { message: `A key may have ${MAX_FEEDS} feeds; revoke one first.` })
  })
  // The key was revoked in this very moment.
  if (!made) throw new ApiError('invalid_token')
  return { status: 'ok', ...feedObject(made.feed), url: feedAddress(publicUrl, made.token) }
}

type Members = Partial<Record<'search' | 'title', string>>

async function sendOpml({ pool, publicUrl, serviceName }: FeedParts, response: Response): Promise<void> {
  const feeds = await listFeedsWithTokens(pool, accessOf(response).key.id)
  const opml = writeOpml(
    serviceName,
    feeds.map(feed => subscriptionOf(publicUrl, feed)),
  )
  response.set({ 'Content-Type': OPML_TYPE, 'Content-Disposition': 'attachment; filename="feeds.opml"' }).send(opml)
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
function refuse(methods: string): RequestHandler {
  return (_request, _response, next) => {
    next(
      new ApiError('method_not_allowed', { message: `Only ${methods} are served here.`, headers: { Allow: methods } }),
    )
  }
}
