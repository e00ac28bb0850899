import type { Request, Response } from 'express'
import type { Config } from '../../../shared/config/config.ts'
import type { FoundKey, Plan } from '../../../shared/plans/keys.ts'
import {
  createFeed,
  type FeedWithToken,
  listFeeds,
  listFeedsWithTokens,
  revokeFeed,
  type SearchFeed,
  TooManyFeeds,
  TooManySearches,
} from '../../../shared/plans/search-feeds.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import type { Permits } from '../access/permits.ts'
import type { Searches } from '../articles/find.ts'
import type { CursorSecret } from '../contract/cursor.ts'
import { ApiError, invalid } from '../contract/errors.ts'
import { checkPlan, historyStart, readSearch, searchOf, titleOf } from '../contract/request.ts'
import { feedAddresses, OPML_TYPE, writeOpml } from '../feeds/feed-address.ts'
import type { FeedIdentity } from '../feeds/rss.ts'
import { readMembers } from '../http/body.ts'

type AlertSettings = Pick<Config, 'ALERT_HOSTS' | 'SMTP_URL'>

/** The parts of the API that the handlers need. */
export interface OwnerParts extends FeedIdentity {
  pool: Pool
  /** Permits by key, so that the requests of one key never take many connections. */
  counts: Permits
  cursorSecret: CursorSecret
  config: AlertSettings
  searchesOf(response: Response): Searches
}

/** @param parts with the key of the request, and the id in its path */
export type Handler = (
  parts: OwnerParts & { key: FoundKey['key']; id: string },
  request: Request,
  response: Response,
) => Promise<void>

/**
 * Operations on feeds and searches of a key, by path and method. A handler in brackets reads a
 * body.
 */
export type OwnerRoutes = [
  path: string | RegExp,
  operations: Partial<Record<Method, Handler | [Handler]>>,
][]
type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

const answerList: Handler = async ({ pool, key }, _request, response) => {
  const feeds = await listFeeds(pool, key.id)
  response.json({ status: 'ok', feeds: feeds.map(feedObject) })
}

const answerNew: Handler = async ({ pool, publicUrl, serviceName, key }, request, response) => {
  const { search, title } = readMembers(request, ['search', 'title'])
  const described = readDescribed(needed(search), title ?? null, key.plan, serviceName, 'title')
  const made = await createFeed(pool, key.id, {
    search: described.search,
    title: described.name,
  }).catch(refuseMore)
  // The key was revoked while the request ran.
  if (!made) throw new ApiError('invalid_token')
  response.status(201).json({ status: 'ok', ...madeFeed(publicUrl, made) })
}

/** @throws ApiError in place of an error of `shared/plans` about a limit that is reached */
export function refuseMore(error: unknown): never {
  if (error instanceof TooManyFeeds)
    throw new ApiError('too_many_feeds', { message: error.message })
  if (error instanceof TooManySearches)
    throw new ApiError('too_many_searches', { message: error.message })
  throw error
}

/** A new feed for its owner, with its addresses. */
export function madeFeed(publicUrl: string, { feed, token }: FeedWithToken) {
  const urls = feedAddresses(publicUrl, token)
  return { ...feedObject(feed), url: urls.rss, urls }
}

const answerEnd: Handler = async ({ pool, key, id }, _request, response) => {
  if (!(await revokeFeed(pool, id, key.id))) {
    throw new ApiError('not_found', {
      message: 'This key has no such feed; see GET /explore/feeds.',
    })
  }
  response.status(204).end()
}

const answerOpml: Handler = async (parts, _request, response) => {
  const feeds = await listFeedsWithTokens(parts.pool, parts.key.id)
  response.set({
    'Content-Type': OPML_TYPE,
    'Content-Disposition': 'attachment; filename="feeds.opml"',
  })
  response.send(writeOpml(parts, feeds))
}

/** The feeds of a key, for its owner: list, make, revoke, OPML. */
export const FEED_ROUTES: OwnerRoutes = [
  ['/explore/feeds', { get: answerList, post: [answerNew] }],
  ['/explore/feeds.opml', { get: answerOpml }],
  [/^\/explore\/feeds\/[^/]+$/, { delete: answerEnd }],
]

/** A feed for its owner, without its address. */
export function feedObject(feed: SearchFeed) {
  return {
    id: feed.id,
    title: feed.title,
    search: feed.search,
    created_at: feed.createdAt.toISOString(),
    last_used_at: feed.lastUsedAt?.toISOString() ?? null,
    requests: feed.requests,
  }
}

/** Limits of the texts that describe a kept search. */
export const SEARCH_LIMITS = {
  /** Code points. */
  name: 191,
  /** Characters of a query string: enough for the longest expression, percent-encoded. */
  search: 32_768,
  /** Bytes of a request's body: both of the above in JSON. */
  body: 40_960,
} as const

/** @throws ApiError when a new search has no query string */
export function needed(search: string | undefined): string {
  if (search !== undefined) return search
  throw invalid('search', 'Write the search as a query string, or "" for all.')
}

/** A search and its name, both checked. */
interface Described {
  /** A query string in its one spelling. */
  search: string
  name: string
}

/**
 * Reads a search and its name, by the rules of `/explore/articles.rss`. It refuses every search
 * that `/explore/articles.rss` refuses, and every search that the plan does not cover.
 *
 * @param search a query string without `?`; letters beyond ASCII need no percent-encoding
 * @param written its name; null: the title that a feed of the search has
 * @param member the member of the body that holds the name
 * @throws ApiError
 */
export function readDescribed(
  search: string,
  written: string | null,
  plan: Plan,
  serviceName: string,
  member: 'name' | 'title' = 'name',
): Described {
  const name = written === null ? null : written.normalize('NFC').trim()
  const errors = {
    ...problemsOfSearch(search),
    ...(name === null ? {} : problemsOfName(member, name)),
  }
  if (Object.keys(errors).length > 0) throw new ApiError('invalid_request', { errors })
  // The reader of query strings takes bytes, one byte a character, as Node passes them.
  const request = readSearch(Buffer.from(search).toString('latin1'), 'feed')
  checkPlan(request, plan, historyStart(plan.history, new Date()))
  const stored = searchOf(request)
  // The spelling in UTC is checked again, because a time near the bounds may leave the contract's
  // years.
  readSearch(stored, 'feed')
  const own = [...titleOf(serviceName, request)].slice(0, SEARCH_LIMITS.name).join('')
  return { search: stored, name: name || own }
}

function problemsOfSearch(search: string): Record<string, string[]> {
  if (search.length > SEARCH_LIMITS.search)
    return { search: [`Write at most ${SEARCH_LIMITS.search} characters.`] }
  if (!search.isWellFormed()) return { search: ['It holds half a character.'] }
  return {}
}

function problemsOfName(member: string, name: string): Record<string, string[]> {
  if ([...name].length > SEARCH_LIMITS.name)
    return { [member]: [`Write at most ${SEARCH_LIMITS.name} characters.`] }
  if (/\p{Cc}/u.test(name) || !name.isWellFormed())
    return { [member]: ['Write it without control characters.'] }
  return {}
}
