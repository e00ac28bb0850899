/*
 * The entry for pages in browsers: functions that parse `q` and cut texts into words. All of them
 * are pure, and import no module of Node.
 */

export { wordRuns } from './analysis/tokens.ts'
export { fits } from './analysis/wildcard.ts'
export {
  type ExpressionProblem,
  inFull,
  leavesOf,
  operatorsMeant,
  type Problem,
  parseExpression,
  sentencesOf,
} from './query/expression.ts'
export {
  type Match,
  type ParsedQuery,
  parseBoolean,
  parseKeyword,
  QUERY_PROBLEMS,
} from './query/parse.ts'
