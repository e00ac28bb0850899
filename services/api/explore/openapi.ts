import { ALL_ERRORS } from '#services/api/contract/errors'
import {
  enumSchemas,
  FEED_CONTENT,
  headerObjects,
  inPath,
  type Json,
  json,
  openSchema,
  parameterObject,
  SECURITY_SCHEMES,
  searchOperation,
} from '#services/api/contract/openapi'

import { EXPLORE_PARAMETERS, type Parameter } from '#services/api/contract/parameters'
import { ERROR_SCHEMA, STATED_PAGE_SCHEMA } from '#services/api/contract/resources'

import { OWNED_OPERATIONS, OWNED_SCHEMAS } from '#services/api/desk/openapi'
import { ARTICLE_ANSWER_SCHEMA, RELATED_PARAMETERS, RELATED_SCHEMA } from './article-by-id.ts'
import { COMPLETENESS_PARAMETERS, COMPLETENESS_SCHEMA } from './completeness.ts'
import { COPIES_PARAMETERS, COPIES_SCHEMA } from './copies.ts'
import { COUNTS_PARAMETERS, COUNTS_SCHEMA } from './counts.ts'
import { LIMITS_SCHEMA } from './limits.ts'
import { MATCHES_SCHEMA } from './matches.ts'
import operations from './operations.json' with { type: 'json' }
import { REMOVALS_PARAMETERS, REMOVALS_SCHEMA } from './removals.ts'
import { SUGGESTIONS_PARAMETERS, SUGGESTIONS_SCHEMA } from './suggestions.ts'
import { WORDS_PARAMETERS, WORDS_SCHEMA } from './words.ts'

/**
 * The OpenAPI 3.1 document of the operations beyond the contract. They have a document of their
 * own, because the document of the contract has only its own two operations.
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
      { name: 'Outlet sets', description: 'Names for outlets, for `outlets`.' },
      {
        name: 'Citations',
        description: 'Searches with an address that always shows the same articles.',
      },
      {
        name: 'Feeds',
        description: 'Searches as feeds for feed readers, which cannot send a key.',
      },
    ],
    paths: { ...EXPLORE_OPERATIONS, ...OWNED_OPERATIONS },
    components: {
      securitySchemes: SECURITY_SCHEMES,
      headers: headerObjects(),
      schemas: {
        ...openSchema({
          Article: ARTICLE_ANSWER_SCHEMA,
          Copies: COPIES_SCHEMA,
          Counts: COUNTS_SCHEMA,
          Coverage: COMPLETENESS_SCHEMA,
          Limits: LIMITS_SCHEMA,
          Matches: MATCHES_SCHEMA,
          Page: STATED_PAGE_SCHEMA,
          Related: RELATED_SCHEMA,
          Removals: REMOVALS_SCHEMA,
          Suggestions: SUGGESTIONS_SCHEMA,
          Words: WORDS_SCHEMA,
          Error: {
            ...ERROR_SCHEMA,
            properties: {
              ...ERROR_SCHEMA.properties,
              code: { ...ERROR_SCHEMA.properties.code, enum: Object.keys(ALL_ERRORS) },
            },
          },
          ...OWNED_SCHEMAS,
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

/** The parameters of each operation of `operations.json`. */
const PARAMETERS: Record<keyof typeof operations, Json[]> = {
  '/explore/articles': parametersOf(EXPLORE_PARAMETERS),
  '/explore/articles.rss': parametersOf(OF_A_FEED),
  '/explore/articles/{id}': [inPath('id', { type: 'string', maxLength: 128 })],
  '/explore/copies': parametersOf(COPIES_PARAMETERS),
  '/explore/counts': parametersOf(COUNTS_PARAMETERS),
  '/explore/coverage': parametersOf(COMPLETENESS_PARAMETERS),
  '/explore/matches': parametersOf(EXPLORE_PARAMETERS),
  '/explore/related': parametersOf(RELATED_PARAMETERS),
  '/explore/removals': parametersOf(REMOVALS_PARAMETERS),
  '/explore/suggestions': parametersOf(SUGGESTIONS_PARAMETERS),
  '/explore/words': parametersOf(WORDS_PARAMETERS),
}

interface Explored {
  id: string
  /** The name of the schema of the answer. */
  schema: string
  summary: string
  description: string
  mayBeMissing?: boolean
}
const OPERATIONS: Record<string, Explored> = operations

const EXPLORE_OPERATIONS: Json = Object.fromEntries(
  Object.entries(PARAMETERS).map(([path, parameters]) => {
    const { id, schema, ...about } = OPERATIONS[path]!
    const get = searchOperation(id, {
      ...about,
      tag: 'Explore',
      parameters,
      description200: `The ${schema.toLowerCase()}.`,
      content: path.endsWith('.rss') ? FEED_CONTENT : json(schema),
    })
    return [path, { get }]
  }),
)

/** The parameters of an operation. */
function parametersOf(table: Record<string, Parameter>): Json[] {
  return Object.entries(table).map(([name, definition]) => {
    const { allowEmptyValue, ...object } = parameterObject(name, definition)
    return definition.required !== undefined
      ? { ...object, required: true }
      : { ...object, allowEmptyValue }
  })
}
