import type { HistoryStart, Plan } from '../../../shared/plans/plan.ts'
import type { ParameterName } from '../contract/parameters.ts'
import { ceilMs, type Instant, nextMidnight } from '../parameters/instants.ts'
import type { ArticlesRequest } from '../parameters/request.ts'

/** Every parameter but the cursor itself: the compiler asks for those that are added. */
type Bound = Record<Exclude<ParameterName, 'cursor'>, unknown>

/**
 * Everything that a cursor is bound to (decision 21): every other parameter and the plan's coverage
 * as it is defined, in one spelling for whatever means the same. Only the JSON operation has
 * cursors, hence no operation in it.
 */
export function bindingOf(request: ArticlesRequest, plan: Plan): string {
  const { question } = request
  // In an order that stays: another one would end the cursors that clients hold. What is added
  // comes last.
  const bound: Bound = {
    search: question.search,
    q: request.q,
    search_in: question.search === 'semantic' ? null : question.searchIn,
    sort: question.sort,
    order: request.order,
    per_page: request.perPage,
    country: request.countries,
    language: request.languages,
    has_author: request.hasAuthor,
    outlet: request.outlet,
    author: request.author,
    published_after: request.publishedAfter && ceilMs(request.publishedAfter),
    published_before: request.publishedBefore && lastMs(request.publishedBefore),
    ingested_after: request.ingestedAfter && ceilMs(request.ingestedAfter),
  }
  return JSON.stringify(['articles', ...Object.values(bound), [...plan.countries].sort(), definitionOf(plan.history)])
}

/** The last millisecond that an upper bound lets in. */
function lastMs(instant: Instant): number {
  return instant.day ? nextMidnight(instant) - 1 : instant.ms
}

const definitionOf = (history: HistoryStart) => (history.kind === 'fixed' ? history.at.getTime() : `${history.days}d`)
