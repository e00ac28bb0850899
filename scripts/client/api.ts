import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Client, createClient, NoAnswerError } from '../../clients/typescript/src/index.ts'
import type { Config } from '../../shared/config/config.ts'
import { type CommandContext, type Option, sentenceOf, UsageError } from '../../shared/process/command.ts'

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
