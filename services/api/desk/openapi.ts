import { LANGUAGES } from '../../../shared/articles/article.ts'
import { ALL_ERRORS } from '../contract/errors.ts'
import { type AnyErrorCode, inPath, type Json, json, operation, ref } from '../contract/openapi.ts'
import { LIMITS } from '../contract/parameters.ts'
import {
  ARTICLE_SCHEMA,
  COUNT,
  closedObject,
  count,
  dataOf,
  OK,
  objectOf,
  TEXT,
  TIME,
  text,
  textOrNull,
  timeOrNull,
} from '../contract/resources.ts'
import { FEED_FORMATS } from '../feeds/feed-address.ts'
import { SEARCH_LIMITS } from './described.ts'
import { NEW_SCHEMA } from './new.ts'

/*
 * The part of `/explore/openapi.json` about kept searches, their feeds and alerts, and citations.
 * Each operation is a row of a table. The row also decides the parts that operations of a kind
 * share.
 */

/** An operation of the owner of a key. Its tag and most of its errors follow from these fields. */
interface Owned {
  id: string
  summary: string
  description: string
  /** The name of the schema of the body. */
  takes?: string
  /** Successful answers by status: a description, and the content. */
  gives: Record<number, [description: string, content?: Json]>
  /** Errors that this operation has beside the common ones. */
  errors?: AnyErrorCode[]
  /** Formats that may stand in the path. */
  formats?: string[]
  /** The operation needs no key. */
  isOpen?: true
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
    const codes = new Set<AnyErrorCode>([
      ...OF_ALL,
      'internal_error',
      ...(isOpen ? [] : OF_THE_KEY),
      ...(takes ? [...OF_A_BODY, ...OF_THE_PLAN] : []),
      ...(names.length > 0 ? (['not_found'] as const) : []),
      ...errors,
    ])
    const described = operation(id, {
      tags: [tag],
      ...about,
      ...(isOpen ? { security: [] } : {}),
      ...(names.length > 0
        ? { parameters: names.map(name => inPath(name, schemaInPath(name, formats))) }
        : {}),
      ...(takes ? { requestBody: { required: true, content: json(takes) } } : {}),
      answers: Object.fromEntries(
        Object.entries(gives).map(([status, [description, content]]) => [
          status,
          { description, ...(content && { content }) },
        ]),
      ),
      errors: ALL_CODES.filter(code => codes.has(code)),
    })
    paths[path] = { ...paths[path], [method]: described }
  }
  return paths
}

const ALL_CODES = Object.keys(ALL_ERRORS).filter((code): code is AnyErrorCode => code in ALL_ERRORS)

function schemaInPath(name: string, formats: string[] | undefined): Json {
  if (name === 'digest') return { type: 'string', pattern: '^[0-9a-f]{64}$' }
  return name === 'format' ? { type: 'string', enum: formats } : TEXT
}

function texts(contentTypes: string[]): Json {
  return Object.fromEntries(contentTypes.map(contentType => [contentType, { schema: TEXT }]))
}

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

const CITATION_OPERATIONS: Record<string, Owned> = {
  'post /explore/citations': {
    id: 'cite',
    summary: 'Cite a search',
    description:
      'The same search with the same result has the same address. At most 100,000 articles.',
    takes: 'NewCitation',
    gives: {
      200: ['The citation, which existed.', json('Citation')],
      201: ['The citation.', json('Citation')],
    },
    errors: ['quota_exceeded', 'semantic_search_unavailable', 'too_many_citations'],
  },
  'get /cite/{digest}.{format}': {
    id: 'citedArticles',
    summary: 'The articles of a citation',
    description:
      'Those that your plan covers, as JSON, CSV, BibTeX or RIS. `/cite/{digest}` is its page, for anybody.',
    formats: ['json', 'csv', 'bib', 'ris'],
    gives: {
      200: [
        'The articles.',
        {
          ...json('CitedArticles'),
          ...texts(['text/csv', 'application/x-bibtex', 'application/x-research-info-systems']),
        },
      ],
    },
    errors: ['quota_exceeded'],
  },
}

const FEED_OPERATIONS: Record<string, Owned> = {
  'get /explore/feeds': {
    id: 'listFeeds',
    summary: 'List the feeds of your key',
    description: 'Those in force, oldest first, without their addresses.',
    gives: { 200: ['The feeds.', json('Feeds')] },
  },
  'post /explore/feeds': {
    id: 'makeFeed',
    summary: 'Make a feed of a search',
    description:
      'Whoever knows its address reads the feed, at the cost of your key. Treat it as a password.',
    takes: 'NewFeed',
    gives: { 201: ['The feed.', json('MadeFeed')] },
    errors: ['too_many_searches', 'too_many_feeds'],
  },
  'delete /explore/feeds/{id}': {
    id: 'endFeed',
    summary: 'End a feed',
    description: 'At once and for good; again, for one that has ended, is no error.',
    gives: { 204: ['It has ended.'] },
  },
  'get /explore/feeds.opml': {
    id: 'feedsAsOpml',
    summary: 'The addresses of all feeds of your key',
    description: 'OPML 2.0, which feed readers import. It holds secrets.',
    gives: { 200: ['OPML 2.0.', texts(['text/x-opml'])] },
  },
  'get /feeds/{token}.{format}': {
    id: 'readFeed',
    summary: 'A feed, for feed readers',
    description:
      'The answer of `/explore/articles.rss` to the search of the feed, at the cost of its key: as RSS 2.0, Atom or JSON Feed. Needs no header.',
    isOpen: true,
    formats: Object.keys(FEED_FORMATS),
    gives: {
      200: ['The feed.', texts(Object.values(FEED_FORMATS).map(({ contentType }) => contentType))],
      304: ['Nothing has changed.'],
    },
    errors: ['feed_ended', 'quota_exceeded', ...OF_THE_PLAN, 'semantic_search_unavailable'],
  },
}

const orNull = (schema: string): Json => ({ anyOf: [ref('schemas', schema), { type: 'null' }] })

const POSITION = count('Its place in the list; places may be free.')

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
  Searches: dataOf({ type: 'array', items: ref('schemas', 'Search') }),
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
  NewAlert: closedObject({ to: TEXT, when: TEXT, time_zone: TEXT, language: MAIL_LANGUAGE }, [
    'time_zone',
    'language',
  ]),
  FeedOfSearch: dataOf(ref('schemas', 'GivenFeed')),
  GivenFeed: { ...objectOf(MADE_FEED), properties: FEED_SCHEMAS.MadeFeed.properties },
}

const SET = objectOf({
  name: text('As it is written in `outlets`; small and capital letters are the same.'),
  domains: { type: 'array', items: TEXT },
  unknown: {
    type: 'array',
    items: TEXT,
    description: 'Domains that no outlet with articles of your plan has.',
  },
})

const SET_SCHEMAS = {
  OutletSet: dataOf(SET),
  OutletSets: dataOf({ type: 'array', items: SET }),
  NewOutletSet: closedObject({
    domains: { type: 'array', minItems: 1, maxItems: LIMITS.outlets, items: TEXT },
  }),
}

const SET_OPERATIONS: Record<string, Owned> = {
  'get /explore/outlet-sets': {
    id: 'listOutletSets',
    summary: 'List the sets of outlets of your key',
    description: 'By name.',
    gives: { 200: ['The sets.', json('OutletSets')] },
  },
  'put /explore/outlet-sets/{name}': {
    id: 'putOutletSet',
    summary: 'Name some outlets, or change the outlets of a name',
    description:
      '`outlets=<name>` then means them, in searches, kept searches, feeds and alerts, which follow each change. A key has 100 sets.',
    takes: 'NewOutletSet',
    gives: {
      200: ['The set, changed.', json('OutletSet')],
      201: ['A new set.', json('OutletSet')],
    },
    errors: ['too_many_searches'],
  },
  'delete /explore/outlet-sets/{name}': {
    id: 'removeOutletSet',
    summary: 'Remove a set of outlets',
    description: 'Not while a kept search names it (422).',
    gives: { 204: ['It is gone.'] },
  },
}

/** The operations on kept searches, and the limits of the key. */
const SEARCH_OPERATIONS: Record<string, Owned> = {
  'get /explore/searches': {
    id: 'listSearches',
    summary: 'List the searches that your key keeps',
    description: 'In their order.',
    gives: { 200: ['The searches.', json('Searches')] },
  },
  'post /explore/searches': {
    id: 'keepSearch',
    summary: 'Keep a search',
    description: 'At the end of the list. A key keeps 200.',
    takes: 'NewSearch',
    gives: { 201: ['The search.', json('OneSearch')] },
    errors: ['too_many_searches'],
  },
  'post /explore/searches/new': {
    id: 'whatIsNew',
    summary: 'How many articles are new to kept searches',
    description: 'Since the mark of each. Nothing is stored: keep the marks where they are read.',
    takes: 'Marks',
    gives: { 200: ['What is new.', json('WhatIsNew')] },
    errors: ['quota_exceeded'],
  },
  'patch /explore/searches/{id}': {
    id: 'changeSearch',
    summary: 'Change a kept search',
    description: 'Its feed keeps its address.',
    takes: 'ChangedSearch',
    gives: { 200: ['The search.', json('OneSearch')] },
  },
  'delete /explore/searches/{id}': {
    id: 'removeSearch',
    summary: 'Remove a kept search',
    description: 'Its feed ends.',
    gives: { 204: ['It is gone.'] },
  },
  'put /explore/searches/{id}/feed': {
    id: 'feedOfSearch',
    summary: 'Give a kept search a feed, or read the addresses of the one that it has',
    description: 'Its addresses are secrets.',
    gives: {
      200: ['The feed that it has.', json('FeedOfSearch')],
      201: ['A new feed.', json('FeedOfSearch')],
    },
    errors: ['too_many_feeds'],
  },
  'delete /explore/searches/{id}/feed': {
    id: 'endFeedOfSearch',
    summary: 'End the feed of a kept search',
    description: 'At once and for good.',
    gives: { 204: ['It has none.'] },
  },
  'put /explore/searches/{id}/alert': {
    id: 'alertOfSearch',
    summary: 'Have somebody told what is new to a kept search',
    description: 'By a signed webhook or by mail. One message costs one of the month.',
    takes: 'NewAlert',
    gives: {
      200: ['The alert, changed.', json('AlertOfSearch')],
      201: ['A new alert.', json('AlertOfSearch')],
    },
  },
  'delete /explore/searches/{id}/alert': {
    id: 'endAlertOfSearch',
    summary: 'End the alert of a kept search',
    description: 'Nothing more is told.',
    gives: { 204: ['It has none.'] },
  },
  'get /explore/limits': {
    id: 'limits',
    summary: 'What your plan has, and what is left of minute and month',
    description: 'Costs one of the minute; answers when the month is used up.',
    gives: { 200: ['The limits.', json('Limits')] },
  },
}

export const OWNED_OPERATIONS: Json = {
  ...pathsOf('Searches', SEARCH_OPERATIONS),
  ...pathsOf('Outlet sets', SET_OPERATIONS),
  ...pathsOf('Citations', CITATION_OPERATIONS),
  ...pathsOf('Feeds', FEED_OPERATIONS),
}

export const OWNED_SCHEMAS: Json = {
  ...FEED_SCHEMAS,
  ...SEARCH_SCHEMAS,
  ...SET_SCHEMAS,
  Citation: CITATION_SCHEMA,
  CitedArticles: CITED_ARTICLES_SCHEMA,
  NewCitation: closedObject({ search: NEW_SEARCH }),
}
