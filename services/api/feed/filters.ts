import { LIMITS } from '../contract/limits.ts'
import { DEFAULT_SORT, PARAMETERS, type ParameterName } from '../contract/parameters.ts'
import type { Instant } from '../parameters/instants.ts'
import type { ArticlesRequest } from '../parameters/request.ts'

/** Every parameter that filters or orders: the compiler asks for those that are added. */
type Filters = Record<Exclude<ParameterName, 'per_page' | 'cursor'>, string | null>

/**
 * The filters of a request as name and value, in the contract's order and canonical spelling; what
 * is at its default is left out, and so is `per_page`, which is no filter (decision 32). Requests
 * that mean the same give the same.
 */
export function appliedFilters(request: ArticlesRequest): [name: string, value: string][] {
  const { question } = request
  const filters: Filters = {
    q: request.q,
    search: unless(PARAMETERS.search.default, question.search),
    search_in: question.search === 'semantic' ? null : unless(PARAMETERS.search_in.default, question.searchIn),
    country: request.countries?.join(',') ?? null,
    language: request.languages?.join(',') ?? null,
    has_author: request.hasAuthor === null ? null : String(request.hasAuthor),
    outlet: request.outlet,
    author: request.author,
    published_after: request.publishedAfter && written(request.publishedAfter),
    published_before: request.publishedBefore && written(request.publishedBefore),
    ingested_after: request.ingestedAfter && written(request.ingestedAfter),
    sort: unless(DEFAULT_SORT[question.search], question.sort),
    order: unless(PARAMETERS.order.default, request.order),
  }
  return Object.entries(filters).filter((filter): filter is [string, string] => filter[1] !== null)
}

/**
 * The query string of a feed's request in its one spelling: the applied filters, and how many items
 * it has where that is said.
 */
export function searchOf(request: ArticlesRequest): string {
  const search = new URLSearchParams(appliedFilters(request))
  if (request.perPage !== LIMITS.perPage.default) search.append('per_page', String(request.perPage))
  return search.toString()
}

/** The title of a feed: the service's name and the filters, when there are any (decision 32). */
export function titleOf(serviceName: string, request: ArticlesRequest): string {
  const filtered = writtenFilters(request)
  return filtered === '' ? serviceName : `${serviceName}: ${filtered}`
}

/** The applied filters as people read them. */
export const writtenFilters = (request: ArticlesRequest): string =>
  appliedFilters(request)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ')

const unless = (fallback: string, value: string) => (value === fallback ? null : value)

/** A day as a day, a time in UTC, with its fraction as far as it has one. */
function written({ ms, beyond, day }: Instant): string {
  const iso = new Date(ms).toISOString()
  if (day) return iso.slice(0, 10)
  const fraction = (iso.slice(20, 23) + beyond).replace(/0+$/, '')
  return `${iso.slice(0, 19)}${fraction === '' ? '' : `.${fraction}`}Z`
}
