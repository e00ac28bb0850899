import { type RequestHandler, Router } from 'express'
import { type Alert, listAlerts } from '../../../shared/plans/alerts.ts'
import {
  changeSearch,
  endFeedOf,
  giveFeed,
  type KeptSearch,
  keepSearch,
  listSearches,
  removeSearch,
} from '../../../shared/plans/kept-searches.ts'
import { accessOf } from '../access/access.ts'
import { ApiError, invalid } from '../contract/errors.ts'
import { refuseMethod } from '../http/answer.ts'
import { type OtherMember, readBody, readMembers, refuseParameters } from '../http/body.ts'
import { alertObject, answerAlert, answerEndAlert, noSearch } from './alerts.ts'
import {
  FEED_ROUTES,
  feedObject,
  type Handler,
  madeFeed,
  needed,
  type OwnerParts,
  type OwnerRoutes,
  readDescribed,
  refuseMore,
  SEARCH_LIMITS,
} from './feeds.ts'
import { answerWhatIsNew } from './new.ts'

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
      const asked = { ...parts, key, id: request.path.split('/')[3] ?? '' }
      return parts.counts.take(`feeds ${key.id}`, () => answer(asked, request, response))
    }
  router.use(['/explore/feeds', '/explore/feeds.opml', '/explore/searches'], keptNowhere)
  for (const [path, operations] of [...FEED_ROUTES, ...SEARCH_ROUTES]) {
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

/** Highest place in a list. */
const MOST_PLACES = 1_000_000

const answerList: Handler = async ({ pool, key }, _request, response) => {
  const alerts = await listAlerts(pool, key.id)
  const data = (await listSearches(pool, key.id)).map(one => searchObject(one, alerts))
  response.json({ status: 'ok', data })
}

const answerNew: Handler = async ({ pool, serviceName, key }, request, response) => {
  const { search, name } = readMembers(request, ['search', 'name'])
  const described = readDescribed(needed(search), name ?? null, key.plan, serviceName)
  const kept = await keepSearch(pool, key.id, described).catch(refuseMore)
  // The key was revoked while the request ran.
  if (kept === null) throw new ApiError('invalid_token')
  response.status(201).json({ status: 'ok', data: searchObject(kept, []) })
}

const PLACE: OtherMember<number> = {
  name: 'position',
  read: value =>
    Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MOST_PLACES
      ? Number(value)
      : null,
  sentence: `Write a whole number from 0 to ${MOST_PLACES}.`,
}

const answerChange: Handler = async ({ pool, serviceName, key, id }, request, response) => {
  const { search, name, other: position } = readMembers(request, ['search', 'name'], PLACE)
  if (search === undefined && name === undefined && position === undefined) {
    throw invalid('body', 'Give a name, a search or a position.')
  }
  if (name?.trim() === '') throw invalid('name', 'Write a name.')
  const described = readDescribed(search ?? '', name ?? null, key.plan, serviceName)
  const kept = await changeSearch(pool, key.id, id, {
    ...(search === undefined ? {} : { search: described.search }),
    ...(name === undefined ? {} : { name: described.name }),
    ...(position === undefined ? {} : { position }),
  })
  if (kept === null) throw noSearch()
  response.json({ status: 'ok', data: searchObject(kept, await listAlerts(pool, key.id)) })
}

const answerRemove: Handler = async ({ pool, key, id }, _request, response) => {
  if (!(await removeSearch(pool, key.id, id))) throw noSearch()
  response.status(204).end()
}

const answerFeed: Handler = async ({ pool, publicUrl, key, id }, _request, response) => {
  const found = await giveFeed(pool, key.id, id).catch(refuseMore)
  if (found === null) throw noSearch()
  response
    .status(found.isNew ? 201 : 200)
    .json({ status: 'ok', data: madeFeed(publicUrl, found.given) })
}

const answerEndFeed: Handler = async ({ pool, key, id }, _request, response) => {
  if (!(await endFeedOf(pool, key.id, id))) throw noSearch()
  response.status(204).end()
}

/**
 * The operations on kept searches: list, keep, change, remove, and the feed and the alert of a
 * search.
 */
const SEARCH_ROUTES: OwnerRoutes = [
  ['/explore/searches', { get: answerList, post: [answerNew] }],
  ['/explore/searches/new', { post: [answerWhatIsNew] }],
  [/^\/explore\/searches\/search_[^/]*$/, { patch: [answerChange], delete: answerRemove }],
  [/^\/explore\/searches\/search_[^/]*\/feed$/, { put: answerFeed, delete: answerEndFeed }],
  [/^\/explore\/searches\/search_[^/]*\/alert$/, { put: [answerAlert], delete: answerEndAlert }],
]

/** A kept search for its owner. */
function searchObject(
  { id, name, search, position, createdAt, feed }: KeptSearch,
  alerts: readonly Alert[],
) {
  const alert = alerts.find(one => one.searchId === id)
  return {
    id,
    name,
    search,
    position,
    created_at: createdAt.toISOString(),
    feed: feed && feedObject(feed),
    alert: alert === undefined ? null : alertObject(alert),
  }
}
