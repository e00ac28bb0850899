import { COUNTRIES, LANGUAGES } from '#shared/articles/article'
import { isRecord } from '#shared/encoding/is-record'
import { ALL_ERRORS, type BesideErrorCode, ERROR_CODES, type ErrorCode } from './errors.ts'
import { guide, PAGE_EXAMPLE } from './guide.ts'
import {
  FLAGS,
  PARAMETER_NAMES,
  PARAMETERS,
  type Parameter,
  type ParameterName,
  parameterSchema,
} from './parameters.ts'
import { isList } from './query-string.ts'
import {
  ARTICLE_SCHEMA,
  AUTHOR_SCHEMA,
  ERROR_SCHEMA,
  HEADERS,
  type HeaderName,
  OUTLET_SCHEMA,
  PAGE_SCHEMA,
  PLAN_HEADERS,
} from './resources.ts'

export type Json = Record<string, unknown>

/**
 * The OpenAPI 3.1 document, printed from the definitions that requests are validated with. It names
 * no host, because its server is the host from which a client has loaded it.
 */
export function openApiDocument(serviceName: string): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: `${serviceName} article search`,
      version: '1.0.0',
      summary:
        'News from the Netherlands, Belgium and Luxembourg: by words, by a boolean grammar, by meaning.',
      description: guide(serviceName),
      license: { name: 'All rights reserved', url: '/docs' },
    },
    servers: [{ url: '/', description: 'Where this document came from.' }],
    security: [{ key: [] }],
    tags: [{ name: 'Articles', description: 'One search, as JSON or as a feed.' }],
    paths: {
      '/v1/articles': {
        get: searchOperation('listArticles', {
          summary: 'Search articles',
          description:
            'A page of the articles that match, newest first unless you say otherwise; without filters, the newest that your plan covers.',
          parameters: parameterRefs(PARAMETER_NAMES),
          description200: 'A page of articles.',
          content: {
            'application/json': { schema: ref('schemas', 'Page'), example: PAGE_EXAMPLE },
          },
        }),
      },
      '/v1/articles.rss': {
        get: searchOperation('articlesFeed', {
          summary: 'The same search as an RSS 2.0 feed',
          description:
            'One page of up to 100 items, for feed readers that can send a header. Errors are JSON, as everywhere.',
          parameters: parameterRefs(PARAMETER_NAMES.filter(name => name !== 'cursor')),
          description200: 'RSS 2.0.',
          content: FEED_CONTENT,
        }),
      },
    },
    components: {
      securitySchemes: SECURITY_SCHEMES,
      parameters: Object.fromEntries(PARAMETER_NAMES.map(name => [name, parameter(name)])),
      headers: headerObjects(),
      schemas: {
        Page: {
          ...openSchema(PAGE_SCHEMA),
          properties: { ...openSchema(PAGE_SCHEMA.properties), articles: ARTICLES },
        },
        Article: {
          ...openSchema(ARTICLE_SCHEMA),
          properties: {
            ...openSchema(ARTICLE_SCHEMA.properties),
            authors: { ...ARTICLE_SCHEMA.properties.authors, items: ref('schemas', 'Author') },
            outlet: ref('schemas', 'Outlet'),
          },
        },
        Author: openSchema(AUTHOR_SCHEMA),
        Outlet: openSchema(OUTLET_SCHEMA),
        Error: openSchema(ERROR_SCHEMA),
        ...enumSchemas(),
      },
    },
  }
}

/** Each enumeration is a schema of its own, so that generated clients have one type for it. */
const ENUMS = {
  Country: COUNTRIES,
  Language: LANGUAGES,
  SearchMode: PARAMETERS.search.values,
  SearchIn: PARAMETERS.search_in.values,
  Sort: PARAMETERS.sort.values,
  Order: PARAMETERS.order.values,
  Flag: Object.keys(FLAGS).sort().reverse(),
}

/**
 * The schemas of `ENUMS` without `unused`, for the components of a document. `openSchema` refers to
 * them.
 */
export const enumSchemas = (unused?: keyof typeof ENUMS): Json =>
  Object.fromEntries(
    Object.entries(ENUMS).flatMap(([name, values]) =>
      name === unused ? [] : [[name, { type: 'string', enum: values }]],
    ),
  )

const parameterRefs = (names: ParameterName[]): Json[] => names.map(name => ref('parameters', name))

const ARTICLES = {
  ...PAGE_SCHEMA.properties.articles,
  items: { $ref: '#/components/schemas/Article' },
}

/** All headers, for the components of a document. */
export const headerObjects = (): Json =>
  Object.fromEntries(
    Object.entries(HEADERS).map(([name, { type, about }]) => [
      name,
      { description: about, schema: { type } },
    ]),
  )

export const SECURITY_SCHEMES = {
  key: {
    type: 'http',
    scheme: 'bearer',
    description: 'Your API key, in `Authorization: Bearer <API_KEY>`.',
  },
}

const FEED_SCHEMA = {
  type: 'string',
  description: 'An RSS 2.0 document, sent as `application/rss+xml`.',
}
/**
 * The feed is also listed as `text/*`. Generators that do not know RSS would otherwise omit the
 * answer.
 */
export const FEED_CONTENT = {
  'application/rss+xml': { schema: FEED_SCHEMA },
  'text/*': { schema: FEED_SCHEMA },
}

export const ref = (kind: string, name: string): Json => ({
  $ref: `#/components/${kind}/${name}`,
})

/** The content of an answer, or of a body. */
export const json = (schema: string): Json => ({
  'application/json': { schema: ref('schemas', schema) },
})

export const inPath = (name: string, schema: Json): Json => ({
  in: 'path',
  name,
  required: true,
  schema,
})

/** An error code of the contract or beside it. */
export type AnyErrorCode = ErrorCode | BesideErrorCode

/** The part of a document about one operation. */
interface OperationAbout extends Json {
  summary: string
  description: string
  parameters?: Json[]
  /** Successful answers, by their status. */
  answers: Json
  errors: readonly AnyErrorCode[]
}

export function operation(operationId: string, about: OperationAbout): Json {
  const { answers, errors, ...more } = about
  const statuses = [...new Set(errors.map(code => ALL_ERRORS[code].status))]
  const failures = statuses.map(status => [status, failure(status, errors)])
  return { operationId, ...more, responses: { ...answers, ...Object.fromEntries(failures) } }
}

/** An operation with the headers, errors and conditional requests of the contract's operations. */
export function searchOperation(
  operationId: string,
  about: {
    summary: string
    description: string
    parameters: Json[]
    description200: string
    content: Json
    tag?: string
    mayBeMissing?: boolean
  },
): Json {
  const {
    summary,
    description,
    parameters,
    description200,
    content,
    tag = 'Articles',
    mayBeMissing = false,
  } = about
  const sent = headers(['X-Request-Id', ...PLAN_HEADERS, 'ETag', 'Cache-Control', 'Vary'])
  return operation(operationId, {
    tags: [tag],
    summary,
    description,
    parameters: [
      ...parameters,
      {
        name: 'If-None-Match',
        in: 'header',
        description: 'An `ETag` that you have; 304 when nothing changed.',
        schema: { type: 'string' },
      },
    ],
    answers: {
      200: { description: description200, headers: sent, content },
      304: {
        description: 'Nothing but the cursor has changed since the `ETag` that you sent.',
        headers: sent,
      },
    },
    // OpenAPI describes each method as an operation of its own, so no operation lists
    // `method_not_allowed`.
    errors: [
      ...ERROR_CODES.filter(
        code => (mayBeMissing || code !== 'not_found') && code !== 'method_not_allowed',
      ),
      ...(mayBeMissing ? (['article_removed'] as const) : []),
    ],
  })
}

/** The errors of one status. */
function failure(status: number, codes: readonly AnyErrorCode[]): Json {
  const here = codes.filter(code => ALL_ERRORS[code].status === status)
  const example = (code: AnyErrorCode) => ({
    status: 'error',
    code,
    message: ALL_ERRORS[code].message,
    ...(code === 'invalid_request'
      ? { errors: { per_page: ['Write a whole number from 1 to 100.'] } }
      : {}),
  })
  return {
    description: here.map(code => `\`${code}\`: ${ALL_ERRORS[code].when}`).join('\n\n'),
    headers: headers([
      'X-Request-Id',
      ...(status === 401 ? (['WWW-Authenticate'] as const) : PLAN_HEADERS),
      ...(status === 429 || status === 503 ? (['Retry-After'] as const) : []),
    ]),
    content: {
      'application/json': {
        schema: ref('schemas', 'Error'),
        examples: Object.fromEntries(here.map(code => [code, { value: example(code) }])),
      },
    },
  }
}

const headers = (names: HeaderName[]) =>
  Object.fromEntries(names.map(name => [name, ref('headers', name)]))

const parameter = (name: ParameterName): Json => parameterObject(name, PARAMETERS[name])

export function parameterObject(name: string, definition: Parameter): Json {
  return {
    name,
    in: 'query',
    description: definition.about,
    // An empty value counts as not given.
    allowEmptyValue: true,
    schema: openSchema(parameterSchema(definition)),
    ...(isList(definition) ? { style: 'form', explode: false } : {}),
  }
}

/**
 * A schema for readers, without `additionalProperties: false` at any depth: fields may be added
 * within /v1 (decision 38), so a client must not refuse them. The tests hold our own answers
 * against the closed schema. An enumeration that has a schema of its own is a reference to it.
 */
export function openSchema(schema: object): Json {
  const { type: _, enum: values, ...more }: Json = { ...schema }
  const [name] = Object.entries(ENUMS).find(([, named]) => String(named) === String(values)) ?? []
  if (name !== undefined) return { ...ref('schemas', name), ...more }
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([name, value]) => name !== 'additionalProperties' || value !== false)
      .map(([name, value]) => [name, isRecord(value) ? openSchema(value) : value]),
  )
}
