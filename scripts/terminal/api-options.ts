import type { ArticlesQuery } from '#clients/typescript/src/index'
import { ApiError } from '#services/api/contract/errors'
import { EXPLORE_PARAMETERS, type Parameter } from '#services/api/contract/parameters'
import { type ArticlesRequest, readSearch } from '#services/api/contract/request'
import { type CommandContext, type Option, textOf, UsageError } from '#shared/process/command'

/**
 * The API's parameters as options of a script, made from the API's own table: `--search-in`,
 * `--per-page` …
 */
export const queryOptions = (without: readonly string[] = []): Record<string, Option> =>
  Object.fromEntries(
    PARAMETERS.filter(([name]) => name !== 'cursor' && !without.includes(name)).map(
      ([name, parameter]) => [
        name.replaceAll('_', '-'),
        { about: parameter.about.replaceAll('`', ''), value: placeholderOf(parameter) },
      ],
    ),
  )

const PARAMETERS: [name: string, Parameter][] = Object.entries(EXPLORE_PARAMETERS)

/** The placeholder for a parameter's value in `--help`. */
function placeholderOf(parameter: Parameter): string {
  switch (parameter.kind) {
    case 'choice':
      return parameter.values.join('|')
    case 'choices':
      return parameter.values.join(',')
    case 'domains':
      return 'DOMAIN,…'
    case 'flag':
      return 'true|false'
    case 'instant':
      return 'TIME'
    case 'integer':
      return `${parameter.minimum}-${parameter.maximum}`
    case 'text':
      return 'TEXT'
  }
}

/**
 * The given options as a query, validated by the contract before a request is sent.
 * @throws UsageError naming the option
 */
export function readQuery(options: CommandContext['options']): ArticlesQuery {
  readOptions(options)
  // `readOptions` has validated them against the definitions from which the type is made. Lists
  // stay as written.
  return written(options) as ArticlesQuery
}

const written = (options: CommandContext['options']): Record<string, string> =>
  Object.fromEntries(
    PARAMETERS.flatMap(([name]) => {
      const value = textOf(options, name.replaceAll('_', '-'))
      return value ? [[name, value] as const] : []
    }),
  )

/**
 * The given options as the API reads them.
 * @throws UsageError naming the option
 */
export function readOptions(options: CommandContext['options']): ArticlesRequest {
  try {
    return readSearch(new URLSearchParams(written(options)).toString(), 'articles')
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const [name, sentences] = Object.entries(error.errors ?? {})[0] ?? ['', [error.message]]
    throw new UsageError(`--${name.replaceAll('_', '-')}: ${sentences.join(' ')}`)
  }
}
