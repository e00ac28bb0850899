import { LIMITS } from '../contract/limits.ts'
import { PARAMETER_NAMES } from '../contract/parameters.ts'
import type { ArticlesRequest } from '../parameters/request.ts'
import { spellingsOf } from '../parameters/spelling.ts'

type Filters = [name: string, value: string][]

/**
 * The filters of a request as name and value, in the contract's order and canonical spelling; what
 * is at its default is left out, and so is `per_page`, which is no filter (decision 32). Requests
 * that mean the same give the same.
 */
export function appliedFilters(request: ArticlesRequest): Filters {
  const spellings = spellingsOf(request)
  return PARAMETER_NAMES.flatMap((name): [string, string][] => {
    const written = name === 'cursor' ? null : spellings[name].written
    return written === null ? [] : [[name, written]]
  })
}

/**
 * The query string of a feed's request in its one spelling: the applied filters, and how many items
 * it has where that is said.
 */
export function searchOf(request: ArticlesRequest, filters = appliedFilters(request)): string {
  const search = new URLSearchParams(filters)
  if (request.perPage !== LIMITS.perPage.default) search.append('per_page', String(request.perPage))
  return search.toString()
}

/** The title of a feed: the service's name and the filters, when there are any (decision 32). */
export function titleOf(serviceName: string, request: ArticlesRequest, filters = appliedFilters(request)): string {
  const filtered = written(filters)
  return filtered === '' ? serviceName : `${serviceName}: ${filtered}`
}

/** Filters as people read them. */
export const written = (filters: Filters): string => filters.map(([name, value]) => `${name}=${value}`).join(', ')
