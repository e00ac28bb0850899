import { TIME_UNITS } from '../../../search/index.ts'
import { LIMITS, PARAMETERS, type Parameter } from '../contract/parameters.ts'
import { OUTLET_SCHEMA } from '../contract/resources.ts'

const { order: _order, per_page: _perPage, cursor: _cursor, sort, ...FILTERS } = PARAMETERS

/** Values of `by` that count by time. */
export const TIMES = TIME_UNITS

/**
 * The parameters of `/explore/counts`: those of `/v1/articles` without pages, and two of its own.
 */
export const COUNTS_PARAMETERS = {
  by: {
    kind: 'choice',
    values: [...TIMES, 'outlet', 'language', 'country'],
    about: 'Required. What to count by. `outlet` tells the 20 outlets with the most articles.',
  },
  time_zone: {
    kind: 'text',
    maxLength: 64,
    pattern: '^[A-Za-z0-9/_+-]*$',
    about:
      'IANA name of the time zone in which hours, days, weeks and months begin, as `Europe/Brussels`. UTC without it. Only with `by=hour`, `day`, `week` or `month`.',
  },
  ...FILTERS,
  sort: {
    ...sort,
    about:
      'As in `/v1/articles`. `ingested_at` leaves out articles without an ingestion time, and buckets of time are then those of ingestion.',
  },
} as const satisfies Record<string, Parameter>

const NO_PAGES = 'Counts have no pages; leave it out.'

/** Parameters of `/v1/articles` that counts do not take. */
export const COUNTS_REFUSALS: ReadonlyMap<string, string> = new Map([
  ['per_page', NO_PAGES],
  ['cursor', NO_PAGES],
  ['order', NO_PAGES],
])

/** The parameters of `/explore/suggestions`. */
export const SUGGESTIONS_PARAMETERS = {
  field: {
    kind: 'choice',
    values: ['outlet', 'author'],
    about: 'Required. The filter of `/v1/articles` that the name is for.',
  },
  q: {
    kind: 'text',
    maxLength: LIMITS.outlet,
    pattern: '^[^\\u0000]*$',
    about: "Required. Part of a name; case and accents don't matter, as in the filter.",
  },
} as const satisfies Record<string, Parameter>

/** Most names of an answer. */
export const MOST_SUGGESTIONS = 10

/** The objects that answers beyond the contract are made of, as JSON Schema (2020-12). */
export const COUNTS_SCHEMA = {
  type: 'object',
  required: ['status', 'by', 'total', 'data', 'other', 'undated'],
  properties: {
    status: { type: 'string', const: 'ok' },
    by: { type: 'string', enum: COUNTS_PARAMETERS.by.values },
    time_zone: { type: 'string', description: 'IANA name of the time zone of the buckets; only with counts by time.' },
    total: {
      type: 'integer',
      minimum: 0,
      description: 'Articles of the search: all counts of `data`, `other` and `undated` together.',
    },
    data: {
      type: 'array',
      description:
        'By time: every bucket of the time that is searched, also empty ones, oldest first. Otherwise: only what has articles, most articles first.',
      items: {
        type: 'object',
        required: ['key', 'count'],
        properties: {
          key: {
            type: 'string',
            description:
              'ISO 8601 in the time zone: `2026-11-20T08:00:00+01:00`, `2026-11-20`, `2026-W47` or `2026-11`; the language; the country; the name of the outlet, or else its domain.',
          },
          count: { type: 'integer', minimum: 0 },
          outlet: OUTLET_SCHEMA,
          from: {
            type: 'string',
            format: 'date-time',
            description:
              'First time of the bucket that the search lets in. Send it as `published_after` to see the articles.',
          },
          to: {
            type: 'string',
            format: 'date-time',
            description: 'Last time of the bucket that the search lets in. Send it as `published_before`.',
          },
        },
      },
    },
    other: { type: 'integer', minimum: 0, description: 'Articles of outlets beyond the first 20; otherwise 0.' },
    undated: { type: 'integer', minimum: 0, description: 'By time: articles whose time is not known; otherwise 0.' },
    meaning: {
      type: 'object',
      required: ['found', 'of', 'waiting_from'],
      properties: {
        found: { type: 'integer', minimum: 0, description: "Articles of your plan's coverage that have a vector." },
        of: { type: 'integer', minimum: 0, description: 'All articles of the coverage.' },
        waiting_from: {
          type: ['string', 'null'],
          format: 'date-time',
          description: 'The earliest time of an article that waits for its vector; null: none waits.',
        },
      },
      description: 'Only with `search=semantic`: how much can be found by meaning so far.',
    },
  },
} as const

export const SUGGESTIONS_SCHEMA = {
  type: 'object',
  required: ['status', 'field', 'data'],
  properties: {
    status: { type: 'string', const: 'ok' },
    field: { type: 'string', enum: SUGGESTIONS_PARAMETERS.field.values },
    data: {
      type: 'array',
      maxItems: MOST_SUGGESTIONS,
      items: {
        type: 'object',
        required: ['value'],
        properties: {
          value: { type: 'string', description: 'Send it as `outlet` or `author`.' },
          outlet: OUTLET_SCHEMA,
        },
      },
    },
  },
} as const

export const MATCHES_SCHEMA = {
  type: 'object',
  required: ['status', 'data'],
  properties: {
    status: { type: 'string', const: 'ok' },
    data: {
      type: 'array',
      maxItems: 100,
      description: 'The articles of the page, in their order.',
      items: {
        type: 'object',
        required: ['id', 'words', 'places'],
        properties: {
          id: { type: 'string' },
          words: {
            type: 'array',
            items: { type: 'string' },
            description:
              'With `search=keyword`: words of title and snippet that were found, in small letters without accents.',
          },
          places: {
            type: 'integer',
            minimum: 0,
            description: 'How often the text holds what was found, in its first 200,000 characters.',
          },
        },
      },
    },
  },
} as const
