import { bindingOf, type Cursor, type CursorSecret, readCursor, writeCursor } from '../contract/cursor.ts'
import { invalid } from '../contract/errors.ts'
import type { ArticlesRequest, ReadRequest } from '../contract/request.ts'
import type { Answer } from '../http/answer.ts'
import { type Asking, findArticles, plannedOf } from './find.ts'
import { digestOf, type Listed } from './shown-article.ts'

/**
 * `GET /v1/articles` and `/explore/articles`: one page and the cursor of the next.
 *
 * @param read how the operation reads its requests
 * @throws ApiError
 */
export async function answerArticles(asking: Asking, cursorSecret: CursorSecret, read: ReadRequest): Promise<Answer> {
  const { request, found, binding, start } = await findPage(asking, cursorSecret, read)
  const { total, estimate, next, rows } = found
  return {
    contentType: 'application/json; charset=utf-8',
    // Without the cursor: a client that is told that nothing changed keeps its own, which stays
    // good (decision 8). A cursor of a search by meaning is good only with its candidates.
    tagged: `articles ${total} ${estimate} ${setOf(next)}\n${digestOf(rows, article => article.pieces.json)}`,
    untagged: () =>
      next === null ? 'null' : `"${writeCursor(cursorSecret, binding, { at: next, historyStart: start })}"`,
    body: nextCursor => pageBody({ total, estimate, nextCursor }, rows),
    search: request.question.search,
    searchMs: found.ms,
    isEmpty: found.rows.length === 0,
  }
}

/**
 * Reads a request of the operation, and finds its page.
 *
 * @throws ApiError
 */
export async function findPage({ searches, rawQuery, plan }: Asking, cursorSecret: CursorSecret, read: ReadRequest) {
  const request = read(rawQuery, 'articles')
  const binding = bindingOf(request, plan)
  const cursor = openCursor(cursorSecret, binding, request)
  const planned = plannedOf(request, plan, cursor?.historyStart)
  const found = await findArticles(searches, planned, cursor?.at ?? null)
  return { request, found, binding, start: planned.historyStart }
}

const setOf = (next: Cursor['at'] | null): string => (next?.kind === 'semantic' ? next.setId : '')

function openCursor(secret: CursorSecret, binding: string, request: ArticlesRequest): Cursor | null {
  if (request.cursor === null) return null
  const cursor = readCursor(secret, binding, request.cursor)
  if (cursor) return cursor
  throw invalid(
    'cursor',
    'This is no cursor of this request: send next_cursor as it was, and every other parameter too.',
  )
}

const COMMA = Buffer.from(',')
const END = Buffer.from(']}')

/** Everything of a page but its articles. */
interface PageHead {
  total: number
  estimate: boolean
  /** As JSON. */
  nextCursor: string
}

/** A page as `JSON.stringify` would write it, joined from the bytes of its articles. */
export function pageBody({ total, estimate, nextCursor }: PageHead, articles: readonly Listed[]): Buffer {
  const flag = estimate ? '"total_results_is_estimate":true,' : ''
  const parts = [Buffer.from(`{"status":"ok","total_results":${total},${flag}"next_cursor":${nextCursor},"articles":[`)]
  for (const article of articles) {
    if (parts.length > 1) parts.push(COMMA)
    addArticle(parts, article)
  }
  parts.push(END)
  return Buffer.concat(parts)
}

function addArticle(parts: Buffer[], { pieces, relevance }: Listed): void {
  const { bytes } = pieces.json
  if (relevance === undefined) parts.push(bytes)
  // The last field of the object, before its brace.
  else parts.push(bytes.subarray(0, -1), Buffer.from(`,"relevance":${JSON.stringify(relevance)}}`))
}
