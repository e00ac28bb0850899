import type { Request, RequestHandler, Response } from 'express'
import { INDEX_STATE, type IndexState } from '#search/index'
import { accessOf, admit, refuseLocked, refuseStranger } from '#services/api/access/access'
import type { Lookup } from '#services/api/access/admissions'
import { type AddressLock, lockAddress } from '#services/api/access/lock'
import type { Permits } from '#services/api/access/permits'
import { ApiError } from '#services/api/contract/errors'
import { refuseParameters } from '#services/api/http/body'
import { countRequest, findFeed, looksLikeToken } from '#shared/desk/feeds'
import { countInMinute } from '#shared/plans/counting'
import { hashSecret } from '#shared/plans/keys'
import type { Queryable } from '#shared/postgres/pool'
import type { AskedFeed } from './atom-json.ts'
import { partsOf } from './feed-address.ts'

/**
 * Admits a request for the address of a feed, under the key of the feed. A wrong token counts
 * against the address that sent it, as a wrong key does, but only when it is a guess (`isGuess`).
 * The token of an ended feed does not count, because its reader guesses nothing. An `Authorization`
 * header is not read.
 */
export function checkToken(
  db: Queryable,
  lock: AddressLock,
  lookup: Lookup,
  permits: Permits,
): RequestHandler {
  return async (request, response, next) => {
    const address = lockAddress(request.ip, request.socket.remoteAddress)
    const { token, format } = partsOf(request.path)
    const found = looksLikeToken(token)
      ? await lookup(
          hashSecret(token),
          () => address,
          // Requests with one token wait for each other. Otherwise thousands of them could take all
          // connections.
          () => permits.take(`token ${token}`, () => findFeed<IndexState>(db, token, INDEX_STATE)),
        ).catch(refuseStranger)
      : null
    if (!found) {
      refuseLocked(await (isGuess(request, token) ? lock.fail(address) : lock.remaining(address)))
      throw new ApiError('not_found', { message: 'There is no such feed; copy its whole address.' })
    }
    if (found.ended) {
      refuseLocked(await lock.remaining(address))
      throw new ApiError('feed_ended')
    }
    admit(response, found.access)
    const { lastSeq, version, wordsVersion } = found.beside
    response.locals.indexState = { lastSeq, version, wordsVersion }
    response.locals.searchFeed = { id: found.id, title: found.title, search: found.search, format }
    response.set('X-Robots-Tag', 'noindex, nofollow')
    next()
  }
}

/**
 * Whether a wrong token counts as a guess. A text without the form of a token does not count,
 * because it can never be valid. A request from a page of another site does not count: the page can
 * make any reader's browser send it, and could so lock out a whole office.
 */
const isGuess = ({ headers }: Request, token: string): boolean =>
  looksLikeToken(token) && headers['sec-fetch-site'] !== 'cross-site'

/** Counts the request in the minute of the feed's key. */
export function countInMinuteOfKey(db: Queryable, permits: Permits): RequestHandler {
  return async (_request, response, next) => {
    const { id } = accessOf(response).key
    const minute = await permits.take(id, () => countInMinute(db, id))
    if (!minute) throw new Error('The key is gone.')
    response.locals.minute = minute
    next()
  }
}

/**
 * Counts the requests of a feed that passed the limit of the minute. The list of feeds shows the
 * count.
 */
export function countFeedRequest(db: Queryable, permits: Permits): RequestHandler {
  return async (_request, response, next) => {
    const { id } = searchFeedOf(response)
    await permits.take(`feed ${id}`, () => countRequest(db, id))
    next()
  }
}

/**
 * The feed that the address asks for.
 * @throws ApiError when the address has parameters; otherwise the API would ignore them silently
 */
export function askedFeed(request: Request, response: Response): AskedFeed {
  refuseParameters(request, 'The address of a feed takes no parameters; its search is fixed.')
  return searchFeedOf(response)
}

function searchFeedOf(response: Response): AskedFeed & { id: string } {
  const { searchFeed } = response.locals
  if (!searchFeed) throw new Error('The token has not been checked yet.')
  return searchFeed
}
