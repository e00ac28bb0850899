import { headerObjects, openSchema, operation, parameterObject, SECURITY_SCHEMES } from '../contract/openapi.ts'
import { PARAMETERS, type Parameter } from '../contract/parameters.ts'
import { ERROR_SCHEMA } from '../contract/resources.ts'
import { FEED_OPERATIONS, FEED_SCHEMAS } from '../search-feeds/openapi.ts'
import {
  COUNTS_PARAMETERS,
  COUNTS_SCHEMA,
  MATCHES_SCHEMA,
  SUGGESTIONS_PARAMETERS,
  SUGGESTIONS_SCHEMA,
} from './definitions.ts'

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
      parameters: {
        ...objectsOf('counts', COUNTS_PARAMETERS),
        ...objectsOf('matches', PARAMETERS),
        ...objectsOf('suggestions', SUGGESTIONS_PARAMETERS),
      },
      headers: headerObjects(),
      schemas: openSchema({
        Counts: COUNTS_SCHEMA,
        Matches: MATCHES_SCHEMA,
        Suggestions: SUGGESTIONS_SCHEMA,
        Error: ERROR_SCHEMA,
        ...FEED_SCHEMAS,
      }),
    },
  }
}

const exploreOperations = () => ({
  '/explore/counts': {
    get: operation('countArticles', {
      tag: 'Explore',
      summary: 'Count the articles of a search',
      description:
        'How many articles the pages of the same search would show together, by time, outlet, language or country. Exact, also beyond 10,000.',
      parameters: namesIn('counts', COUNTS_PARAMETERS),
      description200: 'The counts.',
      content: json('Counts', COUNTS_EXAMPLE),
    }),
  },
  '/explore/matches': {
    get: operation('matchesOfPage', {
      tag: 'Explore',
      summary: 'What the search has found in the articles of a page',
      description:
        'Send what the page was asked with, its cursor too. Tells words of title and snippet, and how many places of the text; never a passage.',
      parameters: namesIn('matches', PARAMETERS),
      description200: 'The matches.',
      content: json('Matches', MATCHES_EXAMPLE),
    }),
  },
  '/explore/suggestions': {
    get: operation('suggestNames', {
      tag: 'Explore',
      summary: 'Names for the filters `outlet` and `author`',
      description:
        'Up to 10 names that contain a text, as the filter reads it. Names that begin with it come first; then names with the most articles.',
      parameters: namesIn('suggestions', SUGGESTIONS_PARAMETERS),
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

type Table = Record<string, Parameter>

/**
 * Both operations have a parameter \`q\`, so names in the components begin with the operation's.
 */
const namesIn = (operationName: string, table: Table) => Object.keys(table).map(name => `${operationName}.${name}`)

const REQUIRED = new Set(['counts.by', 'suggestions.field', 'suggestions.q'])

function objectsOf(operationName: string, table: Table) {
  return Object.fromEntries(
    Object.entries(table).map(([name, definition]) => {
      const id = `${operationName}.${name}`
      const { allowEmptyValue, ...object } = parameterObject(name, definition)
      return [id, REQUIRED.has(id) ? { ...object, required: true } : { ...object, allowEmptyValue }]
    }),
  )
}

const json = (schema: string, example: object) => ({
  'application/json': { schema: { $ref: `#/components/schemas/${schema}` }, example },
})

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

const MATCHES_EXAMPLE = { status: 'ok', data: [{ id: '3f1c9a52d0b7', words: ['bussen'], places: 3 }] }

const SUGGESTIONS_EXAMPLE = {
  status: 'ok',
  field: 'outlet',
  data: [{ value: 'De Dagkoerier', outlet: { name: 'De Dagkoerier', domain: 'dagkoerier.example' } }],
}
