import { randomUUID } from 'node:crypto'
import type { Request, RequestHandler, Response } from 'express'
import { type Waits, withLogContext } from '#shared/log/context'
import { type Logger, patientLogger } from '#shared/log/logger'
import { counter, histogram } from '#shared/metrics'

const seconds = histogram(
  'api_request_seconds',
  'Time from the request to the end of its answer.',
  [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 15],
  ['operation', 'search', 'status'],
)
const errors = counter(
  'api_errors_total',
  'Errors sent, by code: limits that were hit among them.',
  ['code'],
)

const OPERATIONS: Record<string, string> = {
  '/v1/articles': 'articles',
  '/v1/articles.rss': 'feed',
  '/explore/citations': 'citations',
  '/explore/copies': 'copies',
  '/explore/counts': 'counts',
  '/explore/matches': 'matches',
  '/explore/related': 'related',
  '/explore/suggestions': 'suggestions',
  '/mcp': 'mcp',
}

const operationOf = (path: string) =>
  OPERATIONS[path] ?? (path.startsWith('/cite/') ? 'citation' : 'other')

/**
 * ms after which a request counts as slow. Its log line then says how long it waited, and for what.
 */
const SLOW = 250

/**
 * Gives every request an id, measures it and writes one log line about it. The line never contains
 * its key, its token or its search. An error is logged at once; other lines may be written in
 * batches. The line of a slow request is a warning.
 */
export function observe(log: Logger): RequestHandler {
  const patient = patientLogger(log)
  const isWritten = boundLines(log)
  const heldSoFar = watchHolds()
  return (request, response, next) => {
    const start = performance.now()
    const heldBefore = heldSoFar()
    const waits: Waits = new Map()
    response.once('close', () => {
      const { errorCode, search, searchFeed } = response.locals
      const ms = performance.now() - start
      const status = statusOf(response)
      const operation = searchFeed ? 'feed' : operationOf(request.path)
      seconds.observe({ operation, search: search ?? 'none', status: `${status}` }, ms / 1_000)
      if (errorCode !== undefined) errors.inc({ code: errorCode })
      if (isAnybodys(response) && !isWritten()) return
      const about = errorCode === undefined ? patient : log
      const line = lineOf(request, response, status, ms)
      if (ms < SLOW) return about.info(line, 'request')
      waits.set('held', Math.min(ms, heldSoFar() - heldBefore))
      about.warn({ ...line, waited: wholeMs(waits) }, 'request')
    })
    const id = requestId(request.get('x-request-id'))
    response.locals.requestId = id
    response.setHeader('X-Request-Id', id)
    withLogContext({ request: id }, next, waits)
  }
}

/**
 * The status for the log and the metrics. A client that hung up before the answer began has seen no
 * status, so its request gets 499, as nginx does.
 */
const statusOf = (response: Response): number => (response.headersSent ? response.statusCode : 499)

/**
 * Whether anybody could have sent this request: it has no valid key, or its key has sent too many
 * requests in this minute.
 */
export const isAnybodys = ({ locals }: Response): boolean =>
  locals.access === undefined || locals.errorCode === 'rate_limit_exceeded'

/** The most lines a second about requests that anybody can send. */
const MOST_LINES = 100

/**
 * Whether a request that anybody can send gets a line of its own. Such requests may come by the
 * thousand a second. The first requests of a second get a line each, and one line tells the number
 * of the others.
 */
export function boundLines(log: Logger): () => boolean {
  let lines = 0
  return () => {
    if (lines === 0) {
      setTimeout(() => {
        const requests = lines - MOST_LINES
        if (requests > 0)
          log.warn({ requests }, 'more requests came without a valid key, or beyond its minute')
        lines = 0
      }, 1_000).unref()
    }
    lines++
    return lines <= MOST_LINES
  }
}

/** The fields of a line, in the order in which they are written; undefined ones are left out. */
function lineOf(request: Request, response: Response, status: number, ms: number) {
  const { requestId, access, searchFeed, tool, errorCode, search, searchMs, accessMs } =
    response.locals
  return {
    request: requestId,
    method: request.method,
    path: withoutSecrets(request.path).slice(0, 200),
    status,
    ms: rounded(ms),
    key: access?.key.id,
    feed: searchFeed?.id,
    tool,
    search,
    searchMs: searchMs && rounded(searchMs),
    accessMs: accessMs && rounded(accessMs),
    code: errorCode,
    aborted: response.writableFinished ? undefined : true,
  }
}

const wholeMs = (waits: Waits) =>
  Object.fromEntries([...waits].map(([name, ms]) => [name, Math.round(ms)]))

const rounded = (ms: number) => Math.round(ms * 100) / 100

// Tracing systems write no longer ids, and none of these characters can break a log line or a
// header.
const WELL_FORMED = /^[\w.:+/=~@-]{1,128}$/

/**
 * The id of a request: the one that the caller sent when it is well-formed, or else a new one
 * (decision 8).
 */
export function requestId(header: string | undefined): string {
  return header !== undefined && WELL_FORMED.test(header) ? header : randomUUID()
}

/**
 * The beginnings of paths that go on with a secret: feeds, and the links of mails. Proxies must not
 * log the rest of them; a test compares the list with HAProxy's file.
 */
export const SECRET_PATHS = ['feeds', 'confirm', 'unsubscribe'] as const

const SECRET_PATH = new RegExp(`^(/+(?:${SECRET_PATHS.join('|')})/).+$`, 'is')

/**
 * A path without secrets. It hides everything after `SECRET_PATHS`, in any spelling, and each key
 * or token in a path.
 */
const withoutSecrets = (path: string): string =>
  path.replace(SECRET_PATH, '$1…').replace(/ps[a-z]_[\w-]+/gi, '…')

/** ms between two beats of the event loop. */
const BEAT = 50

/**
 * Adds up the ms for which something blocked the event loop: long work, garbage collection, a busy
 * machine. Only blocks of more than 50 ms are seen. The timer does not keep the process alive.
 */
function watchHolds(): () => number {
  let held = 0
  let last = performance.now()
  const latest = (now: number) => (now - last > 2 * BEAT ? now - last - BEAT : 0)
  setInterval(() => {
    const now = performance.now()
    held += latest(now)
    last = now
  }, BEAT).unref()
  // Something may block the event loop at this moment, and the late beat comes only after this
  // call.
  return () => held + latest(performance.now())
}
