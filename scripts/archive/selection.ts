import type { ArticleQuery } from '../../search/index.ts'
import { filterOf } from '../../services/api/articles/find.ts'
import { LIMITS } from '../../services/api/contract/parameters.ts'
import { COUNTRIES } from '../../shared/articles/article.ts'
import { type CommandContext, type Option, UsageError } from '../../shared/process/command.ts'
import { queryOptions, readOptions } from '../client/options.ts'

/** Articles of a page of the search that selects. */
const PAGE = 100

/** The API's filters as options of `export`. */
export const SELECTION_OPTIONS: Record<string, Option> = {
  ...queryOptions(['sort', 'order', 'per_page']),
  search: { type: 'string', about: 'how q is read', value: 'keyword|boolean' },
}

/**
 * The search for the articles that the options select: as the API's with a plan that covers
 * everything, oldest first.
 *
 * @returns null: all articles, or all since a time of ingestion
 * @throws UsageError naming the option
 */
export function readSelection(options: CommandContext['options']): ArticleQuery | null {
  const given = Object.keys(options).filter(name => name in SELECTION_OPTIONS && name !== 'ingested-after')
  if (given.length === 0) return null
  const request = readOptions(options)
  const { question } = request
  if (question.search === 'semantic') {
    throw new UsageError(
      `--search semantic finds ${LIMITS.candidates} articles at most; npm run query -- --search semantic --json prints them.`,
    )
  }
  const historyStart = new Date(Date.UTC(LIMITS.years.minimum, 0, 1))
  return {
    ...filterOf({ request, countries: request.countries ?? [...COUNTRIES], historyStart }),
    match: question.match,
    searchIn: question.searchIn,
    sort: 'published_at',
    order: 'asc',
    perPage: PAGE,
  }
}
