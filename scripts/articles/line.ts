import { hasLetterOrDigit } from '#search/analysis/index'
import { snippetOf } from '#search/analysis/text'
import { type ArticleRights, type NewArticle, storable } from '#search/indexing/new-article'
import type { Stated } from '#search/types'
import { addressKey, readAddress } from '#shared/articles/address'
import { AGENCY_RULES, agenciesOf, agencyEvidence } from '#shared/articles/agencies'
import {
  ACCESSES,
  ARTICLE_ID,
  type ArticleOutlet,
  COUNTRIES,
  KINDS,
  LANGUAGES,
} from '#shared/articles/article'
import { plainText } from '#shared/articles/plain-text'
import { isRecord } from '#shared/encoding/is-record'
import { parseJson } from '#shared/encoding/json'
import { nearestName } from '#shared/encoding/near-miss'
import { type CommandContext, textOf, UsageError } from '#shared/process/command'
import { AS_EXPORTED, type Mapping, mapped } from './mapping.ts'

/** What the reader noticed on good lines, for the operator. */
export interface Notes {
  /** Lines in which a field was ignored, by its name. */
  ignored: Map<string, number>
  /** Lines whose `published_at` lay too far ahead, and became null. */
  ahead: number
}

export const noNotes = (): Notes => ({ ignored: new Map(), ahead: 0 })

/** Thrown for a line that is no article. The message says what to write instead. */
export class BadLine extends Error {
  override name = 'BadLine'
}

/**
 * In characters. No real name is longer, and two longer names would not fit into a row of an index.
 */
const LONGEST_NAME = 300
const MOST_AUTHORS = 100

/** Characters that an address may hold (RFC 3986). All others are percent-encoded. */
const URI = /^[\w.~:/?#[\]@!$&'()*+,;=%-]+$/

/**
 * Reads one line of `import`: an object with the article object's fields and `body`, which is plain
 * text with `plain: true` and HTML otherwise. Refuses an unknown field that looks like a known one,
 * if the known one is absent. Ignores other unknown fields, which `notes` counts, and those that
 * the index computes (`relevance`, `first`, `agencies`, and `snippet` unless `rights` says that it
 * is bounded).
 *
 * @param latest latest time of ingestion that a line may have, in ms since 1970. Clients poll from
 * the newest time that they have seen, and would miss articles that arrive later with earlier times
 * @param mapping the names that fields have in this line
 * @param notes gets what an operator should know
 * @throws BadLine
 */
export function parseArticle(
  line: string,
  latest: number,
  mapping: Mapping = AS_EXPORTED,
  notes: Notes = noNotes(),
): NewArticle {
  const fields = mapped(readObject(line), mapping)
  refuseSlips(fields, FIELDS)
  noteIgnored(fields, notes)
  if (isRecord(fields.outlet)) refuseSlips(fields.outlet, ['name', 'domain'])
  const url = address(text(fields, 'url'))
  const id = fields.id ?? undefined
  if (id !== undefined && (typeof id !== 'string' || !ARTICLE_ID.test(id)))
    throw new BadLine(
      'id must be 1 to 128 printable ASCII characters without spaces; leave it out to be given one.',
    )
  const article: NewArticle = {
    url,
    addresses: [addressKey(url)],
    title: text(fields, 'title').replace(/\s+/g, ' '),
    body: body(fields.body, fields.plain === true),
    publishedAt: publishedAt(fields, latest, notes),
    authors: authors(fields.authors),
    outlet: outlet(fields.outlet),
    language: oneOf(LANGUAGES, text(fields, 'language', 'nl').toLowerCase(), 'language'),
    country: oneOf(COUNTRIES, text(fields, 'country', 'NL').toUpperCase(), 'country'),
    stated: stated(fields, mapping.isForeign),
  }
  article.agencies = agenciesOf(agencyEvidence(article))
  article.agencyRules = AGENCY_RULES
  if (id !== undefined) article.id = id
  if (fields.rights !== undefined && fields.rights !== null) article.rights = rights(fields.rights)
  if (article.rights?.bounded)
    article.snippet = typeof fields.snippet === 'string' ? snippetOf(fields.snippet) : null
  if (fields.ingested_at !== undefined) article.ingestedAt = instant(fields, 'ingested_at')
  if ((article.ingestedAt?.getTime() ?? 0) > latest)
    throw new BadLine(
      'ingested_at lies in the future; write null if it is not known, or leave it out for now.',
    )
  return article
}

type Fields = Record<string, unknown>

const FIELDS = [
  'id',
  'url',
  'title',
  'body',
  'plain',
  'published_at',
  'ingested_at',
  'authors',
  'outlet',
  'language',
  'country',
  'section',
  'kind',
  'access',
  'rights',
  'snippet',
  'relevance',
  'first',
  'agencies',
]

/**
 * Refuses fields such as `publishedAt`, which would be ignored, although the user wants their
 * value.
 */
function refuseSlips(fields: Fields, known: readonly string[]): void {
  const absent = known.filter(name => !(name in fields))
  for (const name of Object.keys(fields)) {
    const meant = known.includes(name) ? null : nearestName(name, absent)
    if (meant !== null) throw new BadLine(`there is no field ${name}; did you mean ${meant}?`)
  }
}

/** The most names of ignored fields that are counted in a group of lines. */
const MOST_IGNORED = 50

function noteIgnored(fields: Fields, { ignored }: Notes): void {
  for (const name of Object.keys(fields)) {
    if (FIELDS.includes(name)) continue
    const before = ignored.get(name) ?? 0
    if (before > 0 || ignored.size < MOST_IGNORED) ignored.set(name, before + 1)
  }
}

/** ms by which a time of publication may lie ahead, as for pages (decision 36). */
const AHEAD = 86_400_000

function publishedAt(fields: Fields, latest: number, notes: Notes): Date | null {
  const at = instant(fields, 'published_at')
  if (at === null || at.getTime() <= latest + AHEAD) return at
  notes.ahead += 1
  return null
}

function readObject(line: string): Fields {
  const value = parseJson(line)
  if (value === undefined) throw new BadLine('it is not JSON; write one object a line.')
  if (!isRecord(value)) throw new BadLine('it is JSON, but no object; write one object a line.')
  return value
}

/** @param forAll a value that all lines of a file may have in common; undefined: none */
function text(fields: Fields, name: string, forAll?: string): string {
  const value = fields[name]
  const written = typeof value === 'string' ? storable(value).trim() : ''
  if (written !== '') return written
  const common = forAll === undefined ? '' : `, or for all lines with --default ${name}=${forAll}`
  throw new BadLine(`${name} is missing; write it as text${common}.`)
}

function address(written: string): string {
  const url = readAddress(written)
  if (url === null) throw new BadLine('url is no http(s) address of at most 2048 characters.')
  if (url.username === '' && url.password === '' && URI.test(written)) return written
  // Name and password are not for those who read the article.
  url.username = ''
  url.password = ''
  return url.href
}

/** @param plain the text is no HTML, although parts of it may look like tags or entities */
function body(value: unknown, plain: boolean): string | null {
  if (value === undefined || value === null) return null
  if (typeof value !== 'string') throw new BadLine('body must be text or null.')
  const written = storable(value)
  if (plain) return written.trim() === '' ? null : written
  return plainText(written)
}

function oneOf<T extends string>(known: readonly T[], value: string, name: string): T {
  const found = known.find(one => one === value)
  if (found === undefined) throw new BadLine(`${name} must be one of ${known.join(', ')}.`)
  return found
}

function authors(value: unknown): string[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw new BadLine('authors must be a list of names.')
  if (value.length > MOST_AUTHORS) throw new BadLine(`authors may have ${MOST_AUTHORS} names.`)
  const names = value.map((one: unknown) => {
    const name = isRecord(one) ? one.name : one
    if (typeof name !== 'string') throw new BadLine('authors must be a list of names.')
    return shortName(storable(name).trim().replace(/\s+/g, ' '), 'authors')
  })
  return [...new Set(names)].filter(name => name !== '')
}

function outlet(value: unknown): ArticleOutlet {
  if (!isRecord(value)) throw new BadLine('outlet must be an object with name and domain.')
  const part = (name: 'name' | 'domain') => {
    const written = value[name] ?? null
    if (written !== null && typeof written !== 'string')
      throw new BadLine(`outlet.${name} must be text or null.`)
    return written === null ? null : shortName(storable(written).trim(), `outlet.${name}`) || null
  }
  const domain = part('domain')
  return {
    name: part('name'),
    domain: domain === null ? null : domain.toLowerCase().replace(/^www\./, ''),
  }
}

/** In characters, as in articles that are crawled. */
const LONGEST_SECTION = 100

/** @param isForeign columns of other programs may have these names, and then say nothing of it */
function stated(fields: Fields, isForeign: boolean): Stated {
  const read = <T>(name: keyof Stated, take: (written: string) => T): T | null => {
    if ((fields[name] ?? null) === null) return null
    try {
      return take(text(fields, name).replace(/\s+/g, ' '))
    } catch (error) {
      if (isForeign) return null
      throw error
    }
  }
  return {
    section: read('section', sectionOf),
    kind: read('kind', written => oneOf(KINDS, written.toLowerCase(), 'kind')),
    access: read('access', written => oneOf(ACCESSES, written.toLowerCase(), 'access')),
  }
}

function sectionOf(written: string): string {
  if (written.length <= LONGEST_SECTION && hasLetterOrDigit(written)) return written
  throw new BadLine(`section must be a text of at most ${LONGEST_SECTION} characters, or null.`)
}

function rights(value: unknown): ArticleRights {
  const { bounded = false, vector = true } = isRecord(value) ? value : { bounded: null }
  if (typeof bounded === 'boolean' && typeof vector === 'boolean') return { bounded, vector }
  throw new BadLine('rights must be an object with bounded and vector, each true or false.')
}

function shortName(name: string, field: string): string {
  if (name.length > LONGEST_NAME) throw new BadLine(`${field} may have ${LONGEST_NAME} characters.`)
  return name
}

function instant(fields: Fields, name: string): Date | null {
  const value = fields[name] ?? null
  if (value === null) return null
  const at = typeof value === 'string' ? readInstant(value) : null
  if (at === null)
    throw new BadLine(`${name} must be null or a date-time such as 2026-11-21T08:30:00Z.`)
  return at
}

const TIME =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2}(?:\.\d+)?)?\s?(Z|[+-]\d{2}:?\d{2})?)?$/i

/**
 * Reads an ISO 8601 date or date-time, from the year 1 on. A time without an offset is in UTC.
 * Fractions of a millisecond are cut. Returns null for anything else.
 */
function readInstant(text: string): Date | null {
  const match = TIME.exec(text.trim())
  if (match === null) return null
  const [, day = '', time = '00:00', seconds = ':00', offset = 'Z'] = match
  const at = new Date(
    `${day}T${time}${seconds}${offset.toUpperCase().replace(/(\d\d)(\d\d)$/, '$1:$2')}`,
  )
  // `Date` turns 30 February into a day of March.
  const exists =
    Number(day.slice(8)) <= 28 || new Date(`${day}T00:00Z`).toJSON()?.startsWith(day) === true
  return exists && at.getUTCFullYear() >= 1 ? at : null
}

/**
 * The day or time that is the value of an option.
 *
 * @returns null: the option was not given
 */
export function instantOf(options: CommandContext['options'], name: string): Date | null {
  const written = textOf(options, name)
  const at = written === undefined ? null : readInstant(written)
  if (written !== undefined && at === null)
    throw new UsageError(
      `--${name} is "${written}"; write a day or a time, as 2026-11-01 or 2026-11-01T08:00:00Z.`,
    )
  return at
}
