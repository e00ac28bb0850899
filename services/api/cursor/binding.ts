import type { HistoryStart, Plan } from '../../../shared/plans/keys.ts'
import type { ArticlesRequest } from '../parameters/request.ts'
import { type Spelling, type Spellings, spellingsOf } from '../parameters/spelling.ts'

/**
 * The parameters of the first version, bound by their places here. This list never changes, because
 * another one would end the cursors that clients hold. A parameter that came later is bound by its
 * name, and only where a request gives it: cursors from before its time then stay valid.
 */
const BY_PLACE = [
  'search',
  'q',
  'search_in',
  'sort',
  'order',
  'per_page',
  'country',
  'language',
  'has_author',
  'outlet',
  'author',
  'published_after',
  'published_before',
  'ingested_after',
] as const satisfies (keyof Spellings)[]

/**
 * Everything that a cursor is bound to (decision 21): every other parameter and the plan's coverage
 * as it is defined, in one spelling for whatever means the same. Only the JSON operation has
 * cursors, hence no operation in it.
 */
export const bindingOf = (request: ArticlesRequest, plan: Plan): string => bindingFor(spellingsOf(request), plan)

/** The binding of a request's spellings, those of later parameters among them. */
export function bindingFor(spellings: Spellings & Record<string, Spelling>, plan: Plan): string {
  const placed = new Set<string>(BY_PLACE)
  const later = Object.entries(spellings)
    .filter(([name, { bound }]) => !placed.has(name) && bound !== null)
    .map(([name, { bound }]): [string, unknown] => [name, bound])
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const bound = BY_PLACE.map(name => spellings[name].bound)
  const coverage = [[...plan.countries].sort(), definitionOf(plan.history)]
  return JSON.stringify(['articles', ...bound, ...coverage, ...later])
}

const definitionOf = (history: HistoryStart) => (history.kind === 'fixed' ? history.at.getTime() : `${history.days}d`)
