import { ALL_ERRORS } from '#services/api/contract/errors'
import {
  type AnyErrorCode,
  inPath,
  type Json,
  json,
  operation,
  ref,
} from '#services/api/contract/openapi'
import { LIMITS } from '#services/api/contract/parameters'
import {
  ARTICLE_SCHEMA,
  COUNT,
  closedObject,
  count,
  dataOf,
  OK,
  OUTLET_SCHEMA,
  objectOf,
  TEXT,
  TIME,
  text,
  textOrNull,
  timeOrNull,
} from '#services/api/contract/resources'
import { FEED_FORMATS } from '#services/api/feeds/feed-address'
import { LANGUAGES } from '#shared/articles/article'
import { SEARCH_LIMITS } from './described.ts'
import { NEW_SCHEMA } from './new.ts'
import operations from './operations.json' with { type: 'json' }

/*
 * The part of `/explore/openapi.json` about kept searches, their feeds and alerts, and citations.
 * Each operation is a row of `operations.json`, by its tag. The row also decides the parts that
 * operations of a kind share.
 */

/** An operation of the owner of a key. Most of its errors follow from these fields. */
interface Owned {
  id: string
  summary: string
  description: string
  /** The name of the schema of the body. */
  takes?: string
  /** Successful answers by status. `types`: of the media types that are texts. */
  gives: Record<string, { description: string; schema?: string; types?: string[] }>
  /** Errors that this operation has beside the common ones. */
  errors?: string[]
  /** Formats that may stand in the path; absent: those of feeds. */
  formats?: string[]
  /** The operation needs no key. */
  isOpen?: boolean
}

/**
 * Errors that any operation may answer. The next lists are for operations with a key, with a body,
 * and with a search that the plan bounds.
 */
const OF_ALL = [
  'too_many_failed_attempts',
  'rate_limit_exceeded',
  'invalid_request',
  'service_unavailable',
] as const
const OF_THE_KEY = ['missing_token', 'invalid_token'] as const
const OF_A_BODY = ['body_too_slow', 'body_too_large', 'unsupported_body'] as const
const OF_THE_PLAN = ['country_not_included', 'history_not_included'] as const

/** @param operations by method and path */
function pathsOf(tag: string, operations: Record<string, Owned>): Json {
  const paths: Record<string, Json> = {}
  for (const [
    place,
    { id, takes, gives, errors = [], formats, isOpen, ...about },
  ] of Object.entries(operations)) {
    const [method = '', path = ''] = place.split(' ')
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
    const codes = new Set<string>([
      ...OF_ALL,
      'internal_error',
      ...(isOpen ? [] : OF_THE_KEY),
      ...(takes ? [...OF_A_BODY, ...OF_THE_PLAN] : []),
      ...(names.length > 0 ? ['not_found'] : []),
      ...errors,
    ])
    const isFeed = path.endsWith('{format}') && formats === undefined
    const described = operation(id, {
      tags: [tag],
      ...about,
      ...(isOpen ? { security: [] } : {}),
      ...(names.length > 0
        ? { parameters: names.map(name => inPath(name, schemaInPath(name, formats))) }
        : {}),
      ...(takes ? { requestBody: { required: true, content: json(takes) } } : {}),
      answers: Object.fromEntries(
        Object.entries(gives).map(([status, { description, schema, types = [] }]) => {
          const texts = isFeed && status === '200' ? FEED_TYPES : types
          const content = { ...(schema && json(schema)), ...textsOf(texts) }
          return [status, { description, ...(Object.keys(content).length > 0 && { content }) }]
        }),
      ),
      errors: ALL_CODES.filter(code => codes.has(code)),
    })
    paths[path] = { ...paths[path], [method]: described }
  }
  return paths
}

const ALL_CODES = Object.keys(ALL_ERRORS).filter((code): code is AnyErrorCode => code in ALL_ERRORS)

function schemaInPath(name: string, formats = Object.keys(FEED_FORMATS)): Json {
  if (name === 'digest') return { type: 'string', pattern: '^[0-9a-f]{64}$' }
  return name === 'format' ? { type: 'string', enum: formats } : TEXT
}

const FEED_TYPES = Object.values(FEED_FORMATS).map(({ contentType }) => contentType)

const textsOf = (contentTypes: string[]): Json =>
  Object.fromEntries(contentTypes.map(contentType => [contentType, { schema: TEXT }]))

const NAME = { type: 'string', maxLength: SEARCH_LIMITS.name } as const
const SEARCH = text(
  'A query string with the parameters of `/explore/articles.rss`, in one spelling.',
)
const LAST = timeOrNull('null until the first request.')
const FEED = objectOf({
  id: TEXT,
  title: { ...NAME, description: 'Its name in lists and in OPML.' },
  search: SEARCH,
  created_at: TIME,
  last_used_at: LAST,
  requests: count('Answers so far, errors among them.'),
})
const ADDRESS = { type: 'string', format: 'uri' } as const
const NEW_SEARCH = {
  type: 'string',
  maxLength: SEARCH_LIMITS.search,
  description:
    'A query string with the parameters of `/explore/articles.rss`, without `?`; empty: everything.',
}
const NEW_NAME = { ...NAME, description: "By default the feed's own title." }

/** A feed with its addresses. */
const MADE_FEED = {
  ...FEED.properties,
  url: {
    ...ADDRESS,
    description: 'The secret address, as RSS; shown in this answer and in OPML alone.',
  },
  urls: {
    ...objectOf(Object.fromEntries(Object.keys(FEED_FORMATS).map(format => [format, ADDRESS]))),
    description: 'The same secret in the addresses of all formats.',
  },
}

const FEEDS = { type: 'array', items: ref('schemas', 'Feed') } as const

/** The same members beside `data`, for one version. */
const deprecated = (properties: Record<string, object>) =>
  Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, { ...schema, deprecated: true }]),
  )

/** Schemas of the operations on feeds, for the components of a document. */
const FEED_SCHEMAS = {
  Feed: FEED,
  Feeds: objectOf({ status: OK, data: FEEDS, feeds: { ...FEEDS, deprecated: true } }),
  MadeFeed: objectOf({ status: OK, data: objectOf(MADE_FEED), ...deprecated(MADE_FEED) }),
  NewFeed: closedObject({ search: NEW_SEARCH, title: NEW_NAME }, ['title']),
}

/** docs/citations.md explains these members. */
const CITATION_PROPERTIES = {
  status: OK,
  address: TEXT,
  url: ADDRESS,
  digest: TEXT,
  search: TEXT,
  count: COUNT,
  cited_at: TIME,
  as_of: TIME,
  watermark: COUNT,
  rules: COUNT,
  ids_only: { type: 'boolean' },
  reach: objectOf({ countries: { type: 'array', items: TEXT }, since: TIME }),
  model: TEXT,
  bias: TEXT,
}
const CITATION_SCHEMA = objectOf(CITATION_PROPERTIES, ['model', 'bias'])
const CITED_ARTICLES_SCHEMA = objectOf(
  {
    ...CITATION_PROPERTIES,
    outside: count('Articles that your plan does not cover, or that were deleted.'),
    articles: { type: 'array', items: ARTICLE_SCHEMA },
  },
  ['model', 'bias'],
)

const orNull = (schema: string): Json => ({ anyOf: [ref('schemas', schema), { type: 'null' }] })

const POSITION = count('Its place in the list; places may be free.')

const WITHIN_DAYS = {
  type: ['integer', 'null'],
  minimum: 1,
  maximum: 3_650,
  description:
    'Tells only articles that were published so many days before they came, or without a date; null: all.',
}
const MAIL_LANGUAGE = { type: 'string', enum: [...LANGUAGES], description: 'Of its mails.' }

const SEARCH_SCHEMAS = {
  Search: objectOf({
    id: TEXT,
    name: NAME,
    search: SEARCH,
    position: POSITION,
    created_at: TIME,
    feed: orNull('Feed'),
    alert: orNull('Alert'),
  }),
  OneSearch: dataOf(ref('schemas', 'Search')),
  Searches: objectOf({
    status: OK,
    data: { type: 'array', items: ref('schemas', 'Search') },
    no_mail: textOrNull('Why alerts cannot write to addresses of mail; null: they can.'),
  }),
  NewSearch: closedObject({ search: NEW_SEARCH, name: NEW_NAME }, ['name']),
  ChangedSearch: {
    type: 'object',
    additionalProperties: false,
    properties: { search: NEW_SEARCH, name: NEW_NAME, position: POSITION },
  },
  WhatIsNew: NEW_SCHEMA,
  Marks: closedObject({
    marks: {
      type: 'object',
      additionalProperties: { type: ['string', 'null'] },
      description: 'By the id of a search, the mark that you keep for it; null: it begins now.',
    },
  }),
  Alert: objectOf(
    {
      to: text('An address that begins with `https://` or `mailto:`.'),
      when: text('`at once`, a local time as `08:00`, or a day and a time as `monday 08:00`.'),
      time_zone: TEXT,
      language: MAIL_LANGUAGE,
      published_within_days: WITHIN_DAYS,
      state: {
        type: 'string',
        enum: ['on', 'asked', 'rests'],
        description: 'asked: the owner has not agreed yet.',
      },
      reason: textOrNull('Why it rests, or what failed last.'),
      created_at: TIME,
      delivered_at: LAST,
      secret: text('Of the signatures; in the answer of PUT alone.'),
    },
    ['secret'],
  ),
  AlertOfSearch: dataOf(ref('schemas', 'Alert')),
  NewAlert: closedObject(
    {
      to: TEXT,
      when: TEXT,
      time_zone: TEXT,
      language: MAIL_LANGUAGE,
      published_within_days: WITHIN_DAYS,
    },
    ['time_zone', 'language', 'published_within_days'],
  ),
  FeedOfSearch: dataOf(ref('schemas', 'GivenFeed')),
  GivenFeed: { ...objectOf(MADE_FEED), properties: FEED_SCHEMAS.MadeFeed.properties },
}

const SET = objectOf({
  name: text('As it is written in `outlets`; small and capital letters are the same.'),
  domains: { type: 'array', items: TEXT },
  outlets: {
    type: 'array',
    items: OUTLET_SCHEMA,
    description: 'The same outlets with their names; null: `unknown`, or without a name.',
  },
  unknown: {
    type: 'array',
    items: TEXT,
    description: 'Domains that no outlet with articles of your plan has.',
  },
})

const SET_SCHEMAS = {
  OutletSet: dataOf(SET),
  OutletSets: dataOf({ type: 'array', items: SET }),
  NewOutletSet: {
    type: 'object',
    additionalProperties: false,
    minProperties: 1,
    maxProperties: 1,
    properties: {
      domains: { type: 'array', minItems: 1, maxItems: LIMITS.outlets, items: TEXT },
      name: text('Another name for a set that you have, in place of `domains`.'),
    },
  },
}

const OPERATIONS: Record<string, Record<string, Owned>> = operations

export const OWNED_OPERATIONS: Json = Object.assign(
  {},
  ...Object.entries(OPERATIONS).map(([tag, own]) => pathsOf(tag, own)),
)

export const OWNED_SCHEMAS: Json = {
  ...FEED_SCHEMAS,
  ...SEARCH_SCHEMAS,
  ...SET_SCHEMAS,
  Citation: CITATION_SCHEMA,
  CitedArticles: CITED_ARTICLES_SCHEMA,
  NewCitation: closedObject({ search: NEW_SEARCH }),
}
