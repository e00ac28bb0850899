import { ALL_ERRORS } from '../contract/errors.ts'
import {
  enumSchemas,
  headerObjects,
  type Json,
  openSchema,
  operation,
  parameterObject,
  ref,
  SECURITY_SCHEMES,
  searchOperation,
} from '../contract/openapi.ts'
import { PARAMETERS, type Parameter } from '../contract/parameters.ts'
import { ERROR_SCHEMA } from '../contract/resources.ts'
import { FEED_FORMATS, feedAddresses } from '../feeds/feed-address.ts'
import { FEED_LIMITS } from '../feeds/manage.ts'
import { COUNTS_PARAMETERS, COUNTS_SCHEMA } from './counts.ts'
import { COVERAGE_PARAMETERS, COVERAGE_SCHEMA } from './coverage.ts'
import { MATCHES_SCHEMA } from './matches.ts'
import { SUGGESTIONS_PARAMETERS, SUGGESTIONS_SCHEMA } from './suggestions.ts'

/**
 * The OpenAPI 3.1 document of the operations beyond the contract. They have a document of their
 * own, because that of the contract has two operations.
 */
export function exploreDocument(serviceName: string): Record<string, unknown> {
  return {
    openapi: '3.1.0',
    info: {
      title: `${serviceName}: beyond the contract`,
      version: '1.0.0',
      summary: 'Counts, suggestions and feeds, for people who search and for feed readers.',
      description: GUIDE,
      license: { name: 'All rights reserved', url: '/docs' },
    },
    servers: [{ url: '/', description: 'The server of this document.' }],
    security: [{ key: [] }],
    tags: [
      { name: 'Explore', description: 'Figures and names around a search.' },
      { name: 'Feeds', description: 'Searches as feeds for feed readers, which cannot send a key.' },
    ],
    paths: { ...exploreOperations(), ...FEED_OPERATIONS },
    components: {
      securitySchemes: SECURITY_SCHEMES,
      headers: headerObjects(),
      schemas: {
        ...openSchema({
          Counts: COUNTS_SCHEMA,
          Coverage: COVERAGE_SCHEMA,
          Matches: MATCHES_SCHEMA,
          Suggestions: SUGGESTIONS_SCHEMA,
          Error: {
            ...ERROR_SCHEMA,
            properties: {
              ...ERROR_SCHEMA.properties,
              code: { ...ERROR_SCHEMA.properties.code, enum: Object.keys(ALL_ERRORS) },
            },
          },
          ...FEED_SCHEMAS,
        }),
        ...enumSchemas(),
      },
    },
  }
}

const exploreOperations = () => ({
  '/explore/counts': {
    get: searchOperation('countArticles', {
      tag: 'Explore',
      summary: 'Count the articles of a search',
      description:
        'How many articles the pages of the same search would show together, by time, outlet, language or country. Exact, also beyond 10,000.',
      parameters: parametersOf(COUNTS_PARAMETERS, ['by']),
      description200: 'The counts.',
      content: json('Counts', COUNTS_EXAMPLE),
    }),
  },
  '/explore/coverage': {
    get: searchOperation('coverageOfDays', {
      tag: 'Explore',
      summary: 'How much of what outlets published is here',
      description:
        'Of the addresses that the outlets of your plan named in feeds and sitemaps: how many have an article, and what became of the others.',
      parameters: parametersOf(COVERAGE_PARAMETERS),
      description200: 'The coverage.',
      content: json('Coverage', COVERAGE_EXAMPLE),
    }),
  },
  '/explore/matches': {
    get: searchOperation('matchesOfPage', {
      tag: 'Explore',
      summary: 'What the search has found in the articles of a page',
      description:
        'Send what the page was asked with, its cursor too. Tells words of title and snippet, and how many places of the text; never a passage.',
      parameters: parametersOf(PARAMETERS),
      description200: 'The matches.',
      content: json('Matches', MATCHES_EXAMPLE),
    }),
  },
  '/explore/suggestions': {
    get: searchOperation('suggestNames', {
      tag: 'Explore',
      summary: 'Names for the filters `outlet` and `author`',
      description:
        'Up to 10 names that contain a text, as the filter reads it. Names that begin with it come first; then names with the most articles.',
      parameters: parametersOf(SUGGESTIONS_PARAMETERS, ['field', 'q']),
      description200: 'The names.',
      content: json('Suggestions', SUGGESTIONS_EXAMPLE),
    }),
  },
})

const GUIDE = `
These operations take the same key as \`/v1\`, under the same plan, with the same errors and headers. Unlike \`/v1\`,
they may change with any version of this server.

A request for counts or of a feed reader costs one of the minute, and its answer one of the month. All other requests
cost one of the minute alone.
`.trim()

/** The parameters of an operation; `required` names those that must be there. */
const parametersOf = (table: Record<string, Parameter>, required: string[] = []): Json[] =>
  Object.entries(table).map(([name, definition]) => {
    const { allowEmptyValue, ...object } = parameterObject(name, definition)
    return required.includes(name) ? { ...object, required: true } : { ...object, allowEmptyValue }
  })

function json(schema: string, example: object): Json {
  return { 'application/json': { schema: ref('schemas', schema), example } }
}

const COUNTS_EXAMPLE = {
  status: 'ok',
  by: 'day',
  time_zone: 'Europe/Brussels',
  total: 213,
  data: [
    { key: '2026-11-20', count: 120, from: '2026-11-19T23:00:00.000Z', to: '2026-11-20T22:59:59.999Z' },
    { key: '2026-11-21', count: 92, from: '2026-11-20T23:00:00.000Z', to: '2026-11-21T22:59:59.999Z' },
  ],
  other: 0,
  undated: 1,
}

const COVERAGE_EXAMPLE = {
  status: 'ok',
  by: 'day',
  data: [
    {
      ...{ day: '2026-11-20', named: 318, named_by_feeds: 320, named_by_sitemaps: 316, indexed: 312, feed_alone: 4 },
      ...{ refused: { gone: 5, language: 4 }, lost: 1, unfetched: 0, waiting: 0, share: 0.981, unread: 0, gap: false },
    },
  ],
}

const MATCHES_EXAMPLE = { status: 'ok', data: [{ id: '3f1c9a52d0b7', words: ['bussen'], places: 3 }] }

const SUGGESTIONS_EXAMPLE = {
  status: 'ok',
  field: 'outlet',
  data: [{ value: 'De Dagkoerier', outlet: { name: 'De Dagkoerier', domain: 'dagkoerier.example' } }],
}

/** Any answer to a request with a key may be one of these. */
const OF_THE_KEY = [
  'missing_token',
  'invalid_token',
  'too_many_failed_attempts',
  'rate_limit_exceeded',
  'invalid_request',
  'internal_error',
] as const

const FEED_PROPERTIES = {
  id: { type: 'string' },
  title: { type: 'string', maxLength: FEED_LIMITS.title, description: 'Its name in lists and in OPML.' },
  search: { type: 'string', description: 'A query string with the parameters of `/v1/articles.rss`, in one spelling.' },
  created_at: { type: 'string', format: 'date-time' },
  last_used_at: { type: ['string', 'null'], format: 'date-time', description: 'null until the first request.' },
  requests: { type: 'integer', minimum: 0, description: 'Answers so far, errors among them.' },
}
const STATUS = { type: 'string', const: 'ok' }

/** Schemas of the operations on feeds, for the components of a document. */
const FEED_SCHEMAS = {
  Feed: { type: 'object', required: Object.keys(FEED_PROPERTIES), properties: FEED_PROPERTIES },
  Feeds: {
    type: 'object',
    required: ['status', 'feeds'],
    properties: { status: STATUS, feeds: { type: 'array', items: ref('schemas', 'Feed') } },
  },
  MadeFeed: {
    type: 'object',
    required: ['status', ...Object.keys(FEED_PROPERTIES), 'url', 'urls'],
    properties: {
      status: STATUS,
      ...FEED_PROPERTIES,
      url: {
        type: 'string',
        format: 'uri',
        description: 'The secret address, as RSS; shown in this answer and in OPML alone.',
      },
      urls: {
        type: 'object',
        required: Object.keys(FEED_FORMATS),
        properties: Object.fromEntries(
          Object.entries(FEED_FORMATS).map(([format, { name }]) => [
            format,
            { type: 'string', format: 'uri', description: `As ${name}.` },
          ]),
        ),
        description: 'The same secret in the addresses of all formats.',
      },
    },
  },
  NewFeed: {
    type: 'object',
    required: ['search'],
    additionalProperties: false,
    properties: {
      search: {
        type: 'string',
        maxLength: FEED_LIMITS.search,
        description: 'A query string with the parameters of `/v1/articles.rss`, without `?`; empty: everything.',
      },
      title: { type: 'string', maxLength: FEED_LIMITS.title, description: "By default the feed's own title." },
    },
  },
}

const EXAMPLE = {
  id: 'feed_9b2f6c0d1e3a4f58',
  title: 'Bridges',
  search: 'q=brug&country=NL',
  created_at: '2026-11-23T08:00:00.000Z',
  last_used_at: null,
  requests: 0,
}
const URLS_EXAMPLE = feedAddresses('https://news.example', 'psf_EXAMPLE')

/** The operations on feeds, and the feeds themselves, for the paths of a document. */
const FEED_OPERATIONS: Json = {
  '/explore/feeds': {
    get: feedOperation('listFeeds', {
      summary: 'List the feeds of your key',
      description: 'Those in force, oldest first, without their addresses.',
      answers: { 200: { description: 'The feeds.', content: json('Feeds', { status: 'ok', feeds: [EXAMPLE] }) } },
      errors: OF_THE_KEY,
    }),
    post: feedOperation('makeFeed', {
      summary: 'Make a feed of a search',
      description: 'Whoever knows its address reads the feed, at the cost of your key. Treat it as a password.',
      requestBody: { required: true, content: { 'application/json': { schema: ref('schemas', 'NewFeed') } } },
      answers: {
        201: {
          description: 'The feed.',
          content: json('MadeFeed', { status: 'ok', ...EXAMPLE, url: URLS_EXAMPLE.rss, urls: URLS_EXAMPLE }),
        },
      },
      errors: [
        ...OF_THE_KEY,
        ...(['country_not_included', 'history_not_included'] as const),
        ...(['too_many_feeds', 'body_too_slow', 'body_too_large', 'unsupported_body'] as const),
      ],
    }),
  },
  '/explore/feeds/{id}': {
    delete: feedOperation('endFeed', {
      summary: 'End a feed',
      description: 'At once and for good; again, for one that has ended, is no error.',
      parameters: [inPath('id', '`id` of the list.')],
      answers: { 204: { description: 'It has ended.' } },
      errors: [...OF_THE_KEY, 'not_found'],
    }),
  },
  '/explore/feeds.opml': {
    get: feedOperation('feedsAsOpml', {
      summary: 'The addresses of all feeds of your key',
      description: 'OPML 2.0, which feed readers import. It holds secrets.',
      answers: { 200: { description: 'OPML 2.0.', content: text('text/x-opml') } },
      errors: OF_THE_KEY,
    }),
  },
  ...Object.fromEntries(
    Object.entries(FEED_FORMATS).map(([format, { name, contentType }]) => [
      `/feeds/{token}.${format}`,
      {
        get: feedOperation(`readFeedAs${format[0]?.toUpperCase()}${format.slice(1)}`, {
          summary: `A feed as ${name}, for feed readers`,
          description:
            'The answer of `/v1/articles.rss` to the search of the feed, at the cost of its key. Needs no header.',
          security: [],
          parameters: [inPath('token', 'The secret part of the address.')],
          answers: {
            200: { description: `${name}.`, content: text(contentType) },
            304: { description: 'Nothing has changed.' },
          },
          errors: [
            ...(['not_found', 'feed_ended', 'too_many_failed_attempts', 'rate_limit_exceeded'] as const),
            ...(['quota_exceeded', 'invalid_request', 'country_not_included', 'history_not_included'] as const),
            ...(['semantic_search_unavailable', 'internal_error'] as const),
          ],
        }),
      },
    ]),
  ),
}

function feedOperation(operationId: string, about: Parameters<typeof operation>[1]): Json {
  return operation(operationId, { tags: ['Feeds'], ...about })
}

function inPath(name: string, description: string): Json {
  return { in: 'path', name, required: true, description, schema: { type: 'string' } }
}

function text(contentType: string): Json {
  return { [contentType]: { schema: { type: 'string' } } }
}
