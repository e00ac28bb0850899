import type { Plan } from '../../../shared/plans/keys.ts'
import { ApiError } from '../contract/api-error.ts'
import { bindingOf } from '../cursor/binding.ts'
import { type Cursor, type CursorSecret, readCursor, writeCursor } from '../cursor/cursor.ts'
import type { Answer } from '../http/answer.ts'
import { type ArticlesRequest, readRequest } from '../parameters/request.ts'
import { checkPlan, historyStart } from './coverage.ts'
import { findArticles, type Searches } from './find.ts'
import { pageBody } from './page-body.ts'
import { digestOf } from './shown-article.ts'

/**
 * `GET /v1/articles`: one page and the cursor of the next.
 *
 * @param rawQuery the query string as it arrived, without `?`
 * @throws ApiError
 */
export async function answerArticles(
  searches: Searches,
  cursorSecret: CursorSecret,
  rawQuery: string,
  plan: Plan,
): Promise<Answer> {
  const request = readRequest(rawQuery, 'articles')
  const binding = bindingOf(request, plan)
  const cursor = openCursor(cursorSecret, binding, request)
  const start = cursor?.historyStart ?? historyStart(plan.history, new Date())
  const countries = checkPlan(request, plan, start)
  const found = await findArticles(searches, { request, plan, countries, historyStart: start }, cursor?.at ?? null)
  const { total, estimate, next, rows } = found
  return {
    contentType: 'application/json; charset=utf-8',
    // Without the cursor: a client that is told that nothing changed keeps its own, which stays
    // good (decision 8).
    tagged: `articles ${total} ${estimate}\n${digestOf(rows, article => article.pieces.json)}`,
    untagged: () =>
      next === null ? 'null' : `"${writeCursor(cursorSecret, binding, { at: next, historyStart: start })}"`,
    body: nextCursor => pageBody({ total, estimate, nextCursor }, rows),
    search: request.question.search,
    searchMs: found.ms,
    isEmpty: found.rows.length === 0,
  }
}

function openCursor(secret: CursorSecret, binding: string, request: ArticlesRequest): Cursor | null {
  if (request.cursor === null) return null
  const cursor = readCursor(secret, binding, request.cursor)
  if (cursor) return cursor
  throw new ApiError('invalid_request', {
    errors: {
      cursor: ['This is no cursor of this request: send next_cursor as it was, and every other parameter too.'],
    },
  })
}
