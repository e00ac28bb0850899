import { resolve } from 'node:path'
import { nearestName } from '#shared/encoding/near-miss'
import { OWN_PREFIXES, SETTINGS, type Setting, type SettingValue } from './settings.ts'
import { readAuthority, withAuthority } from './tls.ts'
import { parseBytes, parseDuration, readSecretFile } from './values.ts'

export type Config = {
  readonly [K in keyof typeof SETTINGS]: SettingValue<(typeof SETTINGS)[K]['type']>
}

/** A setting with an invalid value. The message is one sentence that says what to write instead. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

/**
 * Reads every setting from `env`. An empty variable counts as not set. A secret or an address may
 * be in a file, whose path `NAME_FILE` gives. When both are set, `NAME` counts.
 *
 * @throws ConfigError that names the variable, its value and the values that it may have
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const values: Record<string, string | number | string[]> = {}
  for (const [name, setting] of Object.entries(SETTINGS) as [string, Setting][]) {
    values[name] = readSetting(
      name,
      setting,
      env[name]?.trim() || fileOf(name, setting, env) || (setting.default ?? ''),
    )
  }
  trustAuthority(values)
  return values as Config
}

/** Checks TLS_CA_FILE, and adds it to the addresses of Postgres servers. */
function trustAuthority(values: Record<string, string | number | string[]>): void {
  const { TLS_CA_FILE: named } = values
  if (typeof named !== 'string' || named === '') return
  const file = resolve(named)
  const read = readAuthority(file)
  if ('problem' in read)
    throw new ConfigError(
      `TLS_CA_FILE is "${named}", and ${read.problem}; write the path of a file with certificates.`,
    )
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === 'string') values[name] = withAuthority(value, file)
    else if (Array.isArray(value)) values[name] = value.map(one => withAuthority(one, file))
  }
}

/**
 * A sentence for each name in `env` that looks like one of our settings but does not exist, in
 * alphabetical order.
 */
export const settingsWithoutUse = (env: NodeJS.ProcessEnv = process.env): string[] =>
  Object.keys(env)
    .sort()
    .flatMap(name => {
      if (isSetting(name)) return []
      // A short name of another program is often similar to one of ours by chance: CI_TOKEN to
      // HF_TOKEN. So in short names only one letter may differ.
      const meant = nearestName(name, Object.keys(SETTINGS), name.length < 10 ? 1 : 2)
      if (meant === null && !OWN_PREFIXES.some(prefix => name.startsWith(prefix))) return []
      return [
        `There is no setting ${name}; ${meant ? `did you mean ${meant}?` : 'see docs/configuration.md.'}`,
      ]
    })

/** A sentence for each setting that can be used, but hardly does what it is for. */
export function settingsInDoubt({
  CRAWL_USER_AGENT: agent,
  CRAWL_FROM,
  SMTP_FROM: sender,
}: Pick<Config, 'CRAWL_USER_AGENT' | 'CRAWL_FROM' | 'SMTP_FROM'>): string[] {
  return [
    /@|:\/\//.test(agent + CRAWL_FROM)
      ? ''
      : `CRAWL_USER_AGENT is "${agent}" and names no contact; add the address of a page or a mailbox, as "NewsBot/1.0 (+https://news.example/bot; news@example.org)".`,
    sender === '' || /[^\s@]@[^\s@]/.test(sender)
      ? ''
      : `SMTP_FROM is "${sender}"; write the address of a mailbox, as alerts@news.example.`,
  ].filter(Boolean)
}

const FILE = '_FILE'

function isSetting(name: string): boolean {
  if (name in SETTINGS) return true
  const setting = (SETTINGS as Readonly<Record<string, Setting>>)[name.slice(0, -FILE.length)]
  return name.endsWith(FILE) && setting !== undefined && mayBeInFile(setting)
}

/** Files may give secrets, and addresses too, because an address may have a password in it. */
const mayBeInFile = ({ type }: Setting) => type === 'secret' || type === 'url' || type === 'urls'

function fileOf(name: string, setting: Setting, env: NodeJS.ProcessEnv): string | null {
  const path = mayBeInFile(setting) ? env[name + FILE]?.trim() : undefined
  if (path === undefined || path === '') return null
  const read = readSecretFile(path)
  if ('problem' in read)
    throw new ConfigError(
      `${name}${FILE} is "${path}", and ${read.problem}; write the path of a file with one line.`,
    )
  return read.secret
}

function readSetting(name: string, setting: Setting, text: string): string | number | string[] {
  switch (setting.type) {
    case 'duration': {
      const ms = parseDuration(text)
      if (ms === null)
        throw new ConfigError(
          `${name} is "${text}"; write a duration such as 500ms, 30s, 5m or 2h.`,
        )
      return ms
    }
    case 'bytes': {
      const bytes = parseBytes(text)
      if (bytes === null)
        throw new ConfigError(`${name} is "${text}"; write a size such as 64MB or 2GB.`)
      return bytes
    }
    case 'integer':
    case 'port': {
      const min = setting.min ?? 0
      const max = setting.max ?? 65_535
      const number = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN
      if (!(number >= min && number <= max))
        throw new ConfigError(`${name} is "${text}"; write a whole number from ${min} to ${max}.`)
      return number
    }
    case 'url':
      if (text !== '') checkAddresses(name, setting, text, [text])
      return text
    case 'secret':
      if (
        setting.min !== undefined &&
        text !== '' &&
        (text.length < setting.min || !TOKEN.test(text))
      ) {
        throw new ConfigError(
          `${name} cannot be used; write at least ${setting.min} letters, digits and -._~+/ that nobody can guess.`,
        )
      }
      return text
    case 'urls':
      return checkAddresses(name, setting, text, itemsOf(text))
    case 'list':
      return itemsOf(text).map(item => formed(name, setting, item))
    default:
      return oneOf(name, setting.values ?? [text], formed(name, setting, text))
  }
}

function formed(name: string, { form }: Setting, text: string): string {
  if (form === undefined || form.pattern.test(text)) return text
  throw new ConfigError(`${name} holds "${text}"; write it as ${form.example}.`)
}

function oneOf(name: string, values: readonly string[], text: string): string {
  if (values.includes(text)) return text
  throw new ConfigError(`${name} is "${text}"; write ${values.join(', ')}.`)
}

function checkAddresses(
  name: string,
  { schemes }: Setting,
  text: string,
  items: string[],
): string[] {
  const may = schemes?.map(scheme => `${scheme}://`)
  if (
    items.every(item => URL.canParse(item) && (may?.some(start => item.startsWith(start)) ?? true))
  )
    return items
  const example = may === undefined ? 'with its scheme' : `that begins with ${may.join(' or ')}`
  throw new ConfigError(`${name} is "${redact(text)}"; write a whole address ${example}.`)
}

const itemsOf = (text: string): string[] =>
  text
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '')

// A token that may follow `Bearer` (RFC 6750 §2.1), short enough for a header.
const TOKEN = /^[\w.~+/-]{1,500}$/

// Hides passwords in messages, because a mistyped DATABASE_URL may still have one.
const redact = (text: string) => text.replace(/:[^:@/]*@/g, ':***@')

/**
 * The address of the API as clients write it, without a slash at its end.
 *
 * @throws ConfigError
 */
export function publicUrlOf({
  PUBLIC_URL,
  HOST,
  PORT,
}: Pick<Config, 'PUBLIC_URL' | 'HOST' | 'PORT'>): string {
  const host = HOST.includes(':') ? `[${HOST}]` : HOST
  const address = (PUBLIC_URL || `http://${host}:${PORT}`).replace(/\/+$/, '')
  if (URL.canParse(address)) return address
  throw new ConfigError(`HOST is "${HOST}"; write an address of this machine, as 127.0.0.1.`)
}
