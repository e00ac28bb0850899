import { randomUUID } from 'node:crypto'
import type { RequestHandler } from 'express'
import { withLogContext } from '../../../shared/log/context.ts'

// Long enough for every tracing system's ids, nothing that could break a log line or a header.
const WELL_FORMED = /^[\w.:+/=~@-]{1,128}$/

/**
 * Names the request: the caller's name for it when it is well-formed, else a new one (decision 8).
 */
export function requestId(header: string | undefined): string {
  return header !== undefined && WELL_FORMED.test(header) ? header : randomUUID()
}

export const nameRequest: RequestHandler = (request, response, next) => {
  const id = requestId(request.get('x-request-id'))
  response.locals.requestId = id
  response.set('X-Request-Id', id)
  withLogContext({ request: id }, next)
}
