import type { ErrorRequestHandler, RequestHandler } from 'express'
import type { Logger } from '../../../shared/log/logger.ts'
import { NoPermit } from '../access/permits.ts'
import { ApiError, errorObject } from '../contract/api-error.ts'

/** Anything but GET and HEAD. */
export const refuseMethod: RequestHandler = (_request, _response, next) => {
  next(new ApiError('method_not_allowed', { headers: { Allow: 'GET, HEAD' } }))
}

export const refusePath: RequestHandler = (_request, _response, next) => {
  next(new ApiError('not_found'))
}

/**
 * Sends an error as the contract's object. What is no `ApiError` is ours to know and
 * `internal_error` to the client.
 */
export function sendError(log: Logger): ErrorRequestHandler {
  return (thrown: unknown, _request, response, _next) => {
    const error = thrown instanceof ApiError ? thrown : new ApiError('internal_error', { cause: thrown })
    response.locals.errorCode = error.code
    // A client that left while it waited for a permit is no failure.
    const hasLeft = error.cause instanceof NoPermit && response.destroyed
    if (error.status >= 500 && !hasLeft) {
      const cause = error.cause instanceof Error ? error.cause : error
      log.error({ request: response.locals.requestId, code: error.code, err: detail(cause) }, 'request failed')
    }
    if (response.headersSent) {
      response.destroy()
      return
    }
    for (const name of ['ETag', 'Content-Length', 'Content-Type']) response.removeHeader(name)
    response
      .vary('Accept-Encoding')
      .status(error.status)
      .set({ ...error.headers, 'Cache-Control': 'no-store' })
    response.json(errorObject(error))
  }
}

function detail(error: Error): Record<string, unknown> {
  return { message: error.message, stack: error.stack, ...('code' in error ? { code: error.code } : {}) }
}
