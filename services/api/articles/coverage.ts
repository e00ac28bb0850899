import type { Country } from '../../../shared/articles/article.ts'
import type { HistoryStart, Plan } from '../../../shared/plans/keys.ts'
import { ApiError } from '../contract/api-error.ts'
import type { ArticlesRequest } from '../parameters/request.ts'

const DAY = 86_400_000

/**
 * The instant at which a plan's history starts: fixed, or 00:00 UTC so many days before the day of
 * `now` (decision 13).
 */
export function historyStart(history: HistoryStart, now: Date): Date {
  if (history.kind === 'fixed') return history.at
  return new Date(Math.floor(now.getTime() / DAY) * DAY - history.days * DAY)
}

/**
 * Holds a valid request against its plan: rejected whole, never partly served; country before
 * history (decision 6). Returns the countries to search.
 *
 * @param start the plan's history start, or the bound its sequence began with
 * @throws ApiError `country_not_included`, `history_not_included`
 */
export function checkPlan(request: ArticlesRequest, plan: Plan, start: Date): Country[] {
  const outside = request.countries?.filter(country => !plan.countries.includes(country)) ?? []
  if (outside.length > 0) {
    throw new ApiError('country_not_included', {
      message: `Your plan covers ${plan.countries.join(', ')}, not ${outside.join(', ')}.`,
    })
  }
  // `ms` is rounded down: a bound within the millisecond before the start lies before it.
  if (request.publishedAfter && request.publishedAfter.ms < start.getTime()) {
    throw new ApiError('history_not_included', {
      message: `Your plan's history starts at ${start.toISOString()}.`,
    })
  }
  return request.countries ?? plan.countries
}
