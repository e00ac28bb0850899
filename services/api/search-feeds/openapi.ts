import { BESIDE_ERRORS, type BesideErrorCode, ERROR_CODES, ERRORS, type ErrorCode } from '../contract/errors.ts'
import { ERROR_SCHEMA } from '../contract/resources.ts'
import { FEED_FORMATS, type FeedFormat, feedAddresses } from './address.ts'
import { FEED_LIMITS } from './body.ts'

type Json = Record<string, unknown>

const ALL = { ...ERRORS, ...BESIDE_ERRORS }

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
const FORMATS: FeedFormat[] = ['rss', 'atom', 'json']
const STATUS = { type: 'string', const: 'ok' }

/** Schemas of the operations on feeds, for the components of a document. */
export const FEED_SCHEMAS = {
  Feed: { type: 'object', required: Object.keys(FEED_PROPERTIES), properties: FEED_PROPERTIES },
  Feeds: {
    type: 'object',
    required: ['status', 'feeds'],
    properties: { status: STATUS, feeds: { type: 'array', items: { $ref: '#/components/schemas/Feed' } } },
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
  FeedError: {
    ...ERROR_SCHEMA,
    properties: {
      ...ERROR_SCHEMA.properties,
      code: { ...ERROR_SCHEMA.properties.code, enum: [...ERROR_CODES, ...Object.keys(BESIDE_ERRORS)] },
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
export const FEED_OPERATIONS: Json = {
  '/explore/feeds': {
    get: operation('listFeeds', {
      summary: 'List the feeds of your key',
      description: 'Those in force, oldest first, without their addresses.',
      answer: { 200: answered('The feeds.', 'application/json', 'Feeds', { status: 'ok', feeds: [EXAMPLE] }) },
      errors: [...OF_THE_KEY],
    }),
    post: operation('makeFeed', {
      summary: 'Make a feed of a search',
      description: 'Whoever knows its address reads the feed, at the cost of your key. Treat it as a password.',
      body: 'NewFeed',
      answer: {
        201: answered('The feed.', 'application/json', 'MadeFeed', {
          status: 'ok',
          ...EXAMPLE,
          url: URLS_EXAMPLE.rss,
          urls: URLS_EXAMPLE,
        }),
      },
      errors: [
        ...OF_THE_KEY,
        ...(['country_not_included', 'history_not_included'] as const),
        ...(['too_many_feeds', 'body_too_slow', 'body_too_large', 'unsupported_body'] as const),
      ],
    }),
  },
  '/explore/feeds/{id}': {
    delete: operation('endFeed', {
      summary: 'End a feed',
      description: 'At once and for good; again, for one that has ended, is no error.',
      parameter: { name: 'id', about: '`id` of the list.' },
      answer: { 204: { description: 'It has ended.' } },
      errors: [...OF_THE_KEY, 'not_found'],
    }),
  },
  '/explore/feeds.opml': {
    get: operation('feedsAsOpml', {
      summary: 'The addresses of all feeds of your key',
      description: 'OPML 2.0, which feed readers import. It holds secrets.',
      answer: { 200: answered('OPML 2.0.', 'text/x-opml') },
      errors: [...OF_THE_KEY],
    }),
  },
  ...Object.fromEntries(FORMATS.map(format => [`/feeds/{token}.${format}`, { get: readFeed(format) }])),
}

/** The operation that sends a feed. */
function readFeed(format: FeedFormat): Json {
  const { name, contentType } = FEED_FORMATS[format]
  return {
    ...operation(`readFeedAs${format[0]?.toUpperCase()}${format.slice(1)}`, {
      summary: `A feed as ${name}, for feed readers`,
      description:
        'The answer of `/v1/articles.rss` to the search of the feed, at the cost of its key. Needs no header.',
      parameter: { name: 'token', about: 'The secret part of the address.' },
      answer: { 200: answered(`${name}.`, contentType), 304: { description: 'Nothing has changed.' } },
      errors: [
        ...(['not_found', 'feed_ended', 'too_many_failed_attempts', 'rate_limit_exceeded', 'quota_exceeded'] as const),
        ...(['invalid_request', 'country_not_included', 'history_not_included'] as const),
        ...(['semantic_search_unavailable', 'internal_error'] as const),
      ],
    }),
    security: [],
  }
}

function operation(
  operationId: string,
  about: {
    summary: string
    description: string
    parameter?: { name: string; about: string }
    /** Name of the body's schema. */
    body?: string
    answer: Record<number, Json>
    errors: (ErrorCode | BesideErrorCode)[]
  },
): Json {
  const { summary, description, parameter, body, answer, errors } = about
  const inPath = parameter && { in: 'path', name: parameter.name, required: true, schema: { type: 'string' } }
  return {
    operationId,
    tags: ['Feeds'],
    summary,
    description,
    ...(inPath ? { parameters: [{ ...inPath, description: parameter?.about }] } : {}),
    ...(body ? { requestBody: { required: true, content: { 'application/json': { schema: ref(body) } } } } : {}),
    responses: { ...answer, ...failures(errors) },
  }
}

function answered(description: string, type: string, schema?: string, example?: Json): Json {
  const shown = schema ? { schema: ref(schema), example } : { schema: { type: 'string' } }
  return { description, content: { [type]: shown } }
}

/** The errors by their status. */
function failures(codes: (ErrorCode | BesideErrorCode)[]): Json {
  const statuses = [...new Set(codes.map(code => ALL[code].status))]
  return Object.fromEntries(
    statuses.map(status => [
      status,
      {
        description: codes
          .filter(code => ALL[code].status === status)
          .map(code => `\`${code}\`: ${ALL[code].when}`)
          .join('\n\n'),
        content: { 'application/json': { schema: ref('FeedError') } },
      },
    ]),
  )
}

function ref(schema: string): Json {
  return { $ref: `#/components/schemas/${schema}` }
}
