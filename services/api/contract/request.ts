import { hasLetterOrDigit } from '#search/analysis/index'
import { type Match, parseBoolean, parseExpression, parseKeyword } from '#search/index'
import type { Access, Country, Kind, Language } from '#shared/articles/article'
import type { Plan } from '#shared/plans/keys'
import { ApiError } from './errors.ts'
import { ceilMs, type Instant, lastMs, precedes } from './instants.ts'
import {
  DEFAULT_SORT,
  defaultSearchIn,
  EXPLORE_PARAMETERS,
  LIMITS,
  type Order,
  PARAMETERS,
  type SearchIn,
  type SearchMode,
  type Sort,
} from './parameters.ts'
import { createValuesReader, type ParameterValues, type Problems } from './query-string.ts'

/*
 * A request is first checked by itself, then against its plan. Requests that mean the same get the
 * same spelling. Cursors, feeds and citations rely on that.
 */

/** The two operations; the feed is a single page. */
type Operation = 'articles' | 'feed'

/** How `q` is to be matched. */
type Question =
  | {
      search: Exclude<SearchMode, 'semantic'>
      match: Match
      searchIn: SearchIn
      sort: Exclude<Sort, 'relevance'>
    }
  | { search: 'semantic'; q: string; sort: Sort }

/** A valid request with its defaults filled in. It has not been checked against the plan. */
export interface ArticlesRequest {
  question: Question
  /** `q` as the client wrote it, for the cursor's binding and the feed's title; null: absent. */
  q: string | null
  /** In the contract's order; null: all countries of the plan. */
  countries: Country[] | null
  languages: Language[] | null
  hasAuthor: boolean | null
  outlet: string | null
  /** Exact domains in small letters, sorted; always null in the contract. */
  outlets: string[] | null
  author: string | null
  /** As the client wrote it; this and the next two are always null in the contract. */
  section: string | null
  kinds: Kind[] | null
  access: Access | null
  publishedAfter: Instant | null
  publishedBefore: Instant | null
  ingestedAfter: Instant | null
  order: Order
  perPage: number
  cursor: string | null
}

/** Where more is served than the contract has. */
const BESIDE = '/explore/articles and /explore/articles.rss'

/**
 * Reads and validates the raw query string of an operation of the contract: first each parameter,
 * then the rules between parameters.
 * @throws ApiError `invalid_request` with a sentence for each parameter that is wrong
 */
export const readRequest: ReadRequest = createReader(
  createValuesReader(
    PARAMETERS,
    new Map([
      ...['outlets', 'section', 'kind', 'access'].map((name): [string, string] => [
        name,
        `There is no such parameter here; ${BESIDE} take it.`,
      ]),
      [
        'search=expression',
        `Write one of ${PARAMETERS.search.values.join(', ')}; ${BESIDE} take expression.`,
      ],
    ]),
  ),
)

/**
 * Reads a search beside the contract, from an address or a kept search. The contract's parameters
 * mean the same here.
 * @throws ApiError `invalid_request` with a sentence for each parameter that is wrong
 */
export const readSearch: ReadRequest = createReader(createValuesReader(EXPLORE_PARAMETERS))

export type ReadRequest = (rawQuery: string, operation: Operation) => ArticlesRequest

function createReader(
  readValues: (rawQuery: string) => { values: ParameterValues; problems: Problems },
): ReadRequest {
  return (rawQuery, operation) => {
    const { values, problems } = readValues(rawQuery)
    if (operation === 'feed' && values.cursor !== undefined) {
      problems.add('cursor', 'The feed is a single page; read further pages as JSON.')
    }
    return requestOf(values, problems)
  }
}

/**
 * Makes a request of values.
 * @param problems the mistakes that were found before; this function adds its own
 * @throws ApiError `invalid_request` with a sentence for each parameter that is wrong
 */
export function requestOf(values: ParameterValues, problems: Problems): ArticlesRequest {
  checkBounds(values, problems)
  const question = readQuestion(values, problems)
  problems.refuse()
  if (question === null) throw new Error('A request without a question was let through.')
  return {
    question,
    q: values.q ?? null,
    countries: values.country ?? null,
    languages: values.language ?? null,
    hasAuthor: values.has_author ?? null,
    outlet: values.outlet ?? null,
    outlets: values.outlets ?? null,
    author: values.author ?? null,
    section: values.section ?? null,
    kinds: values.kind ?? null,
    access: values.access ?? null,
    publishedAfter: values.published_after ?? null,
    publishedBefore: values.published_before ?? null,
    ingestedAfter: values.ingested_after ?? null,
    order: values.order ?? PARAMETERS.order.default,
    perPage: values.per_page ?? LIMITS.perPage.default,
    cursor: values.cursor ?? null,
  }
}

function checkBounds(
  { published_after: after, published_before: before }: ParameterValues,
  problems: Problems,
): void {
  if (before && after && precedes(before, after))
    problems.add('published_before', 'It must not lie before published_after.')
}

/**
 * Reads `search`, `q`, `search_in` and `sort`, which depend on each other; null when they do not
 * fit together.
 */
function readQuestion(values: ParameterValues, problems: Problems): Question | null {
  // When the mode cannot be read, the rules that depend on it are not checked.
  if (problems.has('search')) return null
  const search: SearchMode = values.search ?? PARAMETERS.search.default
  if (search !== 'expression' && values.q !== undefined && [...values.q].length > LIMITS.q) {
    problems.add('q', `Write at most ${LIMITS.q} characters.`)
  }
  return search === 'semantic'
    ? readSemantic(values, problems)
    : readWords(search, values, problems)
}

function readSemantic(values: ParameterValues, problems: Problems): Question | null {
  const { q } = values
  if (values.search_in !== undefined)
    problems.add('search_in', 'Leave it out with search=semantic.')
  if (!problems.has('q')) {
    if (q === undefined || [...q].length < LIMITS.semanticQ) {
      problems.add('q', `With search=semantic, write at least ${LIMITS.semanticQ} characters.`)
    } else if (!hasLetterOrDigit(q)) {
      problems.add('q', 'Write at least one letter or digit.')
    }
  }
  return q === undefined
    ? null
    : { search: 'semantic', q, sort: values.sort ?? DEFAULT_SORT.semantic }
}

function readWords(
  search: keyof typeof PARSERS,
  values: ParameterValues,
  problems: Problems,
): Question | null {
  const sort = values.sort ?? DEFAULT_SORT[search]
  if (sort === 'relevance') problems.add('sort', 'sort=relevance needs search=semantic.')
  const searchIn = values.search_in ?? defaultSearchIn(search)
  const parsed =
    values.q === undefined
      ? { ok: true as const, match: { kind: 'all' as const } }
      : PARSERS[search](values.q)
  if (!parsed.ok) {
    for (const sentence of parsed.errors) problems.add('q', sentence)
    return null
  }
  return sort === 'relevance' ? null : { search, match: parsed.match, searchIn, sort }
}

const PARSERS = { keyword: parseKeyword, boolean: parseBoolean, expression: parseExpression }

/**
 * Checks a valid request against its plan, first its countries, then its history (decision 6). A
 * request is refused as a whole, never served in part. Returns the countries to search.
 *
 * @param start the plan's history start, or the one with which the sequence of pages began
 * @throws ApiError `country_not_included`, `history_not_included`
 */
export function checkPlan(request: ArticlesRequest, plan: Plan, start: Date): Country[] {
  const outside = request.countries?.filter(country => !plan.countries.includes(country)) ?? []
  if (outside.length > 0) {
    throw new ApiError('country_not_included', {
      message: `Your plan covers ${plan.countries.join(', ')}, not ${outside.join(', ')}.`,
    })
  }
  // `ms` is rounded down, so a bound less than 1 ms before the start also lies before it.
  if (request.publishedAfter && request.publishedAfter.ms < start.getTime()) {
    throw new ApiError('history_not_included', {
      message: `Your plan's history starts at ${start.toISOString()}.`,
    })
  }
  return request.countries ?? plan.countries
}

/** A parameter of a request. Requests that mean the same have the same spelling. */
export interface Spelling {
  /** The value that a cursor is bound to (decision 21); null: the request does not give it. */
  bound: unknown
  /**
   * The text in the feed's title (decision 32). null: it is absent, at its default, or no filter.
   */
  written: string | null
}

/**
 * The spelling of every parameter but the cursor. The compiler refuses a new parameter without a
 * spelling.
 */
export type Spellings = Record<Exclude<keyof typeof EXPLORE_PARAMETERS, 'cursor'>, Spelling>

/** The spellings of a request, in the contract's order. */
export function spellingsOf(request: ArticlesRequest): Spellings {
  const { question } = request
  const searchIn = question.search === 'semantic' ? null : question.searchIn
  return {
    q: text(request.q),
    search: choice(question.search, PARAMETERS.search.default),
    search_in: choice(searchIn, defaultSearchIn(question.search)),
    country: list(request.countries),
    language: list(request.languages),
    has_author: flag(request.hasAuthor),
    outlet: text(request.outlet),
    outlets: list(request.outlets),
    author: text(request.author),
    section: text(request.section),
    kind: list(request.kinds),
    access: text(request.access),
    published_after: instant(request.publishedAfter, ceilMs),
    published_before: instant(request.publishedBefore, lastMs),
    ingested_after: instant(request.ingestedAfter, ceilMs),
    sort: choice(question.sort, DEFAULT_SORT[question.search]),
    order: choice(request.order, PARAMETERS.order.default),
    per_page: { bound: request.perPage, written: null },
  }
}

const text = (value: string | null): Spelling => ({ bound: value, written: value })
const list = (values: string[] | null): Spelling => ({
  bound: values,
  written: values?.join(',') ?? null,
})
const flag = (value: boolean | null): Spelling => ({
  bound: value,
  written: value === null ? null : String(value),
})

const choice = (value: string | null, fallback: string): Spelling => ({
  bound: value,
  written: value === fallback ? null : value,
})

const instant = (value: Instant | null, toMs: (value: Instant) => number): Spelling => ({
  bound: value && toMs(value),
  written: value && writtenInstant(value),
})

/** Writes a day as a day, and a time in UTC, with its fraction when it has one. */
function writtenInstant({ ms, beyond, day }: Instant): string {
  const iso = new Date(ms).toISOString()
  if (day) return iso.slice(0, 10)
  const fraction = (iso.slice(20, 23) + beyond).replace(/0+$/, '')
  return `${iso.slice(0, 19)}${fraction === '' ? '' : `.${fraction}`}Z`
}

type Filters = [name: string, value: string][]

/**
 * The filters of a request as name and value, in the contract's order and canonical spelling.
 * Parameters at their default are left out, and so is `per_page`, which is no filter (decision 32).
 * Requests that mean the same have the same filters.
 */
export function appliedFilters(request: ArticlesRequest): Filters {
  return Object.entries(spellingsOf(request)).flatMap(
    ([name, { written }]): Filters => (written === null ? [] : [[name, written]]),
  )
}

/**
 * The query string of a feed's request in its one spelling: the applied filters, and the number of
 * items unless it is the default.
 */
export function searchOf(
  request: ArticlesRequest,
  filters: Filters = appliedFilters(request),
): string {
  const search = new URLSearchParams(filters)
  if (request.perPage !== LIMITS.perPage.default) search.append('per_page', String(request.perPage))
  return search.toString()
}

/** The title of a feed: the service's name and the filters, when there are any (decision 32). */
export function titleOf(
  serviceName: string,
  request: ArticlesRequest,
  filters: Filters = appliedFilters(request),
): string {
  const filtered = inWords(filters)
  return filtered === '' ? serviceName : `${serviceName}: ${filtered}`
}

/** Filters as people read them. */
export const inWords = (filters: Filters): string =>
  filters.map(([name, value]) => `${name}=${value}`).join(', ')
