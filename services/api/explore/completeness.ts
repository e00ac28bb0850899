import { foldName } from '#search/analysis/index'
import { allDomains } from '#search/removals'
import { type Asking, plannedOf } from '#services/api/articles/find'
import { invalid } from '#services/api/contract/errors'
import { EXPLORE_PARAMETERS, type Parameter } from '#services/api/contract/parameters'
import { createValuesReader } from '#services/api/contract/query-string'
import { type ArticlesRequest, requestOf } from '#services/api/contract/request'
import { count, OK, OUTLET_SCHEMA, objectOf } from '#services/api/contract/resources'
import { type Content, jsonContent } from '#services/api/http/answer'
import { readBackDays } from '#shared/outlets/back-fills'
import { type DaySum, readDays } from '#shared/outlets/days'

const { country, outlet, outlets, published_after, published_before } = EXPLORE_PARAMETERS

/** The parameters of `/explore/coverage`. */
export const COMPLETENESS_PARAMETERS = {
  by: { kind: 'choice', values: ['day', 'outlet'], default: 'day', about: 'What to add up by.' },
  country,
  outlet,
  outlets,
  published_after: {
    ...published_after,
    about:
      "Begins with this day (UTC), by default 30 days before the last one. Not before your plan's history start.",
  },
  published_before: { ...published_before, about: 'Ends with this day (UTC), by default today.' },
} as const satisfies Record<string, Parameter>

const DAY = 86_400_000
const USUAL_DAYS = 31
const MOST_DAYS = 366

const FIGURES = {
  named: count(
    'Addresses that the outlets named in feeds or sitemaps, but for those in other languages.',
  ),
  named_by_feeds: count('Addresses that feeds named.'),
  named_by_sitemaps: {
    ...count('Addresses that sitemaps named: the second count; null: an outlet had none.'),
    type: ['integer', 'null'],
  },
  indexed: count('Addresses whose article is here.'),
  feed_alone: count('Of these, with the text of the feed alone, or none.'),
  refused: {
    type: 'object',
    additionalProperties: { type: 'integer', minimum: 1 },
    description: 'Addresses that are not indexed, by reason; `language`: in another language.',
  },
  lost: count('Addresses that could not be fetched or read.'),
  unfetched: count('Addresses that were only counted: no source of the catalogue named them.'),
  waiting: count('Addresses that are still to be fetched or indexed.'),
  share: {
    type: ['number', 'null'],
    minimum: 0,
    maximum: 1,
    description: '`indexed` of `named`, rounded down; null without a second count.',
  },
  unread: count('Outlets that could not be read, counted on each day.'),
  gap: { type: 'boolean', description: 'Articles are missing here that were written.' },
}

/** The answer, as JSON Schema (2020-12). */
export const COMPLETENESS_SCHEMA = objectOf({
  status: OK,
  by: { type: 'string', enum: COMPLETENESS_PARAMETERS.by.values },
  data: {
    type: 'array',
    description: 'Days or outlets of which something is known, days the oldest first.',
    items: objectOf(
      {
        day: {
          type: 'string',
          format: 'date',
          description: 'UTC. An address counts on the day when it was found.',
        },
        outlet: OUTLET_SCHEMA,
        ...FIGURES,
      },
      ['day', 'outlet'],
    ),
  },
  back: {
    type: 'array',
    description:
      'What the outlets had before they were added, as far as their old sitemaps name it, by the day of publication (UTC).',
    items: objectOf(
      {
        day: { type: 'string', format: 'date' },
        outlet: OUTLET_SCHEMA,
        named: count('Addresses that old sitemaps named.'),
        fetched: count('Addresses whose page was fetched.'),
        refused: count('Addresses that are not fetched, or that become no article.'),
        lost: count('Addresses that could not be fetched.'),
      },
      ['day', 'outlet'],
    ),
  },
})

const readValues = createValuesReader(COMPLETENESS_PARAMETERS)

/**
 * `GET /explore/coverage`: how much we have of what the outlets of a plan named, by day or outlet.
 *
 * @throws ApiError
 */
export async function answerCompleteness({
  searches: { db },
  rawQuery,
  plan,
}: Asking): Promise<Content> {
  const { values, problems } = readValues(rawQuery)
  const { by = COMPLETENESS_PARAMETERS.by.default, ...filters } = values
  const request = requestOf(filters, problems)
  const { countries, historyStart: start } = plannedOf(request, plan)
  const { rows } = await db.query<OutletRow>(OUTLETS, [countries, request.outlets])
  const wanted = request.outlet === null ? '' : foldName(request.outlet)
  const isAsked = ({ name, domain }: OutletRow) =>
    [name, domain].some(text => foldName(text).includes(wanted))
  const byNumber = new Map(rows.filter(isAsked).map(one => [one.outletNo, one]))
  const days = { by, outlets: [...byNumber.keys()], ...daysOf(request, start) }
  const [sums, past] = await Promise.all([readDays(db, days), readBackDays(db, days)])
  const outletOf = ({ outletNo }: Pick<DaySum, 'outletNo'>) => byNumber.get(outletNo ?? -1)
  const data = sums.map(sum => completenessObject(sum, outletOf(sum)))
  const back = past.map(({ named, fetched, refused, lost, ...sum }) => ({
    ...placeOf(sum, outletOf(sum)),
    named,
    fetched,
    refused,
    lost,
  }))
  return jsonContent(JSON.stringify({ status: 'ok', by, data, back }))
}

interface OutletRow {
  outletNo: number
  name: string
  domain: string
}

// $1 countries, $2 domains
const OUTLETS = `
  select outlet_no as "outletNo", name, domain from outlets
   where country = any ($1) and ($2::text[] is null or domain = any ${allDomains('$2::text[]')}) order by domain`

/** The days of a request. Days that the history covers only in part are left out. */
function daysOf(
  { publishedAfter, publishedBefore }: ArticlesRequest,
  start: Date,
): { from: string; to: string } {
  const last = Math.floor(Math.min(publishedBefore?.ms ?? Infinity, Date.now()) / DAY)
  const first = Math.floor((publishedAfter?.ms ?? (last - USUAL_DAYS + 1) * DAY) / DAY)
  if (last - first >= MOST_DAYS) {
    const sentence = `Ask for ${MOST_DAYS} days at most, with published_after and published_before.`
    throw invalid('published_after', sentence)
  }
  const day = (number: number) => new Date(number * DAY).toISOString().slice(0, 10)
  return { from: day(Math.max(first, Math.ceil(start.getTime() / DAY))), to: day(last) }
}

const placeOf = ({ day }: Pick<DaySum, 'day'>, outlet: OutletRow | undefined) => ({
  // JSON has no member for what is undefined.
  day: day ?? undefined,
  outlet: outlet && { name: outlet.name, domain: outlet.domain },
})

function completenessObject(sum: DaySum, outlet: OutletRow | undefined) {
  const {
    named,
    feeds,
    second,
    indexed,
    alone,
    refused,
    lost,
    unfetched,
    waiting,
    share,
    unread,
    gap,
  } = sum
  return {
    ...placeOf(sum, outlet),
    named,
    named_by_feeds: feeds,
    named_by_sitemaps: second,
    indexed,
    feed_alone: alone,
    refused,
    lost,
    unfetched,
    waiting,
    share,
    unread,
    gap,
  }
}
