import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ArticlesQuery, type Client, createClient, NoAnswerError } from '../../clients/typescript/src/index.ts'
import { ApiError } from '../../services/api/contract/errors.ts'
import { PARAMETER_NAMES, PARAMETERS, type Parameter } from '../../services/api/contract/parameters.ts'
import { type ArticlesRequest, readRequest } from '../../services/api/contract/request.ts'
import type { Config } from '../../shared/config/config.ts'
import { type CommandContext, type Option, sentenceOf, UsageError } from '../../shared/process/command.ts'

/**
 * The API's parameters as options of a script, printed from the contract's table: `--search-in`,
 * `--per-page` …
 */
export function queryOptions(without: readonly string[] = []): Record<string, Option> {
  return Object.fromEntries(
    PARAMETER_NAMES.filter(name => name !== 'cursor' && !without.includes(name)).map(name => [
      name.replaceAll('_', '-'),
      { type: 'string', about: PARAMETERS[name].about.replaceAll('`', ''), value: placeholderOf(PARAMETERS[name]) },
    ]),
  )
}

/** The name of a parameter's values in `--help`. */
function placeholderOf(parameter: Parameter): string {
  switch (parameter.kind) {
    case 'choice':
      return parameter.values.join('|')
    case 'choices':
      return parameter.values.join(',')
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
 * The given options as a query, validated by the contract before anything is sent.
 * @throws UsageError naming the option
 */
export function readQuery(options: CommandContext['options']): ArticlesQuery {
  readOptions(options)
  // `readOptions` has validated them against the definitions that the type is made of. Lists stay
  // as written.
  return written(options) as ArticlesQuery
}

const written = (options: CommandContext['options']): Record<string, string> =>
  Object.fromEntries(
    PARAMETER_NAMES.flatMap(name => {
      const value = optionText(options[name.replaceAll('_', '-')])
      return value === undefined ? [] : [[name, value] as const]
    }),
  )

/**
 * The given options as the API reads them.
 * @throws UsageError naming the option
 */
export function readOptions(options: CommandContext['options']): ArticlesRequest {
  try {
    return readRequest(new URLSearchParams(written(options)).toString(), 'articles')
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const [name, sentences] = Object.entries(error.errors ?? {})[0] ?? ['', [error.message]]
    throw new UsageError(`--${name.replaceAll('_', '-')}: ${sentences.join(' ')}`)
  }
}

const optionText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** Where the API is, and with which key. */
export const CONNECTION_OPTIONS: Record<string, Option> = {
  url: { type: 'string', about: 'address of the API; else PUBLIC_URL, else HOST and PORT', value: 'URL' },
  key: { type: 'string', about: 'API key; else API_KEY, else the one that npm start made', value: 'KEY' },
}

/**
 * Works with the API that the options name, with the package for clients.
 *
 * @param retries how often a request that may do better later is repeated
 * @throws UsageError when there is no key to be found; a sentence when the API is not there
 */
export async function withApi<T>(
  context: CommandContext,
  retries: number,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const { config, options, say, signal } = context
  const url = given(options.url) ?? (config.PUBLIC_URL || `http://${config.HOST}:${config.PORT}`)
  const key = given(options.key) ?? (config.API_KEY || (await readyMadeKey(config)))
  if (key === null) throw new UsageError('Write --key, or set API_KEY; npm run keys -- create makes one.')
  const onWait = (ms: number, reason: unknown) => say(`Waiting ${Math.ceil(ms / 1_000)} s: ${sentenceOf(reason)}`)
  try {
    return await work(createClient({ url, key, retries, signal, onWait }))
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error
    throw new Error(
      `${sentenceOf(error)} Name the API with --url, or leave \`npm start\` running on ${config.DATA_DIR}.`,
      { cause: error },
    )
  }
}

async function readyMadeKey(config: Config): Promise<string | null> {
  const text = await readFile(join(config.DATA_DIR, 'api.key'), 'utf8').catch(() => '')
  return text.trim() || null
}

const given = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
