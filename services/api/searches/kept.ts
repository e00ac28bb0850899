import { type Request, Router } from 'express'
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
import { type OtherMember, readBody, readMembers } from '../http/body.ts'
import { alertObject, answerAlert, answerEndAlert, noSearch } from './alerts.ts'
import {
  answering,
  feedObject,
  type Handler,
  keptNowhere,
  madeFeed,
  needed,
  type OwnerParts,
  readDescribed,
  refuseMore,
  SEARCH_LIMITS,
  takesNone,
} from './feeds.ts'
import { answerWhatIsNew } from './new.ts'

/**
 * The searches that a key keeps: list, keep, change, remove, and what hangs on one. Behind
 * the key and its minute; they cost nothing of the month.
 */
export function searchPages(parts: OwnerParts): Router {
  const router = Router({ strict: true, caseSensitive: true })
  const by = answering(parts)
  const body = readBody(SEARCH_LIMITS.body)
  router.use('/explore/searches', keptNowhere)
  router
    .route('/explore/searches')
    .get(takesNone, by(answerList))
    .post(takesNone, body, by(answerNew))
    .all(refuseMethod('GET, HEAD, POST'))
  router.route('/explore/searches/new').post(takesNone, body, by(answerWhatIsNew)).all(refuseMethod('POST'))
  router
    .route(/^\/explore\/searches\/search_[^/]*$/)
    .patch(takesNone, body, by(answerChange))
    .delete(takesNone, by(answerRemove))
    .all(refuseMethod('PATCH, DELETE'))
  router
    .route(/^\/explore\/searches\/search_[^/]*\/feed$/)
    .put(takesNone, by(answerFeed))
    .delete(takesNone, by(answerEndFeed))
    .all(refuseMethod('PUT, DELETE'))
  router
    .route(/^\/explore\/searches\/search_[^/]*\/alert$/)
    .put(takesNone, body, by(answerAlert))
    .delete(takesNone, by(answerEndAlert))
    .all(refuseMethod('PUT, DELETE'))
  return router
}

/** Highest place in a list. */
const MOST_PLACES = 1_000_000

const idOf = ({ path }: Request): string => path.split('/')[3] ?? ''

const answerList: Handler = async ({ pool }, _request, response) => {
  const keyId = accessOf(response).key.id
  const alerts = await listAlerts(pool, keyId)
  const data = (await listSearches(pool, keyId)).map(one => searchObject(one, alerts))
  response.json({ status: 'ok', data })
}

const answerNew: Handler = async ({ pool, serviceName }, request, response) => {
  const { search, name } = readMembers(request, ['search', 'name'])
  const { key } = accessOf(response)
  const described = readDescribed(needed(search), name ?? null, key.plan, serviceName)
  const kept = await keepSearch(pool, key.id, described).catch(refuseMore)
  // The key was revoked in this very moment.
  if (kept === null) throw new ApiError('invalid_token')
  response.status(201).json({ status: 'ok', data: searchObject(kept, []) })
}

const PLACE: OtherMember<number> = {
  name: 'position',
  read: value => (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MOST_PLACES ? Number(value) : null),
  sentence: `Write a whole number from 0 to ${MOST_PLACES}.`,
}

const answerChange: Handler = async ({ pool, serviceName }, request, response) => {
  const { search, name, other: position } = readMembers(request, ['search', 'name'], PLACE)
  if (search === undefined && name === undefined && position === undefined) {
    throw invalid('body', 'Give a name, a search or a position.')
  }
  if (name?.trim() === '') throw invalid('name', 'Write a name.')
  const { key } = accessOf(response)
  const described = readDescribed(search ?? '', name ?? null, key.plan, serviceName)
  const kept = await changeSearch(pool, key.id, idOf(request), {
    ...(search === undefined ? {} : { search: described.search }),
    ...(name === undefined ? {} : { name: described.name }),
    ...(position === undefined ? {} : { position }),
  })
  if (kept === null) throw noSearch()
  response.json({ status: 'ok', data: searchObject(kept, await listAlerts(pool, key.id)) })
}

const answerRemove: Handler = async ({ pool }, request, response) => {
  if (!(await removeSearch(pool, accessOf(response).key.id, idOf(request)))) throw noSearch()
  response.status(204).end()
}

const answerFeed: Handler = async ({ pool, publicUrl }, request, response) => {
  const found = await giveFeed(pool, accessOf(response).key.id, idOf(request)).catch(refuseMore)
  if (found === null) throw noSearch()
  response.status(found.isNew ? 201 : 200).json({ status: 'ok', data: madeFeed(publicUrl, found.given) })
}

const answerEndFeed: Handler = async ({ pool }, request, response) => {
  if (!(await endFeedOf(pool, accessOf(response).key.id, idOf(request)))) throw noSearch()
  response.status(204).end()
}

/** A kept search as its owner sees it. */
function searchObject({ id, name, search, position, createdAt, feed }: KeptSearch, alerts: readonly Alert[]) {
  const alert = alerts.find(one => one.searchId === id)
  return {
    ...{ id, name, search, position },
    created_at: createdAt.toISOString(),
    feed: feed && feedObject(feed),
    alert: alert === undefined ? null : alertObject(alert),
  }
}
