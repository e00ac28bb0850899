import { ALL_ERRORS } from '../contract/errors.ts'
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
} from '../contract/openapi.ts'

import { EXPLORE_PARAMETERS, type Parameter } from '../contract/parameters.ts'
import { ERROR_SCHEMA, PAGE_SCHEMA } from '../contract/resources.ts'

import { OWNED_OPERATIONS, OWNED_SCHEMAS } from '../desk/openapi.ts'
import { ARTICLE_ANSWER_SCHEMA, RELATED_PARAMETERS, RELATED_SCHEMA } from './article-by-id.ts'
import { COMPLETENESS_PARAMETERS, COMPLETENESS_SCHEMA } from './completeness.ts'
import { COPIES_PARAMETERS, COPIES_SCHEMA } from './copies.ts'
import { COUNTS_PARAMETERS, COUNTS_SCHEMA } from './counts.ts'
import { LIMITS_SCHEMA } from './limits.ts'
import { MATCHES_SCHEMA } from './matches.ts'
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
          Page: PAGE_SCHEMA,
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

const EXPLORE_OPERATIONS: Json = {
  '/explore/articles': explored('exploreArticles', 'Page', parametersOf(EXPLORE_PARAMETERS), {
    summary: 'Search articles, with more than the contract has',
    description:
      'The answer of `/v1/articles` to every search that it takes, and to those that it does not.',
  }),
  '/explore/articles.rss': explored(
    'exploreFeed',
    'Page',
    parametersOf(OF_A_FEED),
    {
      summary: 'The same search as an RSS 2.0 feed',
      description: 'The answer of `/v1/articles.rss`, likewise.',
    },
    FEED_CONTENT,
  ),
  '/explore/articles/{id}': explored(
    'articleById',
    'Article',
    [inPath('id', { type: 'string', maxLength: 128 })],
    {
      summary: 'One article by its id',
      description:
        'As `/v1` shows it; 404 for an id that is unknown or outside your plan. For people it is at `/a/{id}`.',
      mayBeMissing: true,
    },
  ),
  '/explore/copies': explored('copiesOfPage', 'Copies', parametersOf(COPIES_PARAMETERS), {
    summary: 'Which other articles have the text of those of a page',
    description:
      'Send what the page was asked with, its cursor too; or the id of one article. Tells the copies that your plan has.',
    mayBeMissing: true,
  }),
  '/explore/counts': explored('countArticles', 'Counts', parametersOf(COUNTS_PARAMETERS), {
    summary: 'Count the articles of a search',
    description:
      'How many articles the pages of the same search would show together, by time, outlet, language or country. Exact, also beyond 10,000.',
  }),
  '/explore/coverage': explored(
    'coverageOfDays',
    'Coverage',
    parametersOf(COMPLETENESS_PARAMETERS),
    {
      summary: 'How much of what outlets published is here',
      description:
        'Of the addresses that the outlets of your plan named in feeds and sitemaps: how many have an article, and what became of the others.',
    },
  ),
  '/explore/matches': explored('matchesOfPage', 'Matches', parametersOf(EXPLORE_PARAMETERS), {
    summary: 'What the search has found in the articles of a page',
    description:
      'Send what the page was asked with, its cursor too. Tells words of title and snippet, and how many places of the text; never a passage.',
  }),
  '/explore/related': explored('relatedArticles', 'Related', parametersOf(RELATED_PARAMETERS), {
    summary: 'Which articles tell of the same event',
    description:
      'By meaning, within three days around the article, in any language. One of each group of copies, at most 10.',
    mayBeMissing: true,
  }),
  '/explore/removals': explored('listRemovals', 'Removals', parametersOf(REMOVALS_PARAMETERS), {
    summary: 'Which articles were taken out',
    description:
      'Articles of your plan that an operator has taken out for good. Who keeps copies asks now and then with `last` of the answer before, and deletes them.',
  }),
  '/explore/suggestions': explored(
    'suggestNames',
    'Suggestions',
    parametersOf(SUGGESTIONS_PARAMETERS),
    {
      summary: 'Names for the filters `outlet` and `author`',
      description:
        'Up to 10 names that contain a text, as the filter reads it. Names that begin with it come first; then names with the most articles.',
    },
  ),
  '/explore/words': explored('wordsOfPart', 'Words', parametersOf(WORDS_PARAMETERS), {
    summary: 'Words that have a part',
    description:
      'The words for which `trein*`, `*trein` or `*trein*` stands in an expression, with the articles of your plan that have each. 422 where more than 5,000 words have it.',
  }),
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
    get: searchOperation(operationId, {
      ...about,
      tag: 'Explore',
      parameters,
      description200,
      content,
    }),
  }
}

/** The parameters of an operation. */
function parametersOf(table: Record<string, Parameter>): Json[] {
  return Object.entries(table).map(([name, definition]) => {
    const { allowEmptyValue, ...object } = parameterObject(name, definition)
    return definition.required !== undefined
      ? { ...object, required: true }
      : { ...object, allowEmptyValue }
  })
}
