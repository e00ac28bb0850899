import { type Request, type RequestHandler, type Response, Router } from 'express'
import type { Plan } from '../../../shared/plans/keys.ts'
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
import { checkPlan, historyStart, readRequest, searchOf, titleOf } from '../contract/request.ts'
import { refuseMethod } from '../http/answer.ts'
import { readBody, readMembers, refuseParameters } from '../http/body.ts'
import { feedAddresses, OPML_TYPE, writeOpml } from './feed-address.ts'
import type { FeedIdentity } from './rss.ts'

/** What the handlers work with. */
interface FeedParts extends FeedIdentity {
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
    .post(takesNone, readBody(FEED_LIMITS.body), by(answerNew))
    .all(refuseMethod('GET, HEAD, POST'))
  router.route('/explore/feeds.opml').get(takesNone, by(answerOpml)).all(refuseMethod())
  router
    .route(/^\/explore\/feeds\/[^/]+$/)
    .delete(takesNone, by(answerEnd))
    .all(refuseMethod('DELETE'))
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

/** Limits of what describes a feed. */
export const FEED_LIMITS = {
  /** Code points. */
  title: 191,
  /**
   * Characters of a query string: the longest values of all parameters, percent-encoded, take
   * 7,500.
   */
  search: 8_192,
  /** Bytes of a request's body: both of the above in JSON. */
  body: 16_384,
} as const

/** What describes a new feed. */
export interface NewFeed {
  /** A query string in its one spelling. */
  search: string
  title: string
}

/**
 * Reads the search and the title of a new feed, by the rules of `/v1/articles.rss`: what is refused
 * there is refused here, and what the plan does not cover.
 *
 * @param search a query string without `?`; letters beyond ASCII may be written as they are
 * @param title null: the title of the feed itself
 * @throws ApiError
 */
export function readNewFeed(search: string, title: string | null, plan: Plan, serviceName: string): NewFeed {
  const named = title === null ? null : title.normalize('NFC').trim()
  const errors = { ...problemsOfSearch(search), ...(named === null ? {} : problemsOfTitle(named)) }
  if (Object.keys(errors).length > 0) throw new ApiError('invalid_request', { errors })
  // The reader of query strings takes bytes, one a character, as Node hands them over.
  const request = readRequest(Buffer.from(search).toString('latin1'), 'feed')
  checkPlan(request, plan, historyStart(plan.history, new Date()))
  const stored = searchOf(request)
  // A time may lie in the years of the contract where it was written, and beyond them in UTC.
  readRequest(stored, 'feed')
  const own = [...titleOf(serviceName, request)].slice(0, FEED_LIMITS.title).join('')
  return { search: stored, title: named || own }
}

function problemsOfSearch(search: string): Record<string, string[]> {
  if (search.length > FEED_LIMITS.search) return { search: [`Write at most ${FEED_LIMITS.search} characters.`] }
  if (!search.isWellFormed()) return { search: ['It holds half a character.'] }
  return {}
}

function problemsOfTitle(title: string): Record<string, string[]> {
  if ([...title].length > FEED_LIMITS.title) return { title: [`Write at most ${FEED_LIMITS.title} characters.`] }
  if (/\p{Cc}/u.test(title) || !title.isWellFormed()) return { title: ['Write it without control characters.'] }
  return {}
}
