/*
 * The entry for pages in browsers: how `q` is read, and how texts are cut into words. Everything
 * here is pure and imports nothing of Node.
 */

export { wordRuns } from './analysis/word-runs.ts'
export type { Match, ParsedQuery } from './query/article-query.ts'
export { parseBoolean, parseKeyword, QUERY_PROBLEMS } from './query/parse.ts'
