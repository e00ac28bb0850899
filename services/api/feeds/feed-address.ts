import type { Request, RequestHandler, Response } from 'express'
import { INDEX_STATE, type IndexState } from '../../../search/index.ts'
import { countInMinute } from '../../../shared/plans/counting.ts'
import { hashSecret } from '../../../shared/plans/keys.ts'
import { countRequest, type FeedWithToken, findFeed, looksLikeToken } from '../../../shared/plans/search-feeds.ts'
import type { Queryable } from '../../../shared/postgres/pool.ts'
import { accessOf, admit, refuseLocked, refuseStranger } from '../access/access.ts'
import type { Door } from '../access/admissions.ts'
import { type AddressLock, lockAddress } from '../access/lock.ts'
import type { Permits } from '../access/permits.ts'
import { ApiError } from '../contract/errors.ts'
import { refuseParameters } from '../http/body.ts'
import type { AskedFeed } from './atom-json.ts'
import { type FeedIdentity, pageOf, writeXml, type XmlElement } from './rss.ts'

/** The formats of a feed's addresses, by the end of the address. */
export const FEED_FORMATS = {
  rss: { name: 'RSS 2.0', contentType: 'application/rss+xml' },
  atom: { name: 'Atom', contentType: 'application/atom+xml' },
  json: { name: 'JSON Feed', contentType: 'application/feed+json' },
} as const
export type FeedFormat = keyof typeof FEED_FORMATS

const isFormat = (name: string): name is FeedFormat => Object.hasOwn(FEED_FORMATS, name)

/** Not a path with a parameter: Express would decode it, and its errors would show it. */
export const FEED_PATH = /^\/feeds\/[^/]+\.(?:rss|atom|json)$/

/** The token and the format in a path of that form. */
export function partsOf(path: string): { token: string; format: FeedFormat } {
  const dot = path.lastIndexOf('.')
  const format = path.slice(dot + 1)
  return { token: path.slice('/feeds/'.length, dot), format: isFormat(format) ? format : 'rss' }
}

/** The token that somebody wrote, alone or in an address of ours; null when there is none. */
export const tokenInAddress = (text: string): string | null =>
  /(?:^|\/feeds\/)(psf_[\w-]{43})(?:\.(?:rss|atom|json))?$/.exec(text)?.[1] ?? null

/** The secret addresses of a feed, one a format. */
export function feedAddresses(publicUrl: string, token: string): Record<FeedFormat, string> {
  const address = (format: FeedFormat) => `${publicUrl}/feeds/${token}.${format}`
  return { rss: address('rss'), atom: address('atom'), json: address('json') }
}

export const OPML_TYPE = 'text/x-opml; charset=utf-8'

/**
 * Writes OPML 2.0 (http://opml.org/spec2.opml), a list of feeds that every feed reader can import.
 * A reader subscribes to `xmlUrl`; the addresses of the other formats stand beside it.
 */
export function writeOpml({ serviceName, publicUrl, namespace }: FeedIdentity, feeds: FeedWithToken[]): string {
  const outlines = feeds.map(({ feed, token }): XmlElement => {
    const addresses = feedAddresses(publicUrl, token)
    return {
      name: 'outline',
      attributes: {
        type: 'rss',
        text: feed.title,
        title: feed.title,
        xmlUrl: addresses.rss,
        htmlUrl: pageOf(publicUrl, feed.search),
        'pc:atomUrl': addresses.atom,
        'pc:jsonUrl': addresses.json,
      },
    }
  })
  return writeXml({
    name: 'opml',
    attributes: { version: '2.0', 'xmlns:pc': namespace },
    content: [
      { name: 'head', content: [{ name: 'title', content: serviceName }] },
      { name: 'body', content: outlines },
    ],
  })
}

/**
 * Lets in who asks for the address of a feed, with the key to which the feed is bound. A wrong
 * token counts against its address as a wrong key does; that of a feed that has ended does not,
 * because its reader guesses nothing, nor does what `isGuess` leaves out. An `Authorization` header
 * is not looked at.
 */
export function checkToken(db: Queryable, lock: AddressLock, door: Door, permits: Permits): RequestHandler {
  return async (request, response, next) => {
    const address = lockAddress(request.ip, request.socket.remoteAddress)
    const { token, format } = partsOf(request.path)
    const found = looksLikeToken(token)
      ? await door(
          hashSecret(token),
          () => address,
          // Thousands of requests with one token would take all connections.
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
 * Whether somebody tries tokens. What looks like none cannot be right, and a page of another site
 * can have any browser ask, as for an image: neither may lock out an office.
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

/** Counts the requests that the key's minute let through, for the list of feeds. */
export function countFeedRequest(db: Queryable, permits: Permits): RequestHandler {
  return async (_request, response, next) => {
    const { id } = searchFeedOf(response)
    await permits.take(`feed ${id}`, () => countRequest(db, id))
    next()
  }
}

/**
 * The feed that the address asks for.
 * @throws ApiError when the address has parameters: they would be ignored in silence
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
