import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname } from 'node:path'
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { type Config, ConfigError, readConfig, settingsWithoutUse } from '#shared/config/config'
import { settingsBeside, withEmbeddedKeys } from '#shared/config/embedded'
import { certificateRefusal } from '#shared/config/tls'
import { describe, printable } from '#shared/log/printable'
import { createPool, type Pool, type PoolOptions } from '#shared/postgres/pool'
import { onStopSignal } from './signals.ts'

/** An option of a script, as `--help` lists it. */
export interface Option {
  about: string
  /** The name of the option's value in `--help`; absent: the option takes no value. */
  value?: string
  multiple?: boolean
}

export interface Command {
  name: string
  about: string
  /** The forms of the arguments after the name: `create`, `FILE.ndjson` and so on. */
  usage?: string[]
  options?: Record<string, Option>
  /** The command takes words beside its options. */
  words?: boolean
  /** Settings that must not be empty. */
  needs?: ('DATABASE_URL' | 'QDRANT_URL' | 'EMBEDDINGS_URL')[]
  /**
   * If no database is set, the command uses the `npm start` that runs on DATA_DIR. Commands that
   * need a database always do so.
   */
  beside?: boolean
  /** The command runs until a signal ends it, even if its output cannot be written. */
  lasting?: boolean
}

export interface CommandContext {
  config: Config
  positionals: string[]
  options: Record<string, string | boolean | string[] | undefined>
  /**
   * Writes a sentence for people to standard error. Control characters are escaped as in
   * `printable`.
   */
  say(sentence: string): void
  /** Opens connections to the database. They end with the command. */
  openPool(options?: PoolOptions): Pool
  /** Writes data to standard output. Control characters are escaped too. */
  print(line: string): void
  /** SIGINT or SIGTERM aborts it. Long work checks it between two steps. */
  signal: AbortSignal
}

/** A mistake in the command line. The command shows only the sentence, and exits with code 2. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** @throws UsageError for a word that the command does not take */
export function refuseWord(word: string | undefined): void {
  if (word !== undefined)
    throw new UsageError(`"${word}" is one word too many; options stand after "--", as -- --help.`)
}

/**
 * The whole number that is the value of an option.
 *
 * @returns null: the option was not given
 */
export function wholeNumber(
  option: string,
  value: unknown,
  most: number,
  least = 1,
): number | null {
  if (typeof value !== 'string') return null
  if (/^\d{1,10}$/.test(value) && Number(value) >= least && Number(value) <= most)
    return Number(value)
  throw new UsageError(`--${option} is "${value}"; write a whole number from ${least} to ${most}.`)
}

/**
 * The text that is the value of an option, without outer blanks; undefined: the option was not
 * given.
 */
export function textOf(options: CommandContext['options'], name: string): string | undefined {
  const value = options[name]
  return typeof value === 'string' ? value.trim() : undefined
}

/**
 * Runs a script: `--help`, options, configuration, signals, and errors as one sentence. Exit codes:
 * the number that `work` returns, otherwise 0; 1: the work failed; 2: wrong use.
 */
export async function runCommand(
  command: Command,
  work: (context: CommandContext) => Promise<unknown>,
): Promise<void> {
  const stopping = new AbortController()
  /** Whether nothing was said since a signal asked for the end. */
  let isSilent = false
  const say = (sentence: string) => {
    isSilent = false
    process.stderr.write(`${printable(sentence)}\n`)
  }
  onStopSignal(
    () => {
      isSilent = !command.lasting
      stopping.abort()
    },
    signal => {
      if (isSilent) say('Interrupted.')
      process.exit(128 + constants.signals[signal])
    },
  )
  // A reader such as `… | head` closes the pipe early, which is no error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    else if (!command.lasting) {
      say(`${command.name}: ${sentenceOf(error)}`)
      process.exit(1)
    }
  })
  // Standard error has only sentences for people, so losing them, as on a full disk, is acceptable.
  process.stderr.on('error', () => {})
  const pools: Pool[] = []
  try {
    const { values, positionals } = parse(command)
    if (values.help === true) {
      process.stdout.write(help(command))
      return
    }
    const own = readConfig()
    const beside = command.beside ?? command.needs
    const config = beside ? readConfig(withEmbeddedKeys(settingsBeside(own.DATA_DIR))) : own
    for (const sentence of settingsWithoutUse()) say(sentence)
    for (const name of command.needs ?? []) {
      if (config[name] === '') throw missingSetting(name, config)
    }
    const code = await work({
      config,
      positionals,
      options: values,
      say,
      openPool(options) {
        if (config.DATABASE_URL === '') throw missingSetting('DATABASE_URL', config)
        const onError = (error: Error) => say(`Postgres: ${sentenceOf(error)}`)
        const pool = createPool(config.DATABASE_URL, command.name, onError, options)
        pools.push(pool)
        return pool
      },
      print: line => void process.stdout.write(`${printable(line)}\n`),
      signal: stopping.signal,
    })
    process.exitCode = typeof code === 'number' ? code : 0
  } catch (error) {
    process.exitCode = error instanceof UsageError || error instanceof ConfigError ? 2 : 1
    // A catalogue tells all its faults, a line each.
    const lines = error instanceof Error && 'problems' in error ? error.message : sentenceOf(error)
    for (const line of lines.split('\n')) say(`${command.name}: ${line}`)
  } finally {
    await Promise.all(pools.map(pool => pool.end()))
    if (isSilent) say('Interrupted.')
  }
}

const missingSetting = (name: string, config: Config): UsageError =>
  new UsageError(
    `Set ${name} (\`npm run servers -- --write-env FILE\` starts servers and writes it), or leave \`npm start\` running on ${config.DATA_DIR}.`,
  )

/**
 * The message of an error in one line. A connection error of Node may contain several errors, and
 * then has no message itself.
 */
export function sentenceOf(error: unknown): string {
  const inner = innerOf(error)
  if (inner !== null) return sentenceOf(inner)
  const refusal = certificateRefusal(error)
  if (refusal !== null) return refusal
  if (error instanceof Error) {
    const message = describe(error).split('\n')[0]!
    const full = fullDisk(error)
    if (full !== null) return `${full} (${message}): free some space there, or move its data.`
    const ofServer = 'code' in error ? ON_SERVERS[String(error.code)] : undefined
    if (ofServer !== undefined) return ofServer(message)
    if (/connection timeout|^timeout expired$/.test(message))
      return `Postgres does not answer in time (${message}); start it, or mend DATABASE_URL.`
    if (!('code' in error) || (error.code !== 'EISDIR' && !('path' in error))) return message
    return (
      ON_FILES[String(error.code)]?.(message, 'path' in error ? String(error.path) : '') ?? message
    )
  }
  return describe(error).split('\n')[0]!
}

/** What an error only wraps; null: nothing. */
function innerOf(error: unknown): unknown {
  if (error instanceof AggregateError) return error.errors[0] ?? null
  const wraps = error instanceof TypeError && error.message === 'fetch failed'
  return wraps ? (error.cause ?? null) : null
}

/** Which disk is full; null: the error is another one. */
export function fullDisk(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? error.code : null
  if (code === '53100') return 'Postgres cannot write, because its disk is full'
  return code === 'ENOSPC' || code === 'EDQUOT' ? 'The disk is full' : null
}

/** By code: of Node, or of Postgres (its manual, appendix A). */
const ON_SERVERS: Record<string, (message: string) => string> = {
  ECONNREFUSED: message => `Nothing answers there (${message}); start it, or mend the address.`,
  ENOTFOUND: message => `There is no such host (${message}); mend the address.`,
  '28P01': message => `Postgres refuses our account (${message}); mend DATABASE_URL.`,
  '3D000': message => `Postgres has no such database (${message}); make it, or mend DATABASE_URL.`,
  '42P01': message =>
    `The database lacks a table of this version (${message}); run \`npm run migrate\`.`,
}

const ON_FILES: Record<string, (message: string, path: string) => string> = {
  ENOENT: (_, path) =>
    `There is no such file: ${path}.${existsSync(dirname(path)) ? '' : ' Its folder is missing, too.'}`,
  EISDIR: message => `A directory was named where a file is wanted (${message}).`,
  EROFS: message =>
    `Nothing can be written there (${message}); name a file elsewhere, in a container one in a mounted folder.`,
  EACCES: message =>
    `The account ${process.getuid?.()} has no right to that (${message}); name another file, or run as its owner.`,
}

function parse(command: Command) {
  const options: NonNullable<ParseArgsConfig['options']> = { help: { type: 'boolean', short: 'h' } }
  for (const [name, option] of Object.entries(command.options ?? {})) {
    options[name] = {
      type: option.value === undefined ? 'boolean' : 'string',
      multiple: option.multiple ?? false,
    }
  }
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true })
    if (command.words !== true && values.help !== true) refuseWord(positionals[0])
    return {
      values: values as Record<string, string | boolean | string[] | undefined>,
      positionals,
    }
  } catch (error) {
    if (error instanceof UsageError) throw error
    // Removes Node's advice on arguments that begin with a dash, because it does not apply to our
    // commands.
    throw new UsageError(
      `${sentenceOf(error).split('. To specify')[0]!.replace(/\.$/, '')}. See --help.`,
    )
  }
}

/** Joins the lines of each paragraph. Lines that are indented stay as they are. */
function paragraphs(text: string): string[] {
  const joined: string[] = []
  let before = ''
  for (const line of text.split('\n')) {
    if (/^\S/.test(before) && /^\S/.test(line)) joined.push(`${joined.pop()} ${line}`)
    else joined.push(line)
    before = line
  }
  return joined
}

function help(command: Command): string {
  const usages = command.usage ?? ['']
  const lines = [
    ...paragraphs(command.about).map(line => {
      const text = line.trimStart()
      return wrapped(' '.repeat(line.length - text.length), text, 0)
    }),
    '',
    ...usages.map((usage, index) =>
      wrapped(
        index === 0 ? 'Usage: ' : '       ',
        `npm run ${command.name}${usage ? ` -- ${usage}` : ''}`,
        9,
      ),
    ),
    '',
  ]
  const options = { ...command.options, help: { about: 'shows this' } }
  const names = Object.entries(options).map(([name, option]: [string, Option]) => ({
    left: `--${name}${option.value === undefined ? '' : ` ${option.value}`}`,
    about: option.about,
  }))
  const width = Math.max(...names.map(({ left }) => left.length))
  const rows = names.map(({ left, about }) =>
    wrapped(`  ${left.padEnd(width)}  `, about, width + 4),
  )
  return `${[...lines, ...rows].join('\n')}\n`
}

/** Characters of the longest line of `--help`. */
const COLUMNS = 120

/** Breaks a text between its words, but not in brackets. @param indent of lines after the first */
function wrapped(head: string, text: string, indent: number): string {
  const lines: string[] = []
  let line = head
  for (const word of text.split(/ (?![^[]*\])/)) {
    if (line === head) line += word
    else if (line.length + 1 + word.length <= COLUMNS) line += ` ${word}`
    else {
      lines.push(line)
      line = ' '.repeat(indent) + word
    }
  }
  return [...lines, line].join('\n')
}
