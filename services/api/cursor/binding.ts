import type { HistoryStart, Plan } from '../../../shared/plans/plan.ts'
import type { ArticlesRequest } from '../parameters/request.ts'
import { spellingsOf } from '../parameters/spelling.ts'

/**
 * Everything that a cursor is bound to (decision 21): every other parameter and the plan's coverage
 * as it is defined, in one spelling for whatever means the same. Only the JSON operation has
 * cursors, hence no operation in it.
 */
export function bindingOf(request: ArticlesRequest, plan: Plan): string {
  const bound = Object.values(spellingsOf(request)).map(one => one.bound)
  return JSON.stringify(['articles', ...bound, [...plan.countries].sort(), definitionOf(plan.history)])
}

const definitionOf = (history: HistoryStart) => (history.kind === 'fixed' ? history.at.getTime() : `${history.days}d`)
