import type { Request, RequestHandler, Response } from 'express'
import { accessOf } from '#services/api/access/access'
import { COSTS } from '#services/api/access/costs'
import { COUNT, count, dataOf, objectOf, TEXT, text, time } from '#services/api/contract/resources'
import { type Content, jsonContent } from '#services/api/http/answer'
import { refuseParameters } from '#services/api/http/body'
import { CITED_BY_KEY } from '#shared/desk/citations'
import { historyStart } from '#shared/plans/reach'

const COUNTED = objectOf({
  limit: COUNT,
  remaining: COUNT,
  reset: count('Unix time at which it begins anew.'),
})

/** The answer, as JSON Schema (2020-12). */
export const LIMITS_SCHEMA = dataOf(
  objectOf({
    plan: objectOf({
      countries: { type: 'array', items: TEXT },
      history_start: time('Today; it moves where there are days.'),
      history_days: {
        type: ['integer', 'null'],
        description: 'null: the start stays where it is.',
      },
      rate: count('Requests a minute.'),
      quota: {
        type: ['integer', 'null'],
        description: 'Requests a month; null: as many as you like.',
      },
    }),
    minute: { ...COUNTED, description: 'This request is counted.' },
    month: {
      ...objectOf({ ...COUNTED.properties, used: COUNT, period: text('As `2026-11`, in UTC.') }),
      type: ['object', 'null'],
      description: 'null: the plan has no quota.',
    },
    costs: {
      ...objectOf({
        near: count('Articles with both sides of NEAR, times the words and phrases beside it.'),
        searches: count(
          'Searches of `POST /explore/searches/new`, or that name a set of outlets which is put.',
        ),
        domains: count('Domains of sets of outlets that are listed or put.'),
        bytes: count('Bytes of the texts that `/explore/copies` compares.'),
        cited: count('Articles of a citation, when it is made and in its files.'),
      }),
      description:
        'A request costs one of the minute, and one more for each of these many; never more than the whole minute.',
    },
    citations: {
      ...objectOf({
        citations: count('Citations.'),
        articles: count('Articles of all citations together.'),
      }),
      description: 'What a key may cite; an operator may remove citations.',
    },
  }),
)

/**
 * `GET /explore/limits`: the plan of the key, and what is left of its minute and month. The request
 * takes nothing from the quota of the month, and is answered when the quota is used up.
 */
export const answerLimits: RequestHandler = (request, response) => {
  const { contentType, tagged } = limitsOf(request, response)
  response
    .set({ 'Cache-Control': 'no-store', 'Content-Type': contentType })
    .vary('Authorization')
    .send(tagged)
}

/** @throws ApiError */
export function limitsOf(asked: Pick<Request, 'originalUrl'>, response: Response): Content {
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
      rate,
      quota,
    },
    minute: { limit: rate, remaining, reset },
    month:
      month === null || quota === null
        ? null
        : {
            limit: quota,
            used: month.used,
            remaining: Math.max(0, quota - month.used),
            reset: month.reset,
            period: month.period,
          },
    costs: COSTS,
    citations: CITED_BY_KEY,
  }
  return jsonContent(JSON.stringify({ status: 'ok', data }))
}
