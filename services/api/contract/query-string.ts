import { createRequire } from 'node:module'
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv'
import { foldName } from '#search/analysis/index'
import { nearestName } from '#shared/encoding/near-miss'
import { ApiError } from './errors.ts'
import { type Instant, parseDateTime, parseDay, parseInstant } from './instants.ts'
import {
  type EXPLORE_PARAMETERS,
  FLAGS,
  type Parameter,
  type ParameterKind,
  type ParameterName,
  parameterSchema,
} from './parameters.ts'

/*
 * `readQueryString` splits a query string into names and texts. A reader then converts the texts to
 * values, by the table of parameters. One answer lists all mistakes.
 */

/** The query string of an address as it arrived, without `?`. */
export function rawQueryOf(url: string): string {
  const mark = url.indexOf('?')
  return mark < 0 ? '' : url.slice(mark + 1)
}

/**
 * A name and value of a query string, decoded; or the reason why they could not be read.
 */
export type WrittenParameter =
  | { name: string; value: string }
  | { name: string; unreadable: string }

/**
 * The most parameters of a request that are read. A request with every parameter, and with each
 * list in all three forms, has less than half as many. Explaining thousands of wrong names would
 * delay other requests.
 */
const MAX_WRITTEN = 256

/**
 * Splits a raw query string (without its `?`) into parameters. We need a parser of our own, because
 * it must read `country[]=` and must not drop a filter silently. It reports broken
 * percent-encoding, bytes that are not UTF-8 (also lone surrogates) and NUL, under the readable
 * part of the name (decision 11). `+` is a space (WHATWG URL, `application/x-www-form-urlencoded`).
 */
export function readQueryString(raw: string): WrittenParameter[] {
  const pairs = raw.split('&').filter(pair => pair !== '')
  const written = pairs.slice(0, MAX_WRITTEN).map(readPair)
  const next = pairs[MAX_WRITTEN]
  if (next === undefined) return written
  const unreadable = `A request may have ${MAX_WRITTEN} parameters; this one and what follows were not read.`
  return [...written, { name: readPair(next).name, unreadable }]
}

function readPair(pair: string): WrittenParameter {
  const equals = pair.indexOf('=')
  const rawName = equals < 0 ? pair : pair.slice(0, equals)
  const rawValue = equals < 0 ? '' : pair.slice(equals + 1)
  const name = decode(rawName)
  if (!name.ok)
    return { name: readableStart(rawName), unreadable: `The name of this parameter ${name.why}.` }
  const value = decode(rawValue)
  if (!value.ok) return { name: name.text, unreadable: `The value ${value.why}.` }
  return { name: name.text, value: value.text }
}

type Decoded = { ok: true; text: string } | { ok: false; why: string }

function decode(raw: string): Decoded {
  if (/%(?![0-9a-f]{2})/i.test(raw)) return { ok: false, why: 'is not percent-encoded correctly' }
  // Node passes bytes above 0x7F on as Latin-1 characters. Here they become percent-encoded bytes.
  const encoded = raw
    .replaceAll('+', ' ')
    .replace(/[^\0-\x7f]/g, byte => `%${byte.charCodeAt(0).toString(16)}`)
  try {
    const text = decodeURIComponent(encoded)
    return text.includes('\0') ? { ok: false, why: 'holds a NUL character' } : { ok: true, text }
  } catch {
    return { ok: false, why: 'is not valid UTF-8' }
  }
}

/**
 * The longest readable beginning of a name that is not readable as a whole. When not even its first
 * character is readable: the name as written. Never more than 64 characters.
 */
function readableStart(raw: string): string {
  for (let end = Math.min(raw.length, 64); end > 0; end--) {
    const start = decode(raw.slice(0, end))
    if (start.ok) return start.text
  }
  return raw.slice(0, 64)
}

type ValueOf<P extends ParameterKind> = P extends { kind: 'choice'; values: readonly (infer V)[] }
  ? V
  : P extends { kind: 'choices'; values: readonly (infer V)[] }
    ? V[]
    : P extends { kind: 'domains' }
      ? string[]
      : P extends { kind: 'flag' }
        ? boolean
        : P extends { kind: 'instant' }
          ? Instant
          : P extends { kind: 'integer' }
            ? number
            : string

type ParameterTable = Record<string, Parameter>

/** The parameters that were given, each read and within its bounds. */
export type ValuesOf<T extends ParameterTable> = { [N in keyof T]?: ValueOf<T[N]> }

/** The values after the check that no required parameter is missing. */
type WholeOf<T extends ParameterTable> = ValuesOf<T> & {
  [N in keyof T as T[N] extends { required: string } ? N : never]: ValueOf<T[N]>
}

/** The parameters of a search at `/v1` or at `/explore`. */
export type ParameterValues = ValuesOf<typeof EXPLORE_PARAMETERS>

/** Whether a parameter may be repeated, bracketed or comma-separated. */
export const isList = ({ kind }: Parameter): boolean => kind === 'choices' || kind === 'domains'

let ajv: Ajv | undefined

/** Loads ajv at the first query, because commands that read only the table need none. */
function compile(schema: object): ValidateFunction {
  const { Ajv }: typeof import('ajv') = createRequire(import.meta.url)('ajv')
  ajv ??= new Ajv({
    allErrors: true,
    strictTypes: false, // `default` and unions of formats are for the document's readers
    formats: {
      date: text => parseDay(text) !== null,
      'date-time': text => parseDateTime(text) !== null,
    },
  })
  return ajv.compile(schema)
}

/**
 * Makes the reader of an operation's parameters. It reads each parameter by its definition
 * (decisions 9–12): single values given once, lists in three forms, text NFC-normalised and
 * trimmed, choices in canonical case. Every value must fit the schema that the OpenAPI document
 * prints. The reader omits values that it cannot read, and explains each of them in `problems`.
 * @param refusals sentences for parameters (`outlets`) and values (`search=expression`) that other
 *   operations take and this operation does not
 */
export function createValuesReader<T extends ParameterTable>(
  table: T,
  refusals: ReadonlyMap<string, string> = new Map(),
): (rawQuery: string) => { values: ValuesOf<T>; problems: Problems } {
  const names = Object.keys(table)
  let validate: ValidateFunction | undefined
  return rawQuery => {
    validate ??= compile({
      type: 'object',
      properties: Object.fromEntries(names.map(name => [name, parameterSchema(table[name]!)])),
    })
    const problems = createProblems()
    const texts = collect(table, refusals, readQueryString(rawQuery), problems)
    const shaped: Record<string, unknown> = {}
    for (const [name, values] of texts) shaped[name] = shape(table[name]!, values)
    if (!validate(shaped)) {
      for (const error of validate.errors ?? []) {
        const name = parameterOf(table, error)
        const elsewhere = refusals.get(`${name}=${shaped[name]}`)
        problems.add(name, elsewhere ?? complaint(table[name]!, error.keyword))
      }
    }
    const given: Record<string, unknown> = {}
    for (const [name, value] of Object.entries(shaped)) {
      if (!problems.has(name)) given[name] = finish(table[name]!, value)
    }
    checkGiven(table, given, problems)
    // ajv has just checked every value against the schema from which the value's type is derived.
    return { values: given as ValuesOf<T>, problems }
  }
}

/**
 * The reader of an operation whose parameters do not depend on each other. It throws an `ApiError`
 * with a sentence for each parameter that is wrong or missing.
 */
export function createQueryReader<T extends ParameterTable>(
  table: T,
  refusals?: ReadonlyMap<string, string>,
): (rawQuery: string) => WholeOf<T> {
  const read = createValuesReader(table, refusals)
  return (rawQuery: string): WholeOf<T> => {
    const { values, problems } = read(rawQuery)
    problems.refuse()
    return values as WholeOf<T>
  }
}

/**
 * Checks two rules that a schema cannot express: a required parameter is present, and a `visible`
 * parameter has a visible character.
 */
function checkGiven(
  table: ParameterTable,
  given: Record<string, unknown>,
  problems: Problems,
): void {
  for (const [name, { visible, required }] of Object.entries(table)) {
    if (visible && name in given && foldName(String(given[name])) === '')
      problems.add(name, 'Write at least one visible character besides accents.')
    if (required !== undefined && !(name in given) && !problems.has(name))
      problems.add(name, required)
  }
}

/** The texts that were written for each known parameter, without empty texts. */
function collect(
  table: ParameterTable,
  refusals: ReadonlyMap<string, string>,
  written: WrittenParameter[],
  problems: Problems,
): Map<string, string[]> {
  const texts = new Map<string, string[]>()
  for (const item of written) {
    const name = parameterNamed(table, item.name)
    if ('unreadable' in item) {
      problems.add(name ?? item.name, item.unreadable)
      continue
    }
    if (!name) {
      const elsewhere = refusals.get(item.name.replace(/\[\]$/, ''))
      problems.add(item.name, elsewhere ?? unknown(item.name, Object.keys(table)))
      continue
    }
    const parameter = table[name]!
    const values = isList(parameter) ? item.value.split(',') : [item.value]
    const given = values.map(value => value.normalize('NFC').trim()).filter(value => value !== '')
    if (given.length === 0) continue
    const before = texts.get(name) ?? []
    if (!isList(parameter) && before.length > 0)
      problems.add(name, 'Give this parameter only once.')
    texts.set(name, [...before, ...given])
  }
  return texts
}

function unknown(name: string, known: string[]): string {
  const meant = suggest(name, known)
  return `There is no such parameter${meant ? `; did you mean ${meant}?` : '.'}`
}

/** `country` and `country[]` are the same list; only lists have brackets. */
function parameterNamed(table: ParameterTable, name: string): string | null {
  if (Object.hasOwn(table, name)) return name
  const list = name.endsWith('[]') ? name.slice(0, -2) : ''
  return Object.hasOwn(table, list) && isList(table[list]!) ? list : null
}

/**
 * Converts the texts of a parameter to the value that its schema describes. A text that does not
 * fit stays unchanged, and ajv refuses it.
 */
function shape(parameter: Parameter, texts: string[]): unknown {
  const text = texts[0] ?? ''
  switch (parameter.kind) {
    case 'choice':
      return canonical(parameter.values, text)
    case 'choices': {
      const chosen = new Set(texts.map(value => canonical(parameter.values, value)))
      // In the contract's order, so that equal lists are equal.
      const known = parameter.values.filter(value => chosen.has(value))
      return [...known, ...[...chosen].filter(value => !known.includes(value))]
    }
    case 'domains':
      return [...new Set(texts.map(value => value.toLowerCase()))].sort()
    case 'flag':
      return text.toLowerCase()
    case 'integer':
      return /^-?\d{1,15}$/.test(text) ? Number(text) : text
    default:
      return text
  }
}

function canonical(values: readonly string[], text: string): string {
  return values.find(value => value.toLowerCase() === text.toLowerCase()) ?? text
}

/**
 * Converts a checked value to the form that the API uses: an `Instant`, a boolean, or the value
 * itself.
 */
function finish(parameter: Parameter, value: unknown): unknown {
  if (parameter.kind === 'instant') return parseInstant(String(value))
  if (parameter.kind === 'flag') return Object.entries(FLAGS).find(([text]) => text === value)?.[1]
  return value
}

function parameterOf(table: ParameterTable, error: ErrorObject): string {
  const name = error.instancePath.split('/')[1] ?? ''
  if (!Object.hasOwn(table, name))
    throw new Error(`ajv names no parameter: ${error.instancePath} ${error.message}`)
  return name
}

/** The sentence for a client that wrote a wrong value: it says which values the parameter takes. */
function complaint(parameter: Parameter, keyword: string): string {
  switch (parameter.kind) {
    case 'text':
      return keyword === 'pattern'
        ? 'It holds characters that cannot be part of it.'
        : `Write at most ${parameter.maxLength} characters.`
    case 'choice':
      return `Write one of ${parameter.values.join(', ')}.`
    case 'choices':
      return `Write one or more of ${parameter.values.join(', ')}.`
    case 'domains':
      return keyword === 'maxItems'
        ? `Write at most ${parameter.most} domains.`
        : 'Write domains alone, as nrc.nl, without https:// or a path, or names of sets.'
    case 'flag':
      return 'Write true, false, yes, no, 1 or 0.'
    case 'integer':
      return `Write a whole number from ${parameter.minimum} to ${parameter.maximum}.`
    case 'instant':
      return parameter.dates
        ? 'Write a day (2026-11-20) or a date-time (2026-11-20T08:00:00Z) that exists, of the years 1900 to 2100.'
        : 'Write a date-time (2026-11-20T08:00:00Z) that exists, of the years 1900 to 2100; a bare day is not enough.'
  }
}

/** The most parameters that an error names. More would make a long answer to a short question. */
const MAX_PARAMETERS = 50

export interface Problems {
  add(name: string, sentence: string): void
  has(name: string): boolean
  readonly any: boolean
  /** @throws ApiError `invalid_request` when there is a mistake */
  refuse(): void
}

/** Mistakes in a request, by parameter: the `errors` object of a 422. */
export function createProblems(): Problems {
  const byName = new Map<string, Set<string>>()
  return {
    add(name, sentence) {
      const sentences = byName.get(name)
      if (sentences) sentences.add(sentence)
      else if (byName.size < MAX_PARAMETERS) byName.set(name, new Set([sentence]))
    },
    has: name => byName.has(name),
    get any(): boolean {
      return byName.size > 0
    },
    refuse() {
      if (byName.size === 0) return
      // `fromEntries` makes own properties, even of a parameter with the name `__proto__`.
      const errors = Object.fromEntries(
        [...byName].map(([name, sentences]) => [name, [...sentences]]),
      )
      throw new ApiError('invalid_request', { errors })
    },
  }
}

// Names that people write when they know another interface.
const SYNONYMS: Record<string, ParameterName> = {
  query: 'q',
  search_term: 'q',
  mode: 'search',
  in: 'search_in',
  countries: 'country',
  lang: 'language',
  source: 'outlet',
  domain: 'outlet',
  by: 'author',
  from: 'published_after',
  since: 'published_after',
  to: 'published_before',
  until: 'published_before',
  sort_by: 'sort',
  order_by: 'sort',
  direction: 'order',
  limit: 'per_page',
  page_size: 'per_page',
  size: 'per_page',
  page: 'cursor',
  next_cursor: 'cursor',
}

/** The parameter that an unknown name probably means; null: no parameter is similar. */
function suggest(name: string, parameters: readonly string[]): string | null {
  const synonym = Object.entries(SYNONYMS).find(([word]) => nearestName(name, [word], 0) !== null)
  return synonym && parameters.includes(synonym[1]) ? synonym[1] : nearestName(name, parameters)
}
