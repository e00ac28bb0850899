/*
 * The entry for pages in browsers: how `q` is read, and how texts are cut into words. Everything
 * here is pure and imports nothing of Node.
 */

export { wordRuns } from './analysis/tokens.ts'
export { inFull, leavesOf, parseExpression } from './query/expression.ts'
export { type Match, type ParsedQuery, parseBoolean, parseKeyword, QUERY_PROBLEMS } from './query/parse.ts'
