import { ApiError } from '#services/api/contract/errors'
import {
  type FeedFormat,
  feedAddresses,
  OPML_TYPE,
  writeOpml,
} from '#services/api/feeds/feed-address'
import { readMembers } from '#services/api/http/body'
import {
  createFeed,
  type FeedObject,
  type FeedWithToken,
  feedObject,
  listFeeds,
  listFeedsWithTokens,
  revokeFeed,
} from '#shared/desk/feeds'
import { needed, readDescribed } from './described.ts'
import type { Handler, OwnerRoutes } from './handler.ts'
import { knownSets } from './outlet-sets.ts'

const answerList: Handler = async ({ pool, key }, _request, response) => {
  const feeds = await listFeeds(pool, key.id)
  const data = feeds.map(feedObject)
  response.json({ status: 'ok', data, feeds: data })
}

const answerNew: Handler = async ({ pool, publicUrl, serviceName, key }, request, response) => {
  const { search, title } = readMembers(request, ['search', 'title'])
  const described = readDescribed(needed(search), title ?? null, key.plan, serviceName, 'title')
  const feed = { search: described.search, title: described.name }
  const made = await createFeed(pool, key.id, feed, knownSets(key.id, search))
  // The key was revoked while the request ran.
  if (!made) throw new ApiError('invalid_token')
  const data = madeFeed(publicUrl, made)
  // The members beside `data` go one version later (CHANGELOG.md).
  response.status(201).json({ status: 'ok', data, ...data })
}

/** A new feed for its owner, with its addresses. */
export function madeFeed(publicUrl: string, { feed, token }: FeedWithToken): MadeFeed {
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

/** A new feed for its owner. `urls`: an address for each format; `url`: that of RSS. */
interface MadeFeed extends FeedObject {
  url: string
  urls: Record<FeedFormat, string>
}
