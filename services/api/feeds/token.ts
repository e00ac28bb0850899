import { timingSafeEqual } from 'node:crypto'
import type { Request, RequestHandler, Response } from 'express'
import { INDEX_STATE, type IndexState } from '#search/index'
import { accessOf, admit, refuseLocked, refuseStranger } from '#services/api/access/access'
import type { Lookup } from '#services/api/access/admissions'
import { type AddressLock, lockAddress } from '#services/api/access/lock'
import type { Permits } from '#services/api/access/permits'
import { ApiError } from '#services/api/contract/errors'
import { refuseParameters } from '#services/api/http/body'
import { looksLikeToken } from '#shared/desk/feeds'
import { countInMinute, MONTH_OF_KEY, type QuotaMonth } from '#shared/plans/counting'
import { foundKey, hashSecret, PLAN_COLUMNS, type PlanRow } from '#shared/plans/keys'
import { type Queryable, readRow } from '#shared/postgres/pool'
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
    const address = lockAddress(request)
    const { token, format } = partsOf(request.path)
    const hash = hashSecret(token)
    const found = looksLikeToken(token)
      ? await lookup(
          hash,
          () => address,
          // Requests with one token wait for each other. Otherwise thousands of them could take all
          // connections.
          () => permits.take(`token ${token}`, () => findFeed(db, hash)),
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
    admit(response, foundKey(found))
    const { feed_id: id, title, search, lastSeq, version, wordsVersion } = found
    response.locals.indexState = { lastSeq, version, wordsVersion }
    response.locals.searchFeed = { id, title, search, format }
    response.set('X-Robots-Tag', 'noindex, nofollow')
    next()
  }
}

// One statement reads feed, key, month and the state of the index, because every request waits for
// it. A feed also ends when its key is revoked. $1 token_hash. Index: search_feeds_token_hash_key
const FIND = `
  select f.*, k.*, m.*, feed_revoked_at is not null or revoked_at is not null as ended, ${INDEX_STATE.columns} from (
    select feed_id, key_id, token_hash, title, search, revoked_at as feed_revoked_at from search_feeds where token_hash = $1) f
  join lateral (select ${PLAN_COLUMNS}, revoked_at from api_keys where id = f.key_id) k on true
  left join lateral (${MONTH_OF_KEY}) m on k.quota is not null, ${INDEX_STATE.tables}`

interface FoundFeed extends PlanRow, QuotaMonth, IndexState {
  feed_id: string
  token_hash: Buffer
  title: string
  search: string
  ended: boolean
}

/** The feed with the token of this hash; null: no feed has it. */
async function findFeed(db: Queryable, hash: Buffer): Promise<FoundFeed | null> {
  const row = await readRow<FoundFeed>(db, { name: 'find-feed', text: FIND, values: [hash] })
  return row && timingSafeEqual(row.token_hash, hash) ? row : null
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
    if (!minute) throw new ApiError('feed_ended')
    response.locals.minute = minute
    next()
  }
}

// The commit does not wait for the disk. A crash of the server may lose the counts of the last
// second. $1 feed.
const COUNT = `
with lazily as materialized (select set_config('synchronous_commit', 'off', true))
update search_feeds set requests = requests + 1, last_used_at = now() from lazily where feed_id = $1`

/**
 * Counts the requests of a feed that passed the limit of the minute. The list of feeds shows the
 * count.
 */
export function countFeedRequest(db: Queryable, permits: Permits): RequestHandler {
  return async (_request, response, next) => {
    const { id } = searchFeedOf(response)
    const statement = { name: 'count-feed', text: COUNT, values: [id] }
    await permits.take(`feed ${id}`, () => db.query(statement))
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
