import { ALL_ERRORS } from '../contract/errors.ts'
import {
  enumSchemas,
  FEED_CONTENT,
  headerObjects,
  type Json,
  openSchema,
  operation,
  parameterObject,
  ref,
  SECURITY_SCHEMES,
  searchOperation,
} from '../contract/openapi.ts'

import { EXPLORE_PARAMETERS, type Parameter } from '../contract/parameters.ts'
import { ARTICLE_SCHEMA, ERROR_SCHEMA, PAGE_SCHEMA } from '../contract/resources.ts'
import { FEED_FORMATS } from '../feeds/feed-address.ts'

import { SEARCH_LIMITS } from '../searches/description.ts'
import { NEW_SCHEMA } from '../searches/new.ts'
import { ARTICLE_ANSWER_SCHEMA } from './article.ts'
import { COPIES_PARAMETERS, COPIES_SCHEMA } from './copies.ts'
import { COUNTS_PARAMETERS, COUNTS_SCHEMA } from './counts.ts'
import { COVERAGE_PARAMETERS, COVERAGE_SCHEMA } from './coverage.ts'
import { LIMITS_SCHEMA } from './limits.ts'
import { MATCHES_SCHEMA } from './matches.ts'
import { RELATED_PARAMETERS, RELATED_SCHEMA } from './related.ts'
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
      { name: 'Searches', description: 'Searches that a key keeps, with what hangs on them.' },
      { name: 'Citations', description: 'Searches with an address that always shows the same articles.' },
      { name: 'Feeds', description: 'Searches as feeds for feed readers, which cannot send a key.' },
    ],
    paths: { ...EXPLORE_OPERATIONS, ...SEARCH_OPERATIONS, ...CITATION_OPERATIONS, ...FEED_OPERATIONS },
    components: {
      securitySchemes: SECURITY_SCHEMES,
      headers: headerObjects(),
      schemas: {
        ...openSchema({
          Article: ARTICLE_ANSWER_SCHEMA,
          Copies: COPIES_SCHEMA,
          Counts: COUNTS_SCHEMA,
          Coverage: COVERAGE_SCHEMA,
          Limits: LIMITS_SCHEMA,
          Matches: MATCHES_SCHEMA,
          Page: PAGE_SCHEMA,
          Related: RELATED_SCHEMA,
          Suggestions: SUGGESTIONS_SCHEMA,
          Error: {
            ...ERROR_SCHEMA,
            properties: {
              ...ERROR_SCHEMA.properties,
              code: { ...ERROR_SCHEMA.properties.code, enum: Object.keys(ALL_ERRORS) },
            },
          },
          ...FEED_SCHEMAS,
          ...SEARCH_SCHEMAS,
          Citation: CITATION_SCHEMA,
          CitedArticles: CITED_ARTICLES_SCHEMA,
          NewCitation: { ...FEED_SCHEMAS.NewFeed, properties: { search: FEED_SCHEMAS.NewFeed.properties.search } },
        }),
        ...enumSchemas('SearchMode'),
      },
    },
  }
}

const GUIDE = `
These operations take the same key as \`/v1\`, under the same plan, with the same errors and headers. Unlike \`/v1\`,
they may change with any version of this server.

A request for articles, copies, counts, matches or related articles, or of a feed reader, costs one of the minute, and its answer one of the month. All
other requests cost one of the minute alone.
`.trim()

const { cursor: _cursor, ...OF_A_FEED } = EXPLORE_PARAMETERS

const EXPLORE_OPERATIONS: Json = {
  '/explore/articles': explored('exploreArticles', 'Page', parametersOf(EXPLORE_PARAMETERS), {
    summary: 'Search articles, with more than the contract has',
    description: 'The answer of `/v1/articles` to every search that it takes, and to those that it does not.',
  }),
  '/explore/articles.rss': explored(
    'exploreFeed',
    'Page',
    parametersOf(OF_A_FEED),
    { summary: 'The same search as an RSS 2.0 feed', description: 'The answer of `/v1/articles.rss`, likewise.' },
    FEED_CONTENT,
  ),
  '/explore/articles/{id}': explored('articleById', 'Article', [inPath('id', { type: 'string', maxLength: 128 })], {
    summary: 'One article by its id',
    description:
      'As `/v1` shows it; 404 for an id that is unknown or outside your plan. For people it is at `/a/{id}`.',
    mayBeMissing: true,
  }),
  '/explore/copies': explored('copiesOfPage', 'Copies', parametersOf(COPIES_PARAMETERS), {
    summary: 'Which other articles have the text of those of a page',
    description:
      'Send what the page was asked with, its cursor too; or the id of one article. Tells the copies that your plan has.',
    mayBeMissing: true,
  }),
  '/explore/counts': explored('countArticles', 'Counts', parametersOf(COUNTS_PARAMETERS, ['by']), {
    summary: 'Count the articles of a search',
    description:
      'How many articles the pages of the same search would show together, by time, outlet, language or country. Exact, also beyond 10,000.',
  }),
  '/explore/coverage': explored('coverageOfDays', 'Coverage', parametersOf(COVERAGE_PARAMETERS), {
    summary: 'How much of what outlets published is here',
    description:
      'Of the addresses that the outlets of your plan named in feeds and sitemaps: how many have an article, and what became of the others.',
  }),
  '/explore/matches': explored('matchesOfPage', 'Matches', parametersOf(EXPLORE_PARAMETERS), {
    summary: 'What the search has found in the articles of a page',
    description:
      'Send what the page was asked with, its cursor too. Tells words of title and snippet, and how many places of the text; never a passage.',
  }),
  '/explore/related': explored('relatedArticles', 'Related', parametersOf(RELATED_PARAMETERS, ['id']), {
    summary: 'Which articles tell of the same event',
    description:
      'By meaning, within three days around the article, in any language. One of each group of copies, at most 10.',
    mayBeMissing: true,
  }),
  '/explore/suggestions': explored(
    'suggestNames',
    'Suggestions',
    parametersOf(SUGGESTIONS_PARAMETERS, ['field', 'q']),
    {
      summary: 'Names for the filters `outlet` and `author`',
      description:
        'Up to 10 names that contain a text, as the filter reads it. Names that begin with it come first; then names with the most articles.',
    },
  ),
}

function explored(
  operationId: string,
  schema: string,
  parameters: Json[],
  about: { summary: string; description: string; mayBeMissing?: boolean },
  content = json(schema),
): Json {
  const description200 = `The ${schema.toLowerCase()}.`
  return {
    get: searchOperation(operationId, { ...about, tag: 'Explore', parameters, description200, content }),
  }
}

/** The parameters of an operation; `required` names those that must be there. */
function parametersOf(table: Record<string, Parameter>, required: string[] = []): Json[] {
  return Object.entries(table).map(([name, definition]) => {
    const { allowEmptyValue, ...object } = parameterObject(name, definition)
    return required.includes(name) ? { ...object, required: true } : { ...object, allowEmptyValue }
  })
}

function json(schema: string): Json {
  return { 'application/json': { schema: ref('schemas', schema) } }
}

/** Any answer to a request with a key may be one of these. */
const OF_THE_KEY = [
  'missing_token',
  'invalid_token',
  'too_many_failed_attempts',
  'rate_limit_exceeded',
  'invalid_request',
  'service_unavailable',
  'internal_error',
] as const

const FEED_PROPERTIES = {
  id: { type: 'string' },
  title: { type: 'string', maxLength: SEARCH_LIMITS.name, description: 'Its name in lists and in OPML.' },
  search: {
    type: 'string',
    description: 'A query string with the parameters of `/explore/articles.rss`, in one spelling.',
  },
  created_at: { type: 'string', format: 'date-time' },
  last_used_at: { type: ['string', 'null'], format: 'date-time', description: 'null until the first request.' },
  requests: { type: 'integer', minimum: 0, description: 'Answers so far, errors among them.' },
}
const STATUS = { type: 'string', const: 'ok' }
const ADDRESS = { type: 'string', format: 'uri' }

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
      url: { ...ADDRESS, description: 'The secret address, as RSS; shown in this answer and in OPML alone.' },
      urls: {
        type: 'object',
        required: Object.keys(FEED_FORMATS),
        properties: Object.fromEntries(Object.keys(FEED_FORMATS).map(format => [format, ADDRESS])),
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
        maxLength: SEARCH_LIMITS.search,
        description: 'A query string with the parameters of `/explore/articles.rss`, without `?`; empty: everything.',
      },
      title: { type: 'string', maxLength: SEARCH_LIMITS.name, description: "By default the feed's own title." },
    },
  },
}

const TIME = { type: 'string', format: 'date-time' }
const NUMBER = { type: 'integer', minimum: 0 }
const TEXT = { type: 'string' }
/** docs/citations.md says what they are. */
const CITATION_PROPERTIES = {
  ...{ status: STATUS, address: TEXT, url: ADDRESS, digest: TEXT, search: TEXT, count: NUMBER },
  ...{ cited_at: TIME, as_of: TIME, watermark: NUMBER, rules: NUMBER, ids_only: { type: 'boolean' } },
  reach: {
    ...{ type: 'object', required: ['countries', 'since'] },
    properties: { countries: { type: 'array', items: TEXT }, since: TIME },
  },
}
const CITATION_SCHEMA = {
  ...{ type: 'object', required: Object.keys(CITATION_PROPERTIES) },
  properties: { ...CITATION_PROPERTIES, model: TEXT, bias: TEXT },
}
const CITED_ARTICLES_SCHEMA = {
  ...{ type: 'object', required: [...CITATION_SCHEMA.required, 'outside', 'articles'] },
  properties: {
    ...CITATION_SCHEMA.properties,
    outside: { ...NUMBER, description: 'Articles that your plan does not cover, or that were deleted.' },
    articles: { type: 'array', items: ARTICLE_SCHEMA },
  },
}

const CITATION_OPERATIONS: Json = {
  '/explore/citations': {
    post: operation('cite', {
      summary: 'Cite a search',
      description: 'The same search with the same result has the same address. At most 100,000 articles.',
      ...{ tags: ['Citations'] },
      requestBody: { required: true, content: json('NewCitation') },
      answers: {
        200: { description: 'The citation, which existed.', content: json('Citation') },
        201: { description: 'The citation.', content: json('Citation') },
      },
      errors: [
        ...OF_THE_KEY,
        ...(['quota_exceeded', 'country_not_included', 'history_not_included'] as const),
        ...(['semantic_search_unavailable', 'too_many_citations'] as const),
        ...(['body_too_slow', 'body_too_large', 'unsupported_body'] as const),
      ],
    }),
  },
  '/cite/{digest}.{format}': {
    get: operation('citedArticles', {
      summary: 'The articles of a citation',
      description:
        'Those that your plan covers, as JSON, CSV, BibTeX or RIS. `/cite/{digest}` is its page, for anybody.',
      ...{ tags: ['Citations'] },
      parameters: [
        inPath('digest', { type: 'string', pattern: '^[0-9a-f]{64}$' }),
        inPath('format', { type: 'string', enum: ['json', 'csv', 'bib', 'ris'] }),
      ],
      answers: {
        200: {
          description: 'The articles.',
          content: {
            ...json('CitedArticles'),
            ...text(['text/csv', 'application/x-bibtex', 'application/x-research-info-systems']),
          },
        },
      },
      errors: [...OF_THE_KEY, 'quota_exceeded', 'not_found'],
    }),
  },
}

/** The operations on feeds, and the feeds themselves, for the paths of a document. */
const FEED_OPERATIONS: Json = {
  '/explore/feeds': {
    get: feedOperation('listFeeds', {
      summary: 'List the feeds of your key',
      description: 'Those in force, oldest first, without their addresses.',
      answers: { 200: { description: 'The feeds.', content: json('Feeds') } },
      errors: OF_THE_KEY,
    }),
    post: feedOperation('makeFeed', {
      summary: 'Make a feed of a search',
      description: 'Whoever knows its address reads the feed, at the cost of your key. Treat it as a password.',
      requestBody: { required: true, content: json('NewFeed') },
      answers: { 201: { description: 'The feed.', content: json('MadeFeed') } },
      errors: [
        ...OF_THE_KEY,
        ...(['country_not_included', 'history_not_included', 'too_many_searches'] as const),
        ...(['too_many_feeds', 'body_too_slow', 'body_too_large', 'unsupported_body'] as const),
      ],
    }),
  },
  '/explore/feeds/{id}': {
    delete: feedOperation('endFeed', {
      summary: 'End a feed',
      description: 'At once and for good; again, for one that has ended, is no error.',
      parameters: [inPath('id', { type: 'string' })],
      answers: { 204: { description: 'It has ended.' } },
      errors: [...OF_THE_KEY, 'not_found'],
    }),
  },
  '/explore/feeds.opml': {
    get: feedOperation('feedsAsOpml', {
      summary: 'The addresses of all feeds of your key',
      description: 'OPML 2.0, which feed readers import. It holds secrets.',
      answers: { 200: { description: 'OPML 2.0.', content: text(['text/x-opml']) } },
      errors: OF_THE_KEY,
    }),
  },
  '/feeds/{token}.{format}': {
    get: feedOperation('readFeed', {
      summary: 'A feed, for feed readers',
      description:
        'The answer of `/explore/articles.rss` to the search of the feed, at the cost of its key: as RSS 2.0, Atom or JSON Feed. Needs no header.',
      security: [],
      parameters: [
        inPath('token', { type: 'string' }),
        inPath('format', { type: 'string', enum: Object.keys(FEED_FORMATS) }),
      ],
      answers: {
        200: {
          description: 'The feed.',
          content: text(Object.values(FEED_FORMATS).map(({ contentType }) => contentType)),
        },
        304: { description: 'Nothing has changed.' },
      },
      errors: [
        ...(['not_found', 'feed_ended', 'too_many_failed_attempts', 'rate_limit_exceeded'] as const),
        ...(['quota_exceeded', 'invalid_request', 'country_not_included', 'history_not_included'] as const),
        ...(['semantic_search_unavailable', 'service_unavailable', 'internal_error'] as const),
      ],
    }),
  },
}

const SEARCH_PROPERTIES = {
  id: { type: 'string' },
  name: { type: 'string', maxLength: SEARCH_LIMITS.name },
  search: FEED_PROPERTIES.search,
  position: { type: 'integer', minimum: 0, description: 'Its place in the list; places may be free.' },
  created_at: FEED_PROPERTIES.created_at,
  feed: { anyOf: [ref('schemas', 'Feed'), { type: 'null' }] },
  alert: { anyOf: [ref('schemas', 'Alert'), { type: 'null' }] },
}

const dataOf = (data: Json) => ({ type: 'object', required: ['status', 'data'], properties: { status: STATUS, data } })

/** What may be said of a kept search. */
const { search: NEW_SEARCH, title: NEW_NAME } = FEED_SCHEMAS.NewFeed.properties
const DESCRIPTION = { search: NEW_SEARCH, name: NEW_NAME }

const SEARCH_SCHEMAS = {
  Search: { type: 'object', required: Object.keys(SEARCH_PROPERTIES), properties: SEARCH_PROPERTIES },
  OneSearch: dataOf(ref('schemas', 'Search')),
  Searches: dataOf({ type: 'array', items: ref('schemas', 'Search') }),
  NewSearch: { type: 'object', required: ['search'], additionalProperties: false, properties: DESCRIPTION },
  ChangedSearch: {
    type: 'object',
    additionalProperties: false,
    properties: { ...DESCRIPTION, position: SEARCH_PROPERTIES.position },
  },
  WhatIsNew: NEW_SCHEMA,
  Marks: {
    type: 'object',
    required: ['marks'],
    additionalProperties: false,
    properties: {
      marks: {
        type: 'object',
        additionalProperties: { type: ['string', 'null'] },
        description: 'By the id of a search, the mark that you keep for it; null: it begins now.',
      },
    },
  },
  Alert: {
    type: 'object',
    required: ['to', 'when', 'time_zone', 'state', 'reason', 'created_at', 'delivered_at'],
    properties: {
      to: { type: 'string', description: 'An address that begins with `https://` or `mailto:`.' },
      when: { type: 'string', description: '`at once`, or a local time as `08:00`.' },
      time_zone: { type: 'string' },
      state: { type: 'string', enum: ['on', 'asked', 'rests'], description: 'asked: the owner has not agreed yet.' },
      reason: { type: ['string', 'null'], description: 'Why it rests, or what failed last.' },
      created_at: FEED_PROPERTIES.created_at,
      delivered_at: FEED_PROPERTIES.last_used_at,
      secret: { type: 'string', description: 'Of the signatures; in the answer of PUT alone.' },
    },
  },
  AlertOfSearch: dataOf(ref('schemas', 'Alert')),
  NewAlert: {
    type: 'object',
    required: ['to', 'when'],
    additionalProperties: false,
    properties: { to: { type: 'string' }, when: { type: 'string' }, time_zone: { type: 'string' } },
  },
  FeedOfSearch: dataOf(ref('schemas', 'GivenFeed')),
  GivenFeed: { ...FEED_SCHEMAS.MadeFeed, required: FEED_SCHEMAS.MadeFeed.required.slice(1) },
}

const OF_A_BODY = ['body_too_slow', 'body_too_large', 'unsupported_body'] as const
const OF_THE_PLAN = ['country_not_included', 'history_not_included'] as const
const body = (schema: string): Json => ({ required: true, content: json(schema) })
const ID_IN_PATH = { parameters: [inPath('id', { type: 'string' })] }

/** The operations on kept searches, and the limits of the key. */
const SEARCH_OPERATIONS: Json = {
  '/explore/searches': {
    get: keptOperation('listSearches', {
      summary: 'List the searches that your key keeps',
      description: 'In their order.',
      answers: { 200: { description: 'The searches.', content: json('Searches') } },
      errors: OF_THE_KEY,
    }),
    post: keptOperation('keepSearch', {
      summary: 'Keep a search',
      description: 'At the end of the list. A key keeps 200.',
      requestBody: body('NewSearch'),
      answers: { 201: { description: 'The search.', content: json('OneSearch') } },
      errors: [...OF_THE_KEY, ...OF_THE_PLAN, 'too_many_searches', ...OF_A_BODY],
    }),
  },
  '/explore/searches/new': {
    post: keptOperation('whatIsNew', {
      summary: 'How many articles are new to kept searches',
      description: 'Since the mark of each. Nothing is stored: keep the marks where they are read.',
      requestBody: body('Marks'),
      answers: { 200: { description: 'What is new.', content: json('WhatIsNew') } },
      errors: [...OF_THE_KEY, ...OF_THE_PLAN, 'quota_exceeded', ...OF_A_BODY],
    }),
  },
  '/explore/searches/{id}': {
    patch: keptOperation('changeSearch', {
      ...{ summary: 'Change a kept search', description: 'Its feed keeps its address.', ...ID_IN_PATH },
      requestBody: body('ChangedSearch'),
      answers: { 200: { description: 'The search.', content: json('OneSearch') } },
      errors: [...OF_THE_KEY, ...OF_THE_PLAN, 'not_found', ...OF_A_BODY],
    }),
    delete: keptOperation('removeSearch', {
      ...{ summary: 'Remove a kept search', description: 'Its feed ends.', ...ID_IN_PATH },
      answers: { 204: { description: 'It is gone.' } },
      errors: [...OF_THE_KEY, 'not_found'],
    }),
  },
  '/explore/searches/{id}/feed': {
    put: keptOperation('feedOfSearch', {
      summary: 'Give a kept search a feed, or read the addresses of the one that it has',
      ...{ description: 'Its addresses are secrets.', ...ID_IN_PATH },
      answers: {
        200: { description: 'The feed that it has.', content: json('FeedOfSearch') },
        201: { description: 'A new feed.', content: json('FeedOfSearch') },
      },
      errors: [...OF_THE_KEY, 'not_found', 'too_many_feeds'],
    }),
    delete: keptOperation('endFeedOfSearch', {
      ...{ summary: 'End the feed of a kept search', description: 'At once and for good.', ...ID_IN_PATH },
      answers: { 204: { description: 'It has none.' } },
      errors: [...OF_THE_KEY, 'not_found'],
    }),
  },
  '/explore/searches/{id}/alert': {
    put: keptOperation('alertOfSearch', {
      summary: 'Have somebody told what is new to a kept search',
      description: 'By a signed webhook or by mail. One message costs one of the month.',
      ...ID_IN_PATH,
      requestBody: body('NewAlert'),
      answers: {
        200: { description: 'The alert, changed.', content: json('AlertOfSearch') },
        201: { description: 'A new alert.', content: json('AlertOfSearch') },
      },
      errors: [...OF_THE_KEY, ...OF_THE_PLAN, 'not_found', ...OF_A_BODY],
    }),
    delete: keptOperation('endAlertOfSearch', {
      ...{ summary: 'End the alert of a kept search', description: 'Nothing more is told.', ...ID_IN_PATH },
      answers: { 204: { description: 'It has none.' } },
      errors: [...OF_THE_KEY, 'not_found'],
    }),
  },
  '/explore/limits': {
    get: keptOperation('limits', {
      summary: 'What your plan has, and what is left of minute and month',
      description: 'Costs one of the minute; answers when the month is used up.',
      answers: { 200: { description: 'The limits.', content: json('Limits') } },
      errors: OF_THE_KEY,
    }),
  },
}

function keptOperation(operationId: string, about: Parameters<typeof operation>[1]): Json {
  return operation(operationId, { tags: ['Searches'], ...about })
}

function feedOperation(operationId: string, about: Parameters<typeof operation>[1]): Json {
  return operation(operationId, { tags: ['Feeds'], ...about })
}

function inPath(name: string, schema: Json): Json {
  return { in: 'path', name, required: true, schema }
}

function text(contentTypes: string[]): Json {
  return Object.fromEntries(contentTypes.map(contentType => [contentType, { schema: { type: 'string' } }]))
}
