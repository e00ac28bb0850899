import type { Plan } from '../../../shared/plans/keys.ts'
import { checkPlan, historyStart } from '../articles/coverage.ts'
import { findArticles, type Searches } from '../articles/find.ts'
import { digestOf } from '../articles/shown-article.ts'
import type { Answer } from '../http/answer.ts'
import { readRequest } from '../parameters/request.ts'
import { itemPiece, makeItems } from './item.ts'
import { type FeedIdentity, type FeedLinks, feedBody, writeHead } from './rss.ts'

/**
 * `GET /v1/articles.rss`: the first page of the same query as RSS 2.0.
 *
 * @param rawQuery the query string as it arrived, without `?`
 * @param links of a feed with a secret address: `explorer`
 * @throws ApiError
 */
export async function answerFeed(
  searches: Searches,
  identity: FeedIdentity,
  rawQuery: string,
  plan: Plan,
  links: FeedLinks = 'operation',
): Promise<Answer> {
  const request = readRequest(rawQuery, 'feed')
  const start = historyStart(plan.history, new Date())
  const countries = checkPlan(request, plan, start)
  const { rows, ms } = await findArticles(searches, { request, plan, countries, historyStart: start }, null)
  makeItems(searches.index, rows)
  // Not our own address: processes that know themselves by different ones agree on what has changed
  // (decision 30).
  const head = writeHead({ ...identity, publicUrl: '' }, request, rows, links)
  return {
    contentType: 'application/rss+xml; charset=UTF-8',
    tagged: `${head}${digestOf(rows, itemPiece)}`,
    untagged: () => identity.publicUrl,
    body: publicUrl => feedBody(writeHead({ ...identity, publicUrl }, request, rows, links), rows),
    search: request.question.search,
    searchMs: ms,
    isEmpty: rows.length === 0,
  }
}
