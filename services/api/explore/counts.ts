import { type Breakdown, type Counts, MOST_BUCKETS, TooManyBuckets, timeZoneNamed } from '../../../search/index.ts'
import type { Plan } from '../../../shared/plans/keys.ts'
import { checkPlan, historyStart } from '../articles/articles.ts'
import { countArticles, type PlannedRequest, type Searches } from '../articles/find.ts'
import { ApiError } from '../contract/errors.ts'
import { ceilMs, nextMidnight } from '../contract/instants.ts'
import { createProblems, createValuesReader, type Problems, readQueryString } from '../contract/query-string.ts'
import { type ArticlesRequest, requestOf } from '../contract/request.ts'
import { type Answer, wholeContent } from '../http/answer.ts'
import { COUNTS_PARAMETERS, COUNTS_REFUSALS, TIMES } from './definitions.ts'
import type { Meaning } from './meaning.ts'

/**
 * `GET /explore/counts`: how many articles of a search there are by time, outlet, language or
 * country.
 *
 * @param rawQuery the query string as it arrived, without `?`
 * @throws ApiError
 */
export async function answerCounts(
  searches: Searches,
  meaningOf: (plan: Plan) => Promise<Meaning>,
  rawQuery: string,
  plan: Plan,
): Promise<Answer> {
  const { request, breakdown } = readCountsRequest(rawQuery)
  const start = historyStart(plan.history, new Date())
  const planned = { request, plan, countries: checkPlan(request, plan, start), historyStart: start }
  const { counts, ms } = await countArticles(searches, planned, breakdown).catch((error: unknown) => {
    throw error instanceof TooManyBuckets ? tooMany(error) : error
  })
  const meaning = request.question.search === 'semantic' ? { meaning: await meaningOf(plan) } : {}
  const body = JSON.stringify({ ...countsObject(counts, planned, breakdown), ...meaning })
  return {
    ...wholeContent('application/json; charset=utf-8', body),
    search: request.question.search,
    searchMs: ms,
    isEmpty: false,
  }
}

const readValues = createValuesReader(COUNTS_PARAMETERS, COUNTS_REFUSALS)

interface CountsRequest {
  request: ArticlesRequest
  breakdown: Breakdown
}

/** @throws ApiError `invalid_request` with a sentence for each parameter that is wrong */
function readCountsRequest(rawQuery: string): CountsRequest {
  const problems = createProblems()
  const { by, time_zone, ...values } = readValues(readQueryString(rawQuery), problems)
  const breakdown = readBreakdown(by, time_zone, problems)
  const request = requestOf(values, problems)
  // `requestOf` has refused every request that has a problem.
  if (breakdown === null) throw new Error('A request without a breakdown was let through.')
  return { request, breakdown }
}

type By = (typeof COUNTS_PARAMETERS.by.values)[number]

const isTime = (by: By): by is (typeof TIMES)[number] => TIMES.some(time => time === by)

function readBreakdown(by: By | undefined, timeZone: string | undefined, problems: Problems): Breakdown | null {
  if (by === undefined) {
    if (!problems.has('by')) problems.add('by', `Write one of ${COUNTS_PARAMETERS.by.values.join(', ')}.`)
    return null
  }
  if (!isTime(by)) {
    if (timeZone !== undefined) problems.add('time_zone', `Leave it out with by=${by}.`)
    return { by }
  }
  const zone = timeZoneNamed(timeZone ?? 'UTC')
  if (zone !== null) return { by, zone }
  problems.add('time_zone', 'Write the IANA name of a time zone, as Europe/Brussels.')
  return null
}

function tooMany({ unit, fits }: TooManyBuckets): ApiError {
  const sentence = `There would be more than ${MOST_BUCKETS} buckets with by=${unit}; write by=${fits}, or a shorter time with published_after and published_before.`
  return new ApiError('invalid_request', { errors: { by: [sentence] } })
}

/** The answer; `from` and `to` of a bucket can be sent as bounds of the same search. */
function countsObject({ total, data, other, undated }: Counts, planned: PlannedRequest, breakdown: Breakdown) {
  const bounds = boundsOf(planned)
  return {
    status: 'ok',
    by: breakdown.by,
    ...('zone' in breakdown ? { time_zone: breakdown.zone.name } : {}),
    total,
    data: data.map(({ key, count, span, outlet }) => ({
      key,
      count,
      ...(outlet === undefined ? {} : { outlet: { name: outlet.name, domain: outlet.domain } }),
      ...(span === undefined
        ? {}
        : {
            from: new Date(Math.max(span.first, bounds.first)).toISOString(),
            to: new Date(Math.min(span.last, bounds.last)).toISOString(),
          }),
    })),
    other,
    undated,
  }
}

/** The first and the last ms that the request lets in. */
function boundsOf({ request, historyStart }: PlannedRequest): { first: number; last: number } {
  const { question, publishedAfter, publishedBefore, ingestedAfter } = request
  if (question.sort === 'ingested_at')
    return { first: ingestedAfter ? ceilMs(ingestedAfter) : -Infinity, last: Infinity }
  const last =
    publishedBefore === null ? Infinity : publishedBefore.day ? nextMidnight(publishedBefore) - 1 : publishedBefore.ms
  return { first: publishedAfter ? ceilMs(publishedAfter) : historyStart.getTime(), last }
}
