import { LRUCache } from 'lru-cache'
import { type IndexState, operatorsMeant } from '#search/index'
import {
  bindingOf,
  type Cursor,
  type CursorSecret,
  readCursor,
  signed,
  writeCursor,
} from '#services/api/contract/cursor'
import { invalid } from '#services/api/contract/errors'
import type { ArticlesRequest, ReadRequest } from '#services/api/contract/request'
import { type Answer, etagOf, matchesEtag } from '#services/api/http/answer'
import type { Plan } from '#shared/plans/keys'
import { historyStart } from '#shared/plans/reach'
import { type Asking, type Found, findArticles, plannedOf } from './find.ts'
import { digestOf, type Listed } from './shown-article.ts'

/**
 * `GET /v1/articles` and `/explore/articles`: one page and the cursor of the next.
 *
 * @param read how the operation reads its requests
 * @param isBeside whether articles have the fields that the contract does not have
 * @throws ApiError
 */
export async function answerArticles(
  asking: Asking,
  cursorSecret: CursorSecret,
  read: ReadRequest,
  isBeside: boolean,
): Promise<Answer> {
  const { request, found, binding, start } = await findPage(asking, cursorSecret, read)
  const { total, estimate, next, rows } = found
  const said = isBeside ? rows.map(row => row.said) : rows.map(() => '')
  const { search } = request.question
  const meant = search === 'expression' ? operatorsMeant(request.q ?? '') : null
  return {
    contentType: 'application/json; charset=utf-8',
    // The ETag does not cover the cursor. A client that is told that nothing changed keeps its own
    // cursor, which stays valid (decision 8). So the ETag covers what cursors are bound to: the
    // plan, a set of outlets, or the secret, after a backup was restored, may have changed although
    // the page is the same. A cursor of a search by meaning is valid only with its candidate set,
    // so the ETag covers the set. After a removal a later page may have changed although the total
    // is the same, so the ETag covers the removals.
    tagged: [
      `articles ${total} ${estimate} ${setOf(next)} ${next && signed(cursorSecret, binding, NOTHING)}\n`,
      digestOf(rows, article => article.pieces.json),
      ...said,
      meant ?? '',
    ].join(''),
    untagged: () =>
      next === null
        ? 'null'
        : `"${writeCursor(cursorSecret, binding, { at: next, historyStart: start })}"`,
    body: nextCursor => pageBody({ total, estimate, nextCursor, meant }, rows, said),
    search,
    searchMs: found.ms,
    isEmpty: found.rows.length === 0,
  }
}

export interface FoundPage {
  request: ArticlesRequest
  found: Found
  binding: string
  start: Date
}

/**
 * Reads a request of the operation, and finds its page.
 *
 * @throws ApiError
 */
export async function findPage(
  { searches, rawQuery, plan }: Asking,
  cursorSecret: CursorSecret,
  read: ReadRequest,
): Promise<FoundPage> {
  const request = read(rawQuery, 'articles')
  const binding = bindingOf(request, plan)
  const cursor = openCursor(cursorSecret, binding, request)
  const planned = plannedOf(request, plan, cursor?.historyStart)
  const found = await findArticles(searches, planned, cursor?.at ?? null)
  return { request, found, binding, start: planned.historyStart }
}

const setOf = (next: Cursor['at'] | null): string | number | undefined =>
  next?.kind === 'semantic' ? next.setId : next?.removals

function openCursor(
  secret: CursorSecret,
  binding: string,
  request: ArticlesRequest,
): Cursor | null {
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
const NOTHING = Buffer.alloc(0)

/** Everything of a page but its articles. */
interface PageHead {
  total: number
  estimate: boolean
  /** The cursor, or null, as JSON. */
  nextCursor: string
  /** The expression that was perhaps meant; null: none other. */
  meant?: string | null
}

/**
 * A page as `JSON.stringify` would write it, joined from the bytes of its articles.
 *
 * @param said by article: its fields that the contract does not have
 */
export function pageBody(
  { total, estimate, nextCursor, meant = null }: PageHead,
  articles: readonly Listed[],
  said: readonly string[] = [],
): Buffer {
  const flag = estimate ? '"total_results_is_estimate":true,' : ''
  const hint = meant === null ? '' : `"did_you_mean":${JSON.stringify(meant)},`
  const parts = [
    Buffer.from(
      `{"status":"ok","total_results":${total},${flag}${hint}"next_cursor":${nextCursor},"articles":[`,
    ),
  ]
  for (const [at, article] of articles.entries()) {
    if (parts.length > 1) parts.push(COMMA)
    addArticle(parts, article, said[at] ?? '')
  }
  parts.push(END)
  return Buffer.concat(parts)
}

function addArticle(parts: Buffer[], { pieces, relevance }: Listed, said: string): void {
  const { bytes } = pieces.json
  const more = relevance === undefined ? said : `${said},"relevance":${JSON.stringify(relevance)}`
  // The relevance is the last field of the object, so it goes before the closing brace.
  if (more === '') parts.push(bytes)
  else parts.push(bytes.subarray(0, -1), Buffer.from(`${more}}`))
}

/** A copy with memory of its own: a slice of Node's pool keeps the whole pool in memory. */
function unpooled(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  copy.set(bytes)
  return copy
}

/** Everything that the answer of an operation depends on. */
export interface Asked {
  /** The path of the operation. */
  operation: string
  /** The query string as it arrived. */
  query: string
  plan: Plan
  state: IndexState
  /**
   * When the request arrived. A rolling history moves on at midnight (UTC), perhaps while the
   * search runs.
   */
  now: Date
}

interface Standing {
  /** The state of the index in which the answer holds. */
  state: IndexState
  answer: Answer & { etag: string }
  /** Whether the answer has its content. Otherwise only a client that has it gets this answer. */
  isWhole: boolean
}

/** The most bytes of all standing answers: some thousand pages. */
const MOST_BYTES = 33_554_432
/** Bytes of an answer beside its content. */
const ENTRY_BYTES = 500

export interface StandingAnswers {
  /** As `find`, but of the state of the index in which the answer was made. */
  latest(asked: Omit<Asked, 'state'>, ifNoneMatch: string | undefined): Standing | null
  /** The answer, if the client has it or its content is kept; null: the request needs a search. */
  find(asked: Asked, ifNoneMatch: string | undefined): Answer | null
  /** Stores the answer of a search, and returns it with its ETag. */
  keep(asked: Asked, found: Answer): Answer
}

/**
 * Answers that stay valid while the index is in the same state, so that nobody searches again for
 * what was just found. Every request reads the state when its key is checked. The first answer to a
 * question leaves only its ETag, and the second one its content: most questions are asked once. An
 * empty page is kept at once. Keys with the same plan get the same answer.
 */
export function createStandingAnswers(): StandingAnswers {
  const standing = new LRUCache<string, Standing>({ maxSize: MOST_BYTES })
  const latest: StandingAnswers['latest'] = (asked, ifNoneMatch) => {
    const found = standing.get(nameOf(asked))
    return found && (found.isWhole || matchesEtag(ifNoneMatch, found.answer.etag)) ? found : null
  }
  return {
    latest,
    find(asked, ifNoneMatch) {
      const found = latest(asked, ifNoneMatch)
      return found && isSame(found.state, asked.state) ? found.answer : null
    },

    keep(asked, found) {
      const answer = { ...found, etag: etagOf(found) }
      // The candidates of a search by meaning change without a change of the index state.
      if (found.search === 'semantic') return answer
      const name = nameOf(asked)
      // An expression pays for its search (`costs.ts`), so its content comes from a search.
      const before = standing.get(name)
      const isRepeated =
        found.search !== 'expression' && before !== undefined && isSame(before.state, asked.state)
      const isWhole = found.isEmpty || isRepeated
      const untagged = isWhole ? found.untagged() : ''
      const body = isWhole ? unpooled(found.body(untagged)) : NOTHING
      const kept = {
        ...answer,
        tagged: '',
        untagged: () => untagged,
        body: () => body,
        searchMs: 0,
      }
      const size = ENTRY_BYTES + 2 * (name.length + untagged.length) + body.length
      standing.set(name, { state: asked.state, answer: kept, isWhole }, { size })
      return isWhole ? { ...kept, searchMs: found.searchMs } : answer
    },
  }
}

function nameOf({ operation, query, plan, now }: Omit<Asked, 'state'>): string {
  const { countries, history } = plan
  // The start of a rolling history changes each day, and cursors are bound to its number of days.
  const days = history.kind === 'rolling' ? history.days : ''
  return `${operation} ${countries} ${days} ${historyStart(history, now).getTime()} ${query}`
}

const isSame = (a: IndexState, b: IndexState): boolean =>
  a.lastSeq === b.lastSeq && a.version === b.version && a.wordsVersion === b.wordsVersion
