import { ACCESSES, COUNTRIES, KINDS, LANGUAGES } from '#shared/articles/article'
import { LIMITS } from './limits.ts'

export { LIMITS } from './limits.ts'

/*
 * One table says what every parameter takes. The reader, the checks, the OpenAPI document and the
 * types are made of it, so they cannot disagree.
 */

/** `Retry-After` of a 503, in seconds (decision 7). */
export const RETRY_UNAVAILABLE = 30

/** The kinds of values that a parameter takes. */
export type ParameterKind =
  /**
   * The OpenAPI document also contains `pattern`. So it uses only syntax that the regular
   * expressions of all languages share.
   */
  | { kind: 'text'; maxLength: number; pattern: string }
  /**
   * `conditional`: some requests may not write the default. Schemas then omit the default, because
   * generated clients send every default that a schema names.
   */
  | { kind: 'choice'; values: readonly string[]; default?: string; conditional?: true }
  /** A list of values: repeated, bracketed (`country[]=`) or comma-separated. */
  | { kind: 'choices'; values: readonly string[] }
  /** A list of domains, in the same three forms. */
  | { kind: 'domains'; most: number }
  | { kind: 'flag' }
  /** `dates`: a bare day may be written instead of a date-time. */
  | { kind: 'instant'; dates: boolean }
  | { kind: 'integer'; minimum: number; maximum: number; default: number }

/** Any text but NUL, which no parameter takes (decision 11). */
export const ANY_TEXT = '^[^\\u0000]*$'
/** A domain, or the name of a set of outlets, which has no dot and may have blanks inside. */
const OUTLET =
  '^([^\\u0000-\\u0020.,:/?#@]+([.][^\\u0000-\\u0020.,:/?#@]+)+|[^\\u0000-\\u001f.,:/?#@]{1,60})$'
/** Years that dates may have (`LIMITS.years`); `format` checks everything else. */
const YEARS = '^(19|20)[0-9]{2}-|^2100-'

/**
 * `visible`: the value needs a visible character that is no accent (decision 15). A filter without
 * such a character would match everything. `required`: the sentence that a client gets when the
 * parameter is missing.
 */
export type Parameter = ParameterKind & { about: string; visible?: true; required?: string }

/**
 * Every query parameter of both operations. The parser and ajv work by this table; the OpenAPI
 * document and the types are made from it.
 */
export const PARAMETERS = {
  q: {
    kind: 'text',
    maxLength: LIMITS.q,
    pattern: ANY_TEXT,
    about:
      'The query. `search=semantic` requires it, with at least 2 characters; keyword and boolean search list everything without it.',
  },
  search: {
    kind: 'choice',
    values: ['keyword', 'boolean', 'semantic'],
    default: 'keyword',
    about:
      '`keyword`: any of the words, by their stem. `boolean`: every word as written, `"a phrase"`, `-excluded`. `semantic`: by meaning, in any of the languages.',
  },
  search_in: {
    kind: 'choice',
    values: ['title', 'title_body'],
    default: 'title',
    conditional: true,
    about:
      'Where words are looked for: `title`, headlines alone, unless you write `title_body`, headlines and texts. Not with `search=semantic`.',
  },
  country: {
    kind: 'choices',
    values: COUNTRIES,
    about:
      'Country of the outlet. Repeat it, or separate values by commas. Must be covered by your plan.',
  },
  language: {
    kind: 'choices',
    values: LANGUAGES,
    about: 'Language of the article. Repeat it, or separate by commas.',
  },
  has_author: {
    kind: 'flag',
    about: 'Only articles with (true) or without (false) a named author.',
  },
  outlet: {
    kind: 'text',
    maxLength: LIMITS.outlet,
    pattern: ANY_TEXT,
    visible: true,
    about:
      "Part of the outlet's name or domain; case, accents and the form of apostrophes don't matter.",
  },
  author: {
    kind: 'text',
    maxLength: LIMITS.author,
    pattern: ANY_TEXT,
    visible: true,
    about:
      "Part of an author's name as published; case, accents and the form of apostrophes don't matter.",
  },
  published_after: {
    kind: 'instant',
    dates: true,
    about:
      "Published at this time or later, as `2026-11-01` or `2026-11-01T08:00:00Z`; a day means from 00:00 UTC. Not before your plan's history start.",
  },
  published_before: {
    kind: 'instant',
    dates: true,
    about:
      'Published at this time or earlier, as `2026-11-30` or `2026-11-30T08:00:00Z`; a day is covered to its end (UTC).',
  },
  ingested_after: {
    kind: 'instant',
    dates: false,
    about:
      'Entered the index at this time or later, as `2026-11-20T08:00:00Z`; applied exactly; made for polling.',
  },
  sort: {
    kind: 'choice',
    values: ['published_at', 'ingested_at', 'relevance'],
    about:
      'The value by which articles are sorted. The default is `relevance` in semantic search, and only there; otherwise it is `published_at`. `ingested_at` leaves out articles without an ingestion time.',
  },
  order: {
    kind: 'choice',
    values: ['asc', 'desc'],
    default: 'desc',
    about:
      '`desc`: newest, or best match, first. Articles without a publication time come last in both.',
  },
  per_page: {
    kind: 'integer',
    ...LIMITS.perPage,
    about: 'Articles per page.',
  },
  cursor: {
    kind: 'text',
    maxLength: LIMITS.cursor,
    pattern: '^[A-Za-z0-9_-]*$',
    about:
      '`next_cursor` of the page before; every other parameter must stay as it was. Not for the feed.',
  },
} as const satisfies Record<string, Parameter>

export type ParameterName = keyof typeof PARAMETERS

/**
 * The parameters of `/explore/articles`, which is not part of the contract (decision 39): the
 * parameters of the contract, and more.
 */
export const EXPLORE_PARAMETERS = {
  ...PARAMETERS,
  q: {
    ...PARAMETERS.q,
    maxLength: LIMITS.expression,
    about: `${PARAMETERS.q.about} At most ${LIMITS.q} characters, but with \`search=expression\` ${LIMITS.expression}.`,
  },
  search: {
    ...PARAMETERS.search,
    values: [...PARAMETERS.search.values, 'expression'],
    about: `${PARAMETERS.search.about} \`expression\`: words, \`"phrases"\`, \`~forms\`, \`parts*\`, \`title:\`, parentheses, AND, OR, NOT, NEAR/5.`,
  },
  search_in: {
    ...PARAMETERS.search_in,
    about: `${PARAMETERS.search_in.about} With \`search=expression\` it is \`title_body\` unless you write \`title\`.`,
  },
  outlets: {
    kind: 'domains',
    most: LIMITS.outlets,
    about:
      'Only outlets with one of these exact domains, as `nrc.nl,standaard.be`, or of your sets of outlets, by their names (the error about an unknown name leads to yours); at most 50 domains. Repeat it, or separate by commas. Together with `outlet`, both hold.',
  },
  section: {
    kind: 'text',
    maxLength: LIMITS.section,
    pattern: ANY_TEXT,
    visible: true,
    about:
      "The outlet's own word for the section, whole, as `Binnenland`; case and accents don't matter. Articles without one are left out.",
  },
  kind: {
    kind: 'choices',
    values: KINDS,
    about:
      'What the outlet says that the article is. Repeat it, or separate by commas. Articles of which it says nothing are left out.',
  },
  access: {
    kind: 'choice',
    values: ACCESSES,
    about:
      'Whether the outlet says that all may read the article (`free`), or those who pay (`paid`). Articles of which it says neither are left out.',
  },
} as const satisfies Record<string, Parameter>

/** In the order of the contract. */
export const PARAMETER_NAMES = Object.keys(PARAMETERS).filter(
  (name): name is ParameterName => name in PARAMETERS,
)

export type SearchMode = (typeof EXPLORE_PARAMETERS.search.values)[number]
export type Sort = (typeof PARAMETERS.sort.values)[number]
export type Order = (typeof PARAMETERS.order.values)[number]
export type SearchIn = (typeof PARAMETERS.search_in.values)[number]

/** The default of `sort`. */
export const DEFAULT_SORT = {
  keyword: 'published_at',
  boolean: 'published_at',
  expression: 'published_at',
  semantic: 'relevance',
} as const satisfies Record<SearchMode, Sort>

/** The default of `search_in`. */
export const defaultSearchIn = (search: SearchMode): SearchIn =>
  search === 'expression' ? 'title_body' : PARAMETERS.search_in.default

/** How `has_author` may be written. */
export const FLAGS = {
  true: true,
  false: false,
  yes: true,
  no: false,
  '1': true,
  '0': false,
} as const

const instant = (format: 'date' | 'date-time') => ({ type: 'string', format, pattern: YEARS })

/**
 * JSON Schema of a parameter's value. The OpenAPI document shows it, and ajv checks values by it.
 */
export function parameterSchema(parameter: Parameter): Record<string, unknown> {
  switch (parameter.kind) {
    case 'text':
      return { type: 'string', maxLength: parameter.maxLength, pattern: parameter.pattern }
    case 'choice':
      return {
        type: 'string',
        enum: [...parameter.values],
        ...(parameter.default === undefined || parameter.conditional
          ? {}
          : { default: parameter.default }),
      }
    case 'choices':
      return { type: 'array', items: { type: 'string', enum: [...parameter.values] } }
    case 'domains':
      return {
        type: 'array',
        maxItems: parameter.most,
        items: { type: 'string', maxLength: 253, pattern: OUTLET },
      }
    case 'flag':
      return { type: 'string', enum: Object.keys(FLAGS).sort().reverse() }
    case 'instant':
      // `type` stands inside each branch: generators take an `anyOf` with a `type` beside it for
      // any value.
      return parameter.dates
        ? { anyOf: [instant('date'), instant('date-time')] }
        : instant('date-time')
    case 'integer':
      return {
        type: 'integer',
        minimum: parameter.minimum,
        maximum: parameter.maximum,
        default: parameter.default,
      }
  }
}
