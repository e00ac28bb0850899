import { ApiError, invalid } from '#services/api/contract/errors'
import { checkPlan, readSearch, searchOf, titleOf } from '#services/api/contract/request'
import type { Plan } from '#shared/plans/keys'
import { historyStart } from '#shared/plans/reach'

/** Limits of the texts that describe a kept search. */
export const SEARCH_LIMITS = {
  /** Code points. */
  name: 191,
  /** Characters of a query string: enough for the longest expression, percent-encoded. */
  search: 32_768,
  /** Bytes of a request's body: both of the above in JSON. */
  body: 40_960,
} as const

/** @throws ApiError when a new search has no query string */
export function needed(search: string | undefined): string {
  if (search !== undefined) return search
  throw invalid('search', 'Write the search as a query string, or "" for all.')
}

/** A search and its name, both checked. */
interface Described {
  /** A query string in its one spelling. */
  search: string
  name: string
}

/**
 * Reads a search and its name, by the rules of `/explore/articles.rss`. It refuses every search
 * that `/explore/articles.rss` refuses, and every search that the plan does not cover.
 *
 * @param search a query string without `?`; letters beyond ASCII need no percent-encoding
 * @param written its name; null: the title that a feed of the search has
 * @param member the member of the body that holds the name
 * @throws ApiError
 */
export function readDescribed(
  search: string,
  written: string | null,
  plan: Plan,
  serviceName: string,
  member: 'name' | 'title' = 'name',
): Described {
  const name = written === null ? null : written.normalize('NFC').trim()
  const errors = {
    ...problemsOfSearch(search),
    ...(name === null ? {} : problemsOfName(member, name)),
  }
  if (Object.keys(errors).length > 0) throw new ApiError('invalid_request', { errors })
  // The reader of query strings takes bytes, one byte a character, as Node passes them.
  const request = readSearch(Buffer.from(search).toString('latin1'), 'feed')
  checkPlan(request, plan, historyStart(plan.history, new Date()))
  const stored = searchOf(request)
  // The spelling in UTC is checked again, because a time near the bounds may leave the contract's
  // years.
  readSearch(stored, 'feed')
  const own = [...titleOf(serviceName, request)].slice(0, SEARCH_LIMITS.name).join('')
  return { search: stored, name: name || own }
}

function problemsOfSearch(search: string): Record<string, string[]> {
  if (search.length > SEARCH_LIMITS.search)
    return { search: [`Write at most ${SEARCH_LIMITS.search} characters.`] }
  if (!search.isWellFormed()) return { search: ['It holds half a character.'] }
  return {}
}

function problemsOfName(member: string, name: string): Record<string, string[]> {
  if ([...name].length > SEARCH_LIMITS.name)
    return { [member]: [`Write at most ${SEARCH_LIMITS.name} characters.`] }
  if (/\p{Cc}/u.test(name) || !name.isWellFormed())
    return { [member]: ['Write it without control characters.'] }
  return {}
}
