import {
  type Breakdown,
  CountedElsewhere,
  type Counts,
  MOST_BUCKETS,
  type TextGroups,
  TIME_UNITS,
  TooManyBuckets,
  timeZoneNamed,
} from '#search/index'
import {
  type Asking,
  countArticles,
  type PlannedRequest,
  payTogether,
  plannedOf,
  type Searches,
} from '#services/api/articles/find'
import { type ApiError, invalid } from '#services/api/contract/errors'
import { ceilMs, lastMs } from '#services/api/contract/instants'
import { EXPLORE_PARAMETERS, type Parameter, type Sort } from '#services/api/contract/parameters'
import { createValuesReader, type Problems } from '#services/api/contract/query-string'
import { requestOf } from '#services/api/contract/request'
import {
  COUNT,
  count,
  OK,
  OUTLET_SCHEMA,
  objectOf,
  TEXT,
  text,
  time,
  timeOrNull,
} from '#services/api/contract/resources'
import { type Answer, jsonAnswer } from '#services/api/http/answer'
import { LANGUAGES } from '#shared/articles/article'
import { counted } from '#shared/log/printable'
import type { Plan } from '#shared/plans/keys'
import type { Meaning } from './meaning.ts'

/*
 * A count is a search that returns numbers in place of articles. A breakdown takes one search; with
 * `then`, further searches count its parts. For a search by meaning, the answer also says how many
 * articles have a vector.
 */

const { order: _order, per_page: _perPage, cursor: _cursor, sort, ...FILTERS } = EXPLORE_PARAMETERS

/**
 * The parameters of `/explore/counts`: those of `/explore/articles` without pages, and four of its
 * own.
 */
export const COUNTS_PARAMETERS = {
  by: {
    kind: 'choice',
    values: [...TIME_UNITS, 'outlet', 'language', 'country', 'section', 'kind', 'access'],
    required: `Write one of ${TIME_UNITS.join(', ')}, outlet, language, country, section, kind, access.`,
    about:
      'Required. What to count by. `outlet` tells the 20 outlets with the most articles, `section` the 20 sections.',
  },
  // biome-ignore lint/suspicious/noThenProperty: a parameter's name, never a function
  then: {
    kind: 'choice',
    values: ['outlet', 'language', 'country'],
    about: 'Counts each bucket of a time again by this, as its `parts`.',
  },
  time_zone: {
    kind: 'text',
    maxLength: 64,
    pattern: '^[A-Za-z0-9/_+-]*$',
    about:
      'IANA name of the time zone in which hours, days, weeks and months begin, as `Europe/Brussels`. UTC without it. Only with `by=hour`, `day`, `week` or `month`.',
  },
  texts: {
    kind: 'flag',
    about:
      'true: counts each text once. Of [copies](#tag/Explore/operation/copiesOfPage) the one counts that was ingested first, of those that the search finds.',
  },
  close: {
    kind: 'flag',
    about:
      'true: counts only what is close in meaning, of relevance `meaning.near` or more; all where nothing is. Only with `search=semantic`.',
  },
  ...FILTERS,
  sort: {
    ...sort,
    about:
      'As in `/explore/articles`. `ingested_at` leaves out articles without an ingestion time, and buckets of time are then those of ingestion.',
  },
} as const satisfies Record<string, Parameter>

/** Parameters of `/explore/articles` that counts do not take. */
const COUNTS_REFUSALS: ReadonlyMap<string, string> = new Map(
  ['per_page', 'cursor', 'order'].map(name => [name, 'Counts have no pages; leave it out.']),
)

/** The answer, as JSON Schema (2020-12). */
export const COUNTS_SCHEMA = objectOf(
  {
    status: OK,
    by: { type: 'string', enum: COUNTS_PARAMETERS.by.values },
    // biome-ignore lint/suspicious/noThenProperty: a parameter's name, never a function
    then: { type: 'string', enum: COUNTS_PARAMETERS.then.values },
    time_zone: text('IANA name of the time zone of the buckets; only with counts by time.'),
    texts: {
      type: 'boolean',
      const: true,
      description: 'Only with `texts=true`: what is said of articles here, is of texts.',
    },
    total: count(
      'Articles of the search: all counts of `data`, `other`, `undated` and `unsaid` together.',
    ),
    data: {
      type: 'array',
      description:
        'By time: every bucket of the time that is searched, also empty ones, oldest first. Otherwise: only what has articles, most articles first.',
      items: objectOf(
        {
          key: text(
            'ISO 8601 in the time zone: `2026-11-20T08:00:00+01:00`, `2026-11-20`, `2026-W47` or `2026-11`; the language; the country; the section, the kind, the access; the name of the outlet, or else its domain.',
          ),
          count: COUNT,
          outlet: OUTLET_SCHEMA,
          from: time(
            'First time of the bucket that the search lets in. Send it as `published_after` to see the articles.',
          ),
          to: time(
            'Last time of the bucket that the search lets in. Send it as `published_before`.',
          ),
          parts: {
            ...objectOf({
              data: {
                type: 'array',
                items: objectOf({ key: TEXT, count: COUNT, outlet: OUTLET_SCHEMA }, ['outlet']),
              },
              other: COUNT,
            }),
            description:
              'With `then`: all counts of `data` and `other` together are those of the bucket.',
          },
        },
        ['outlet', 'from', 'to', 'parts'],
      ),
    },
    other: count('Articles of outlets, or sections, beyond the first 20; otherwise 0.'),
    undated: count('By time: articles whose time is not known; otherwise 0.'),
    unsaid: count(
      'Only by section, kind and access: articles of which the outlet does not say it.',
    ),
    meaning: {
      ...objectOf(
        {
          found: count("Articles of your plan's reach that have a vector."),
          of: count('All articles of the reach.'),
          waiting_from: timeOrNull(
            'The earliest time of an article that waits for its vector; null: none waits.',
          ),
          near: {
            type: ['number', 'null'],
            description:
              'Articles of less relevance may be about something else; less for a query of a few words. null: this was not measured for the model that is used.',
          },
          close: {
            type: ['integer', 'null'],
            minimum: 0,
            description:
              'With `close=true`, and always for agents: how many are close. null: `near` was not measured; 0: none is, and all are counted.',
          },
          note: text('With `close=true`, and always for agents: the same in a sentence.'),
        },
        ['close', 'note'],
      ),
      description: 'Only with `search=semantic`: how much can be found by meaning so far.',
    },
  },
  ['then', 'time_zone', 'texts', 'unsaid', 'meaning'],
)

/**
 * `GET /explore/counts`: how many articles of a search there are by time, outlet, language or
 * country.
 *
 * @throws ApiError
 */
export async function answerCounts(
  { searches, rawQuery, plan }: Asking,
  meaningOf: (plan: Plan, query: string) => Promise<Meaning>,
  groupsOfTexts: () => Promise<TextGroups>,
): Promise<Answer> {
  const { request, breakdown, then, isOfTexts, isOfClose } = readCountsRequest(rawQuery)
  const planned = plannedOf(request, plan)
  const texts = isOfTexts
    ? { groups: await searches.withPermit(groupsOfTexts), lowest: null }
    : undefined
  // To count texts costs as much as to count articles again.
  if (isOfTexts) await searches.pay(1)
  let ms = 0
  const counting = (least: number): Promise<Counted> => {
    const countOne: CountOne = async (some, planned, breakdown) => {
      const found = await countArticles(some, planned, breakdown, texts, least)
      ms += found.ms
      return found.counts
    }
    const counts: Promise<Counted> =
      then === undefined
        ? countOne(searches, planned, breakdown)
        : countParts(countOne, then, searches, planned, breakdown)
    return counts.catch((error: unknown) => {
      throw refusalOf(error, request.question.sort)
    })
  }
  const { question } = request
  const known = question.search === 'semantic' ? await meaningOf(plan, question.q) : null
  const near = isOfClose ? (known?.near ?? null) : null
  const first = await counting(near ?? 0)
  const close = near === null ? null : first.total
  const counts = close === 0 ? await counting(0) : first
  const told = isOfClose ? { close, note: noteOf(near, close, counts.total) } : {}
  const meaning = known === null ? {} : { meaning: { ...known, ...told } }
  const body = JSON.stringify({
    ...countsObject(counts, planned, breakdown, then),
    texts: isOfTexts || undefined,
    ...meaning,
  })
  return jsonAnswer(body, question.search, ms)
}

/** What a search by meaning has found, in the sentence that all answers share. */
function noteOf(near: number | null, close: number | null, total: number): string {
  if (total === 0) return 'Nothing was found.'
  if (near === null)
    return 'How close an article must be was not measured for this model: each may be about something else.'
  return close === 0
    ? `The closest come first. We cannot say from which one on they are about something else: none has relevance ${near} or more, and some right answers have less.`
    : `${counted(close ?? 0, 'article is', 'articles are')} close in meaning (relevance ${near} or more); the others may be about something else.`
}

const readValues = createValuesReader(COUNTS_PARAMETERS, COUNTS_REFUSALS)

/** @throws ApiError `invalid_request` with a sentence for each parameter that is wrong */
function readCountsRequest(rawQuery: string) {
  const { values: given, problems } = readValues(rawQuery)
  const { by, then, time_zone, texts, close, ...values } = given
  const breakdown = readBreakdown(by, time_zone, problems)
  if (then !== undefined && by !== undefined && !isTime(by))
    problems.add('then', `Leave it out with by=${by}.`)
  if (then === 'outlet' && values.sort === 'ingested_at')
    problems.add('then', 'Leave outlet out with sort=ingested_at.')
  if (close !== undefined && values.search !== 'semantic')
    problems.add('close', 'Leave it out unless search=semantic.')
  const request = requestOf(values, problems)
  // A request without a breakdown has a problem, so `requestOf` has refused it.
  if (breakdown === null) throw new Error('A request without a breakdown was let through.')
  return { request, breakdown, then, isOfTexts: texts === true, isOfClose: close === true }
}

type By = (typeof COUNTS_PARAMETERS.by.values)[number]

const isTime = (by: By): by is (typeof TIME_UNITS)[number] => TIME_UNITS.some(time => time === by)

function readBreakdown(
  by: By | undefined,
  timeZone: string | undefined,
  problems: Problems,
): Breakdown | null {
  if (by === undefined) return null
  if (!isTime(by)) {
    if (timeZone !== undefined) problems.add('time_zone', `Leave it out with by=${by}.`)
    return { by }
  }
  const zone = timeZoneNamed(timeZone ?? 'UTC')
  if (zone !== null) return { by, zone }
  problems.add('time_zone', 'Write the IANA name of a time zone, as Europe/Brussels.')
  return null
}

function refusalOf(error: unknown, sort: Sort): unknown {
  if (error instanceof TooManyBuckets) return tooMany(error, sort)
  if (!(error instanceof CountedElsewhere)) return error
  const sentence = `The archive index holds the oldest of these articles and counts no ${error.what}; write a later published_after.`
  return invalid(error.what === 'texts' ? 'texts' : 'by', sentence)
}

function tooMany({ unit, fits }: TooManyBuckets, sort: Sort): ApiError {
  const bounds = sort === 'ingested_at' ? 'ingested_after' : 'published_after and published_before'
  const sentence = `There would be more than ${MOST_BUCKETS} buckets with by=${unit}; write by=${fits}, or a shorter time with ${bounds}.`
  return invalid('by', sentence)
}

type Then = (typeof COUNTS_PARAMETERS.then.values)[number]
type Bucket = Counts['data'][number] & { parts?: { data: Counts['data']; other: number } }

type Counted = Omit<Counts, 'data'> & { data: Bucket[] }

type CountOne = (
  searches: Searches,
  planned: PlannedRequest,
  breakdown: Breakdown,
) => Promise<Counts>

/**
 * The most buckets that are counted again by outlet. Each takes a search of its own. Empty buckets
 * do not count.
 */
const MOST_BY_OUTLET = 62

/**
 * Counts the buckets of a time again. Articles may arrive between the searches. So the count of a
 * bucket is the sum of its parts, which have no article in common.
 */
async function countParts(
  countOne: CountOne,
  then: Then,
  searches: Searches,
  planned: PlannedRequest,
  breakdown: Breakdown,
): Promise<Counted> {
  const those = then === 'outlet' ? [] : thoseOf(planned, then)
  // The parts by outlet are known once the search is counted, so it is paid alone.
  const whole =
    then === 'outlet'
      ? searches
      : await payTogether(searches, [planned, ...those.map(one => one.planned)], those.length)
  const counts = await countOne(whole, planned, breakdown)
  const { request } = planned
  const bounds = boundsOf(planned)
  let undated = counts.undated
  const data = counts.data.map((bucket): Bucket & Required<Pick<Bucket, 'parts'>> => ({
    ...bucket,
    count: 0,
    parts: { data: [], other: 0 },
  }))
  if (then === 'outlet') {
    const full = counts.data.flatMap(({ count, span }, at) =>
      count > 0 && span ? [{ span, at }] : [],
    )
    if (full.length > MOST_BY_OUTLET) throw tooManyParts()
    const parts = full.map(({ span }) => {
      const publishedAfter = instantAt(Math.max(span.first, bounds.first))
      const publishedBefore = instantAt(Math.min(span.last, bounds.last))
      return { ...planned, request: { ...request, publishedAfter, publishedBefore } }
    })
    const paidParts = await payTogether(searches, parts, parts.length)
    for (const [part, { at }] of full.entries()) {
      const found = await countOne(paidParts, parts[part]!, { by: 'outlet' })
      data[at]!.parts = { data: found.data, other: found.other }
    }
  } else {
    undated = 0
    for (const one of those) {
      const found = await countOne(whole, one.planned, breakdown)
      const byKey = new Map(found.data.map(({ key, count }) => [key, count]))
      for (const { key, parts } of data)
        parts.data.push({ key: one.key, count: byKey.get(key) ?? 0 })
      undated += found.undated
    }
  }
  for (const bucket of data) {
    bucket.parts.data = bucket.parts.data
      .filter(({ count }) => count > 0)
      .sort((a, b) => b.count - a.count)
    bucket.count = bucket.parts.data.reduce((sum, { count }) => sum + count, bucket.parts.other)
  }
  const total = data.reduce((sum, { count }) => sum + count, undated)
  return { ...counts, data, undated, total }
}

/** Splits a request into requests for one language, or one country, each. */
function thoseOf(
  planned: PlannedRequest,
  then: 'language' | 'country',
): { key: string; planned: PlannedRequest }[] {
  const { request, countries } = planned
  if (then === 'country')
    return countries.map(key => ({ key, planned: { ...planned, countries: [key] } }))
  return (request.languages ?? LANGUAGES).map(key => ({
    key,
    planned: { ...planned, request: { ...request, languages: [key] } },
  }))
}

const instantAt = (ms: number) => ({ ms, beyond: '', day: false })

const tooManyParts = () =>
  invalid(
    'then',
    `More than ${MOST_BY_OUTLET} buckets have articles; write a longer unit as by, or a shorter time.`,
  )

/** The answer. A client can send `from` and `to` of a bucket as bounds of the same search. */
function countsObject(
  { total, data, other, undated, unsaid }: Counted,
  planned: PlannedRequest,
  breakdown: Breakdown,
  then: Then | undefined,
) {
  const bounds = boundsOf(planned)
  return {
    status: 'ok',
    by: breakdown.by,
    // JSON has no member for what is undefined.
    then,
    time_zone: 'zone' in breakdown ? breakdown.zone.name : undefined,
    total,
    data: data.map(({ key, count, span, outlet, parts }) => ({
      key,
      count,
      outlet: outlet && { name: outlet.name, domain: outlet.domain },
      ...(span === undefined
        ? {}
        : {
            from: new Date(Math.max(span.first, bounds.first)).toISOString(),
            to: new Date(Math.min(span.last, bounds.last)).toISOString(),
          }),
      parts,
    })),
    other,
    undated,
    ...(isStated(breakdown.by) ? { unsaid } : {}),
  }
}

const isStated = (by: By) => by === 'section' || by === 'kind' || by === 'access'

/** The first and the last ms that the request allows. */
function boundsOf({ request, historyStart }: PlannedRequest): { first: number; last: number } {
  const { question, publishedAfter, publishedBefore, ingestedAfter } = request
  if (question.sort === 'ingested_at')
    return { first: ingestedAfter ? ceilMs(ingestedAfter) : -Infinity, last: Infinity }
  return {
    first: publishedAfter ? ceilMs(publishedAfter) : historyStart.getTime(),
    last: publishedBefore ? lastMs(publishedBefore) : Infinity,
  }
}
