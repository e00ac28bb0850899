import type { Request } from 'express'
import type { Plan } from '../../../shared/plans/keys.ts'
import { checkPlan, historyStart } from '../articles/articles.ts'
import { ApiError } from '../contract/errors.ts'
import { createProblems, rawQueryOf, readQueryString } from '../contract/query-string.ts'
import { readRequest } from '../contract/request.ts'
import { searchOf, titleOf } from '../feed/feed.ts'
import { FEED_LIMITS } from './body.ts'

/** What describes a new feed. */
export interface NewFeed {
  /** A query string in its one spelling. */
  search: string
  title: string
}

/**
 * Reads the search and the title of a new feed, by the rules of `/v1/articles.rss`: what is refused
 * there is refused here, and what the plan does not cover.
 *
 * @param search a query string without `?`; letters beyond ASCII may be written as they are
 * @param title null: the title of the feed itself
 * @throws ApiError
 */
export function readNewFeed(search: string, title: string | null, plan: Plan, serviceName: string): NewFeed {
  const named = title === null ? null : title.normalize('NFC').trim()
  const errors = { ...problemsOfSearch(search), ...(named === null ? {} : problemsOfTitle(named)) }
  if (Object.keys(errors).length > 0) throw new ApiError('invalid_request', { errors })
  // The reader of query strings takes bytes, one a character, as Node hands them over.
  const request = readRequest(Buffer.from(search).toString('latin1'), 'feed')
  checkPlan(request, plan, historyStart(plan.history, new Date()))
  const stored = searchOf(request)
  // A time may lie in the years of the contract where it was written, and beyond them in UTC.
  readRequest(stored, 'feed')
  const own = [...titleOf(serviceName, request)].slice(0, FEED_LIMITS.title).join('')
  return { search: stored, title: named || own }
}

function problemsOfSearch(search: string): Record<string, string[]> {
  if (search.length > FEED_LIMITS.search) return { search: [`Write at most ${FEED_LIMITS.search} characters.`] }
  if (!search.isWellFormed()) return { search: ['It holds half a character.'] }
  return {}
}

function problemsOfTitle(title: string): Record<string, string[]> {
  if ([...title].length > FEED_LIMITS.title) return { title: [`Write at most ${FEED_LIMITS.title} characters.`] }
  if (/\p{Cc}/u.test(title) || !title.isWellFormed()) return { title: ['Write it without control characters.'] }
  return {}
}

/** @throws ApiError `invalid_request` with the sentence for each parameter of the address */
export function refuseParameters(request: Request, sentence: string): void {
  const problems = createProblems()
  for (const { name } of readQueryString(rawQueryOf(request.originalUrl))) problems.add(name, sentence)
  if (problems.any) throw new ApiError('invalid_request', { errors: problems.toObject() })
}
