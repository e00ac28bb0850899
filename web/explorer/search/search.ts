import type { Order, SearchIn, SearchMode, Sort } from '#services/api/contract/parameters'
import {
  ACCESSES,
  type Access,
  COUNTRIES,
  type Country,
  KINDS,
  type Kind,
  LANGUAGES,
  type Language,
} from '#shared/articles/article'

/** A search in the form of the page: all parameters of the API except those of paging. */
export interface Search {
  q: string
  mode: SearchMode
  searchIn: SearchIn
  /** Empty: all countries. */
  countries: Country[]
  languages: Language[]
  /** null: articles with and without an author. */
  hasAuthor: boolean | null
  outlet: string
  /** Exact domains and names of sets, separated by commas. */
  outlets: string
  author: string
  /** What the outlet says: its own word, whole; empty: any. */
  section: string
  kinds: Kind[]
  access: Access | null
  /** A day or a date-time, in the form of the API. */
  publishedAfter: string
  publishedBefore: string
  /** null: the default order of the mode. */
  sort: Sort | null
  order: Order
}

/** The content of the box, which may not be searched yet. */
export type Draft = Pick<Search, 'q' | 'mode'>

export const MODES: readonly SearchMode[] = ['keyword', 'boolean', 'expression', 'semantic']

/** The search of a page without parameters: everything, newest first. */
export const NEW_SEARCH: Search = {
  q: '',
  mode: 'keyword',
  searchIn: 'title_body',
  countries: [],
  languages: [],
  hasAuthor: null,
  outlet: '',
  outlets: '',
  author: '',
  section: '',
  kinds: [],
  access: null,
  publishedAfter: '',
  publishedBefore: '',
  sort: null,
  order: 'desc',
}

/**
 * Reads the parameters of the page's address, which are those of the API. Values that the API does
 * not know are left out.
 */
export function readSearch(parameters: URLSearchParams): Search {
  const text = (name: string) => parameters.get(name)?.trim() ?? ''
  const list = <T extends string>(name: string, values: readonly T[]) => {
    const written = new Set(parameters.getAll(name).flatMap(value => value.split(',')))
    return values.filter(value => written.has(value))
  }
  const hasAuthor = oneOf(['true', 'false'], text('has_author'))
  const mode = oneOf(MODES, text('search')) ?? 'keyword'
  return {
    q: text('q'),
    mode,
    searchIn: oneOf(['title', 'title_body'] as const, text('search_in')) ?? NEW_SEARCH.searchIn,
    countries: list('country', COUNTRIES),
    languages: list('language', LANGUAGES),
    hasAuthor: hasAuthor === null ? null : hasAuthor === 'true',
    outlet: text('outlet'),
    outlets: [...parameters.getAll('outlets'), ...parameters.getAll('outlets[]')].join(','),
    author: text('author'),
    section: text('section'),
    kinds: list('kind', KINDS),
    access: oneOf(ACCESSES, text('access')),
    publishedAfter: text('published_after'),
    publishedBefore: text('published_before'),
    sort: oneOf(['published_at', 'ingested_at', 'relevance'] as const, text('sort')),
    order: oneOf(['asc', 'desc'] as const, text('order')) ?? 'desc',
  }
}

/**
 * Reads a search that the API has stored. It leaves out `search_in` where that is the API's own
 * default, which differs from the page's: titles alone, but for an expression. It writes times
 * without the fraction that the page writes.
 */
export function readStored(stored: string): Search {
  const parameters = new URLSearchParams(stored)
  const read = readSearch(parameters)
  const search = {
    ...read,
    publishedAfter: spelt(read.publishedAfter),
    publishedBefore: spelt(read.publishedBefore),
  }
  const isDefault = !parameters.has('search_in') && search.q !== ''
  return isDefault && /^(keyword|boolean)$/.test(search.mode)
    ? { ...search, searchIn: 'title' }
    : search
}

/** A time in the spelling of the page; a day stays a day. */
const spelt = (bound: string) =>
  bound.includes('T') && !Number.isNaN(Date.parse(bound)) ? new Date(bound).toISOString() : bound

const oneOf = <T extends string>(values: readonly T[], text: string): T | null =>
  values.find(value => value === text) ?? null

/** The parameters for the API. Empty fields and most defaults of the API are left out. */
export function writeSearch(search: Search): URLSearchParams {
  const { mode, searchIn, hasAuthor, sort, order } = search
  const written: [name: string, value: string][] = [
    ['q', search.q.trim()],
    ['search', mode === 'keyword' ? '' : mode],
    // Without words, it does not matter where words are searched.
    ['search_in', mode === 'semantic' || search.q.trim() === '' ? '' : searchIn],
    ['country', search.countries.join(',')],
    ['language', search.languages.join(',')],
    ['has_author', hasAuthor === null ? '' : String(hasAuthor)],
    ['outlet', search.outlet.trim()],
    ['outlets', [...new Set(entriesOf(search.outlets))].sort().join()],
    ['author', search.author.trim()],
    ['section', search.section.trim()],
    ['kind', search.kinds.join(',')],
    ['access', search.access ?? ''],
    ['published_after', search.publishedAfter],
    ['published_before', search.publishedBefore],
    ['sort', sort === null || (sort === 'relevance' && mode !== 'semantic') ? '' : sort],
    ['order', order === 'desc' ? '' : order],
  ]
  return new URLSearchParams(written.filter(([, value]) => value !== ''))
}

/** The outlets of a search as the API has them: domains, and names of sets, in small letters. */
export const entriesOf = (outlets: string): string[] =>
  outlets
    .toLowerCase()
    .split(',')
    .map(one => one.trim())
    .filter(one => one !== '')

/** Names of sets have no dot. */
export const isDomain = (entry: string): boolean => /^[^\s.]+(\.[^\s.]+)+$/.test(entry.trim())

/** The operation of the API for a search: `/explore/articles` if `/v1` would refuse it. */
export const operationOf = ({ mode, outlets, section, kinds, access }: Search): string =>
  mode === 'expression' || outlets + section !== '' || kinds.length > 0 || access !== null
    ? BESIDE
    : '/v1/articles'

/** Its articles also have what outlets say of them. */
export const BESIDE = '/explore/articles'

/**
 * The address of the page with this search. Commas stay readable, because people see the address.
 */
export function addressOf(search: Search): string {
  const parameters = writeSearch(search)
  // The address has this parameter even without words, so that a reload keeps the choice.
  if (search.mode !== 'semantic' && search.searchIn !== NEW_SEARCH.searchIn)
    parameters.set('search_in', search.searchIn)
  const query = String(parameters).replaceAll('%2C', ',').replaceAll('%3A', ':')
  return query === '' ? '/' : `/?${query}`
}

/** What a search asks, in whatever order it shows the answer: its address without the order. */
export const questionOf = (search: Search): string =>
  addressOf({ ...search, sort: null, order: NEW_SEARCH.order })

/** The parameter of the address, and of counts, by which each text is shown once. */
export const ONCE = 'texts'

export const isSame = (one: Search, other: Search): boolean => addressOf(one) === addressOf(other)

/** Ways to use a search outside of this page. */
export const WAYS = ['keep', 'tell', 'download', 'code', 'cite', 'compare'] as const
export type Way = (typeof WAYS)[number]
