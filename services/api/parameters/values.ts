import { Ajv, type ErrorObject } from 'ajv'
import { FLAGS, type PARAMETERS, type Parameter, type ParameterKind, parameterSchema } from '../contract/parameters.ts'
import { type Instant, parseDateTime, parseDay, parseInstant } from './instants.ts'
import type { Problems } from './problems.ts'
import type { WrittenParameter } from './querystring.ts'
import { suggest } from './suggest.ts'

type ValueOf<P extends ParameterKind> = P extends { kind: 'choice'; values: readonly (infer V)[] }
  ? V
  : P extends { kind: 'choices'; values: readonly (infer V)[] }
    ? V[]
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

export type ParameterValues = ValuesOf<typeof PARAMETERS>

const ajv = new Ajv({
  allErrors: true,
  strictTypes: false, // `default` and unions of formats are for the document's readers
  formats: {
    date: text => parseDay(text) !== null,
    'date-time': text => parseDateTime(text) !== null,
  },
})

/**
 * Makes the reader of an operation's parameters. It reads each by its definition (decisions 9–12):
 * names known, single values given once, lists in their three forms, text NFC-normalised and
 * trimmed, choices in canonical case, and every value within the schema that the OpenAPI document
 * prints. It adds those that it cannot read to `problems` and leaves them out.
 *
 * @param refusals sentences for parameters that others take and this operation does not
 */
export function createValuesReader<T extends ParameterTable>(
  table: T,
  refusals: ReadonlyMap<string, string> = new Map(),
): (written: WrittenParameter[], problems: Problems) => ValuesOf<T> {
  const names = Object.keys(table)
  const validate = ajv.compile({
    type: 'object',
    properties: Object.fromEntries(names.map(name => [name, parameterSchema(table[name]!)])),
  })
  return (written, problems) => {
    const texts = collect(table, refusals, written, problems)
    const shaped: Record<string, unknown> = {}
    for (const [name, values] of texts) shaped[name] = shape(table[name]!, values)
    if (!validate(shaped)) {
      for (const error of validate.errors ?? []) {
        const name = parameterOf(table, error)
        problems.add(name, complaint(table[name]!, error.keyword))
        delete shaped[name]
      }
    }
    const given: Record<string, unknown> = {}
    for (const [name, value] of Object.entries(shaped)) {
      if (!problems.has(name)) given[name] = finish(table[name]!, value)
    }
    // ajv has just held every value against the schema that its type is derived from.
    return given as ValuesOf<T>
  }
}

/** The texts written for each known parameter, empty ones left out. */
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
      problems.add(item.name, refusals.get(item.name) ?? unknown(item.name, Object.keys(table)))
      continue
    }
    const parameter = table[name]!
    const values = parameter.kind === 'choices' ? item.value.split(',') : [item.value]
    const given = values.map(value => value.normalize('NFC').trim()).filter(value => value !== '')
    if (given.length === 0) continue
    const before = texts.get(name) ?? []
    if (parameter.kind !== 'choices' && before.length > 0) problems.add(name, 'Give this parameter only once.')
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
  return Object.hasOwn(table, list) && table[list]!.kind === 'choices' ? list : null
}

/**
 * Texts as the value that the schema speaks of; a text that does not fit is left for ajv to refuse.
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

/** The value that the rest of the API works with. */
function finish(parameter: Parameter, value: unknown): unknown {
  if (parameter.kind === 'instant') return parseInstant(String(value))
  if (parameter.kind === 'flag') return Object.entries(FLAGS).find(([text]) => text === value)?.[1]
  return value
}

function parameterOf(table: ParameterTable, error: ErrorObject): string {
  const name = error.instancePath.split('/')[1] ?? ''
  if (!Object.hasOwn(table, name)) throw new Error(`ajv names no parameter: ${error.instancePath} ${error.message}`)
  return name
}

/** Tells a client that wrote something else which values a parameter takes. */
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
