import { ApiError, invalid } from '#services/api/contract/errors'
import { type OtherMember, readMembers } from '#services/api/http/body'
import { whyNoMail } from '#shared/desk/alerts/address'
import { type Alert, listAlerts } from '#shared/desk/alerts/alerts'
import { feedObject } from '#shared/desk/feeds'
import {
  changeSearch,
  endFeedOf,
  giveFeed,
  type KeptSearch,
  keepSearch,
  listSearches,
  removeSearch,
} from '#shared/desk/searches'
import { alertObject, answerAlert, answerEndAlert } from './alerts.ts'
import { needed, readDescribed } from './described.ts'
import { madeFeed } from './feeds.ts'
import { type Handler, noSearch, type OwnerRoutes } from './handler.ts'
import { answerWhatIsNew } from './new.ts'
import { knownSets } from './outlet-sets.ts'

/** Highest place in a list. */
const MOST_PLACES = 1_000_000

const answerList: Handler = async ({ pool, key, config }, _request, response) => {
  const alerts = await listAlerts(pool, key.id)
  const data = (await listSearches(pool, key.id)).map(one => searchObject(one, alerts))
  response.json({ status: 'ok', data, no_mail: whyNoMail(config) })
}

const answerNew: Handler = async ({ pool, serviceName, key }, request, response) => {
  const { search, name } = readMembers(request, ['search', 'name'])
  const described = readDescribed(needed(search), name ?? null, key.plan, serviceName)
  const kept = await keepSearch(pool, key.id, described, knownSets(key.id, search))
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
  const change = {
    ...(search === undefined ? {} : { search: described.search }),
    ...(name === undefined ? {} : { name: described.name }),
    ...(position === undefined ? {} : { position }),
  }
  const kept = await changeSearch(pool, key.id, id, change, knownSets(key.id, search))
  if (kept === null) throw noSearch()
  response.json({ status: 'ok', data: searchObject(kept, await listAlerts(pool, key.id)) })
}

const answerRemove: Handler = async ({ pool, key, id }, _request, response) => {
  if (!(await removeSearch(pool, key.id, id))) throw noSearch()
  response.status(204).end()
}

const answerFeed: Handler = async ({ pool, publicUrl, key, id }, _request, response) => {
  const found = await giveFeed(pool, key.id, id)
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
export const SEARCH_ROUTES: OwnerRoutes = [
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
