import type { Request, RequestHandler, Response } from 'express'
import type { Logger } from '../../../shared/log/logger.ts'
import { counter, histogram } from '../../../shared/metrics/registry.ts'
import { withoutSecrets } from './without-secrets.ts'

const seconds = histogram(
  'api_request_seconds',
  'Time from the request to the end of its answer.',
  [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 15],
  ['operation', 'search', 'status'],
)
const errors = counter('api_errors_total', 'Errors sent, by code: limits that were hit among them.', ['code'])

const OPERATIONS: Record<string, string> = {
  '/v1/articles': 'articles',
  '/v1/articles.rss': 'feed',
  '/explore/counts': 'counts',
  '/explore/suggestions': 'suggestions',
}

/**
 * Measures every request and writes one line about it: never its key or token, nor its search.
 */
export function observe(log: Logger): RequestHandler {
  return (request, response, next) => {
    const start = performance.now()
    response.once('close', () => {
      const { errorCode, search, searchFeed } = response.locals
      const ms = performance.now() - start
      const operation = searchFeed ? 'feed' : (OPERATIONS[request.path] ?? 'other')
      seconds.observe({ operation, search: search ?? 'none', status: `${response.statusCode}` }, ms / 1_000)
      if (errorCode !== undefined) errors.inc({ code: errorCode })
      log.info(lineOf(request, response, ms), 'request')
    })
    next()
  }
}

function lineOf(request: Request, response: Response, ms: number): Record<string, unknown> {
  const { requestId, access, searchFeed, errorCode, search, searchMs, accessMs } = response.locals
  return {
    request: requestId,
    method: request.method,
    path: withoutSecrets(request.path).slice(0, 200),
    status: response.statusCode,
    ms: rounded(ms),
    ...(access ? { key: access.key.id } : {}),
    ...(searchFeed ? { feed: searchFeed.id } : {}),
    ...(search ? { search } : {}),
    ...(searchMs === undefined ? {} : { searchMs: rounded(searchMs) }),
    ...(accessMs === undefined ? {} : { accessMs: rounded(accessMs) }),
    ...(errorCode ? { code: errorCode } : {}),
    ...(response.writableFinished ? {} : { aborted: true }),
  }
}

const rounded = (ms: number) => Math.round(ms * 100) / 100
