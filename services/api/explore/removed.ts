import type { RequestHandler } from 'express'
import { lockAddress } from '#services/api/access/lock'
import type { Permits } from '#services/api/access/permits'
import { ApiError } from '#services/api/contract/errors'
import { sendOnce } from '#services/api/http/answer'
import { type Pool, type Queryable, readValue } from '#shared/postgres/pool'

// $1 id. Index: tombstones_id_key.
const REMOVED_AT = 'select removed_at from tombstones where id = $1'

/** When an operator took the article out; null: nobody did. */
const removedAt = (db: Queryable, id: string) => readValue<Date>(db, REMOVED_AT, [id])

const sentenceOf = (at: Date) => `This article was taken out on ${at.toISOString().slice(0, 10)}.`

/** The error for an article that is not there: its plan lacks it, or an operator took it out. */
export async function noArticle(db: Queryable, id: string): Promise<ApiError> {
  const at = await removedAt(db, id)
  return at === null
    ? new ApiError('not_found', { message: 'Your plan has no article with this id.' })
    : new ApiError('article_removed', { message: sentenceOf(at) })
}

/**
 * The page of an article that was taken out. Other articles have the explorer as their page.
 *
 * @param page the explorer's page with lines of text for readers without scripts
 */
export function removedPage(
  pool: Pool,
  strangers: Permits,
  page: (told: { data: Record<string, object>; lines: string[] }) => Promise<string>,
): RequestHandler {
  return async (request, response, next) => {
    if (request.accepts(['application/json', 'text/html']) !== 'text/html') return next()
    const address = lockAddress(request)
    const id = decodeURIComponent(request.path.slice('/a/'.length))
    // Without the database the explorer says that the API does not answer.
    const at = await strangers.take(`a ${address}`, () => removedAt(pool, id)).catch(() => null)
    if (at === null) return next()
    response.status(410).vary('Accept').set('Cache-Control', 'no-cache')
    const html = await page({ data: {}, lines: [sentenceOf(at)] })
    await sendOnce(request, response, 'text/html; charset=utf-8', html)
  }
}
