import type { FromSchema } from 'json-schema-to-ts'
import { SNIPPET_LENGTH } from '#search/analysis/text'
import { ACCESSES, COUNTRIES, KINDS, LANGUAGES } from '#shared/articles/article'
import { ERROR_CODES } from './errors.ts'
import headers from './headers.json' with { type: 'json' }

/*
 * The objects that answers are made of, as JSON Schema (2020-12, the dialect of OpenAPI 3.1). The
 * OpenAPI document prints them, the contract tests hold answers against them, and the types below
 * are read from them.
 */

/** The schema of an object with properties `P`, of which `O` may be absent. */
export type ObjectSchema<P, O extends keyof P = never> = {
  type: 'object'
  required: (string & Exclude<keyof P, O>)[]
  properties: P
}

/** The schema of an object whose members are all required, but for the `optional` ones. */
export const objectOf = <
  const P extends Readonly<Record<string, unknown>>,
  const O extends keyof P = never,
>(
  properties: P,
  optional: readonly O[] = [],
): ObjectSchema<P, O> => ({
  type: 'object',
  required: Object.keys(properties).filter(
    (name): name is string & Exclude<keyof P, O> => !optional.some(one => one === name),
  ),
  properties,
})

export type ClosedSchema<P, O extends keyof P = never> = ObjectSchema<P, O> & {
  additionalProperties: false
}

/** The schema of an object that allows no other members. */
export const closedObject = <
  const P extends Readonly<Record<string, unknown>>,
  const O extends keyof P = never,
>(
  properties: P,
  optional: readonly O[] = [],
): ClosedSchema<P, O> => ({ ...objectOf(properties, optional), additionalProperties: false })

export const OK = { type: 'string', const: 'ok' } as const
export const TEXT = { type: 'string' } as const
export const TIME = { type: 'string', format: 'date-time' } as const
export const COUNT = { type: 'integer', minimum: 0 } as const
const TEXT_OR_NULL = { type: ['string', 'null'] } as const
const TIME_OR_NULL = { ...TIME, ...TEXT_OR_NULL } as const

type Described<Schema> = Schema & { description: string }

export const text = (description: string): Described<typeof TEXT> => ({ ...TEXT, description })
export const count = (description: string): Described<typeof COUNT> => ({ ...COUNT, description })
export const time = (description: string): Described<typeof TIME> => ({ ...TIME, description })
export const textOrNull = (description: string): Described<typeof TEXT_OR_NULL> => ({
  ...TEXT_OR_NULL,
  description,
})
export const timeOrNull = (description: string): Described<typeof TIME_OR_NULL> => ({
  ...TIME_OR_NULL,
  description,
})

/** The answer of most operations beside the contract. */
export const dataOf = <const D>(data: D): ObjectSchema<{ status: typeof OK; data: D }> =>
  objectOf({ status: OK, data })

export const AUTHOR_SCHEMA = closedObject({
  id: text('Stable for the same name at the same outlet. Opaque.'),
  name: text('As the outlet publishes it.'),
})

export const OUTLET_SCHEMA = closedObject({ name: TEXT_OR_NULL, domain: TEXT_OR_NULL })

export const ARTICLE_SCHEMA = closedObject(
  {
    id: text('Stable; use it to tell articles apart across requests. Opaque.'),
    title: text('Headline.'),
    url: { type: 'string', format: 'uri', description: 'Address of the article at the outlet.' },
    snippet: textOrNull(
      `First ${SNIPPET_LENGTH} characters of the text, without markup; null when no text was captured.`,
    ),
    published_at: timeOrNull('Time of publication, UTC.'),
    ingested_at: timeOrNull(
      'Time the article entered the index, UTC. It grows in the order in which articles become visible.',
    ),
    authors: {
      type: 'array',
      items: AUTHOR_SCHEMA,
      description: 'Empty when the outlet published no by-line.',
    },
    outlet: OUTLET_SCHEMA,
    language: { type: 'string', enum: LANGUAGES },
    country: {
      type: 'string',
      enum: COUNTRIES,
      description: 'Country of the outlet, not of the subject.',
    },
    relevance: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      description: 'How close the article is to `q`, to four decimals. Only in semantic search.',
    },
  },
  ['relevance'],
)

export const PAGE_SCHEMA = closedObject(
  {
    status: OK,
    total_results: count(
      'Articles in the whole result set. Counted to 10,000; exact in semantic search.',
    ),
    total_results_is_estimate: {
      type: 'boolean',
      const: true,
      description: 'Present when counting stopped at 10,000.',
    },
    next_cursor: {
      type: ['string', 'null'],
      maxLength: 255,
      description: 'Send it as `cursor` for the next page; null on the last one.',
    },
    articles: { type: 'array', items: ARTICLE_SCHEMA, maxItems: 100 },
  },
  ['total_results_is_estimate'],
)

/** An article beside the contract: also with what its outlet says of it. */
export const STATED_ARTICLE_SCHEMA = {
  ...ARTICLE_SCHEMA,
  properties: {
    ...ARTICLE_SCHEMA.properties,
    section: text("The outlet's own word for the section. Absent: the outlet says none."),
    kind: {
      type: 'string',
      enum: KINDS,
      description: 'What the outlet says that the article is. Absent: it does not say.',
    },
    access: {
      type: 'string',
      enum: ACCESSES,
      description: 'Whether all may read it, or those who pay. Absent: the outlet does not say.',
    },
  },
} as const

export const STATED_PAGE_SCHEMA = {
  ...PAGE_SCHEMA,
  properties: {
    ...PAGE_SCHEMA.properties,
    did_you_mean: text(
      'The expression with AND and OR in place of words that people write for them, as `kat OR hond` for `kat of hond`. The answer is of `q` as it stands. Absent: `q` has no such words.',
    ),
    articles: { ...PAGE_SCHEMA.properties.articles, items: STATED_ARTICLE_SCHEMA },
  },
} as const

export const ERROR_SCHEMA = closedObject(
  {
    status: { type: 'string', const: 'error' },
    code: {
      type: 'string',
      enum: ERROR_CODES,
      description: 'Tell errors apart by this. More may be added.',
    },
    message: text('For people; may change.'),
    errors: {
      type: 'object',
      additionalProperties: { type: 'array', items: TEXT, minItems: 1 },
      description: 'Only with `invalid_request`: what is wrong with each parameter.',
    },
  },
  ['errors'],
)

export type ArticleObject = FromSchema<typeof ARTICLE_SCHEMA>
export type StatedArticle = FromSchema<typeof STATED_ARTICLE_SCHEMA>
export type PageEnvelope = FromSchema<typeof PAGE_SCHEMA>
export type ErrorObject = FromSchema<typeof ERROR_SCHEMA>

/**
 * Response headers of the contract, for the OpenAPI document; `services/api/access` and `http` send
 * them.
 */
export const HEADERS = headers

export type HeaderName = keyof typeof HEADERS

/** The headers of every answer to a request whose plan is known. */
export const PLAN_HEADERS = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-Quota-Limit',
  'X-Quota-Remaining',
  'X-Quota-Reset',
  'X-Quota-Period',
] as const satisfies HeaderName[]
