import type { Request, RequestHandler, Response } from 'express'
import { accessOf } from '../access/access.ts'
import { historyStart } from '../contract/request.ts'
import { wholeContent } from '../http/answer.ts'
import { refuseParameters } from '../http/body.ts'

const WHOLE = { type: 'integer', minimum: 0 } as const
const RESET = { ...WHOLE, description: 'Unix time at which it begins anew.' } as const
const COUNTED = { limit: WHOLE, remaining: WHOLE, reset: RESET }

/** The answer, as JSON Schema (2020-12). */
export const LIMITS_SCHEMA = {
  type: 'object',
  required: ['status', 'data'],
  properties: {
    status: { type: 'string', const: 'ok' },
    data: {
      type: 'object',
      required: ['plan', 'minute', 'month'],
      properties: {
        plan: {
          type: 'object',
          required: ['countries', 'history_start', 'history_days', 'rate', 'quota'],
          properties: {
            countries: { type: 'array', items: { type: 'string' } },
            history_start: {
              type: 'string',
              format: 'date-time',
              description: 'Today; it moves where there are days.',
            },
            history_days: { type: ['integer', 'null'], description: 'null: the start stays where it is.' },
            rate: { ...WHOLE, description: 'Requests a minute.' },
            quota: { type: ['integer', 'null'], description: 'Requests a month; null: as many as you like.' },
          },
        },
        minute: {
          type: 'object',
          required: Object.keys(COUNTED),
          properties: COUNTED,
          description: 'This request is counted.',
        },
        month: {
          type: ['object', 'null'],
          required: [...Object.keys(COUNTED), 'used', 'period'],
          properties: { ...COUNTED, used: WHOLE, period: { type: 'string', description: 'As `2026-11`, in UTC.' } },
          description: 'null: the plan has no quota.',
        },
      },
    },
  },
} as const

/**
 * `GET /explore/limits`: the plan of the key, and what is left of its minute and month. It costs
 * nothing of the month, and answers when nothing is left of it.
 */
export const answerLimits: RequestHandler = (request, response) => {
  const { contentType, tagged } = limitsOf(request, response)
  response.set({ 'Cache-Control': 'no-store', 'Content-Type': contentType }).vary('Authorization').send(tagged)
}

/** @throws ApiError */
export function limitsOf(asked: Pick<Request, 'originalUrl'>, response: Response) {
  refuseParameters(asked, 'This operation takes no parameters.')
  const { key, month } = accessOf(response)
  const { countries, history, rate, quota } = key.plan
  const { remaining = 0, resetTime = new Date() } = response.req.rateLimit ?? {}
  const reset = Math.ceil(resetTime.getTime() / 1_000)
  const data = {
    plan: {
      countries,
      history_start: historyStart(history, new Date()).toISOString(),
      history_days: history.kind === 'rolling' ? history.days : null,
      ...{ rate, quota },
    },
    minute: { limit: rate, remaining, reset },
    month:
      month === null || quota === null
        ? null
        : {
            ...{ limit: quota, used: month.used, remaining: Math.max(0, quota - month.used) },
            ...{ reset: month.reset, period: month.period },
          },
  }
  return wholeContent('application/json; charset=utf-8', JSON.stringify({ status: 'ok', data }))
}
