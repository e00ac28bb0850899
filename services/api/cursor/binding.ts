import type { HistoryStart, Plan } from '../../../shared/plans/plan.ts'
import { ceilMs, type Instant, nextMidnight } from '../parameters/instants.ts'
import type { ArticlesRequest } from '../parameters/request.ts'

/**
 * Everything that a cursor is bound to (decision 21): every other parameter and the plan's coverage as it is defined,
 * in one spelling for whatever means the same. Only the JSON operation has cursors, hence no operation in it.
 */
export function bindingOf(request: ArticlesRequest, plan: Plan): string {
  const { question } = request
  return JSON.stringify([
    'articles',
    question.search,
    request.q,
    question.search === 'semantic' ? null : question.searchIn,
    question.sort,
    request.order,
    request.perPage,
    request.countries,
    request.languages,
    request.hasAuthor,
    request.outlet,
    request.author,
    request.publishedAfter && ceilMs(request.publishedAfter),
    request.publishedBefore && lastMs(request.publishedBefore),
    request.ingestedAfter && ceilMs(request.ingestedAfter),
    [...plan.countries].sort(),
    definitionOf(plan.history),
  ])
}

/** The last millisecond that an upper bound lets in. */
function lastMs(instant: Instant): number {
  return instant.day ? nextMidnight(instant) - 1 : instant.ms
}

const definitionOf = (history: HistoryStart) => (history.kind === 'fixed' ? history.at.getTime() : `${history.days}d`)
