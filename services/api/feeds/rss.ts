import { type Asking, findArticles, plannedOf, type Searches } from '#services/api/articles/find'
import {
  articleIn,
  digestOf,
  type Listed,
  type Piece,
  pieceOf,
} from '#services/api/articles/shown-article'
import { LIMITS } from '#services/api/contract/parameters'
import {
  type ArticlesRequest,
  appliedFilters,
  inWords,
  type ReadRequest,
  searchOf,
  titleOf,
} from '#services/api/contract/request'
import type { ArticleObject } from '#services/api/contract/resources'
import type { Answer, Content } from '#services/api/http/answer'
import { pageOf } from '#shared/desk/searches'

/*
 * A feed is the first page of a search in XML. Items are made once for each article and kept beside
 * its JSON, so a poll writes a head and joins bytes.
 */

/**
 * `GET /v1/articles.rss` and `/explore/articles.rss`: the first page of the same query as RSS 2.0.
 *
 * @param path of the operation
 * @param read how the operation reads its requests
 * @throws ApiError
 */
export async function answerFeed(
  asking: Asking,
  identity: FeedIdentity,
  path: string,
  read: ReadRequest,
): Promise<Answer> {
  const found = await findForFeed(asking, read)
  return { ...rssOf(asking.searches.index, identity, found, path), ...aboutSearch(found) }
}

/** The data from which a feed is written. */
interface FoundForFeed {
  request: ArticlesRequest
  rows: readonly Listed[]
  /** ms that the search took. */
  ms: number
}

/**
 * @param items number of items of the feed when its search gives no `per_page`
 * @param leastOf the lowest relevance of an item of a search by meaning, by its words
 * @throws ApiError
 */
export async function findForFeed(
  { searches, rawQuery, plan }: Asking,
  read: ReadRequest,
  items: number = LIMITS.perPage.default,
  leastOf: (words: string) => number = () => 0,
): Promise<FoundForFeed> {
  const request = read(rawQuery, 'feed')
  const asked =
    request.perPage === LIMITS.perPage.default ? { ...request, perPage: items } : request
  const { question } = request
  const least = question.search === 'semantic' ? leastOf(question.q) : 0
  const { rows, ms } = await findArticles(searches, plannedOf(asked, plan), null, least)
  return { request, rows, ms }
}

/** What a line of the log says of the search of a feed. */
interface AboutSearch {
  search: FoundForFeed['request']['question']['search']
  searchMs: number
  isEmpty: boolean
}

export const aboutSearch = ({ request, rows, ms }: FoundForFeed): AboutSearch => ({
  search: request.question.search,
  searchMs: ms,
  isEmpty: rows.length === 0,
})

/** The feed as RSS 2.0. */
export function rssOf(
  index: Pick<Searches['index'], 'recount'>,
  identity: FeedIdentity,
  { request, rows }: FoundForFeed,
  own: OwnFeed | string,
): Content {
  makeItems(index, rows)
  // The ETag does not cover our own address. Processes may be set to different addresses, but must
  // send the same ETag (decision 30).
  const head = writeHead({ ...identity, publicUrl: '' }, request, rows, own)
  return {
    contentType: 'application/rss+xml; charset=UTF-8',
    tagged: `${head}${typeof own === 'string' ? '' : 'with sources'}${digestOf(rows, itemPiece)}`,
    untagged: () => identity.publicUrl,
    body: publicUrl =>
      feedBody(
        writeHead({ ...identity, publicUrl }, request, rows, own),
        rows,
        typeof own !== 'string',
      ),
  }
}

/** The publisher of the feed. */
export interface FeedIdentity {
  serviceName: string
  /** Address of the API as its clients write it, without a slash at its end. */
  publicUrl: string
  /** The namespace of the prefix `pc`. */
  namespace: string
}

/**
 * A feed with a secret address. Its links lead to the page where people see the search. No link
 * contains the secret address, because people share items and copy caches.
 */
interface OwnFeed {
  title: string
}

/**
 * Minutes that a reader may wait before it asks again. Articles come all the time, and readers of
 * feeds need not have each at once.
 */
const TTL = 15

// A feed's language (RSS 2.0, W3C codes) when a country alone decides it.
const COUNTRY_LANGUAGE = { NL: 'nl-nl', BE: 'nl-be', LU: 'lb-lu' } as const

/** The end of the document, after its items. */
const END = '  </channel>\n</rss>\n'

/**
 * Writes RSS 2.0 (decisions 30–32) up to its items. The head holds no time of writing, so equal
 * articles give equal bytes.
 *
 * @param own the feed with a secret address, or the path of the operation
 */
export function writeHead(
  identity: FeedIdentity,
  request: ArticlesRequest,
  articles: readonly Listed[],
  own: OwnFeed | string,
): string {
  const channel: XmlElement = {
    name: 'channel',
    content: channelOf(identity, request, articles, own),
  }
  const document = writeXml({
    name: 'rss',
    attributes: {
      version: '2.0',
      'xmlns:atom': 'http://www.w3.org/2005/Atom',
      'xmlns:pc': identity.namespace,
    },
    content: [channel],
  })
  return document.slice(0, -END.length)
}

/** The whole document: its head, and the items as they are kept. */
export function feedBody(head: string, articles: readonly Listed[], withSources: boolean): Buffer {
  const parts = [Buffer.from(head)]
  for (const article of articles) addItem(parts, article, withSources)
  parts.push(Buffer.from(END))
  return Buffer.concat(parts)
}

function channelOf(
  { serviceName, publicUrl }: FeedIdentity,
  request: ArticlesRequest,
  articles: readonly Listed[],
  own: OwnFeed | string,
): XmlElement[] {
  const filters = appliedFilters(request)
  const filtered = inWords(filters)
  const search = searchOf(request, filters)
  const isOwn = typeof own !== 'string'
  const endpoint = `${publicUrl}${isOwn ? '' : own}`
  const address = search === '' ? endpoint : `${endpoint}?${search}`
  const self = { href: address, rel: 'self', type: 'application/rss+xml' }
  const latest = Math.max(...articles.map(({ time }) => time ?? Number.NEGATIVE_INFINITY))
  return [
    text('title', isOwn ? own.title : titleOf(serviceName, request, filters)),
    text('link', isOwn ? pageOf(publicUrl, search) : endpoint),
    text(
      'description',
      `News from the Netherlands, Belgium and Luxembourg.${filtered === '' ? '' : ` Filters: ${filtered}`}`,
    ),
    ...(isOwn ? [] : [{ name: 'atom:link', attributes: self }]),
    ...optional('language', languageOf(request)),
    ...optional('lastBuildDate', Number.isFinite(latest) ? new Date(latest).toUTCString() : null),
    text('ttl', String(TTL)),
  ]
}

function languageOf({ languages, countries }: ArticlesRequest): string | null {
  if (languages?.length === 1) return languages[0]!
  const only = countries?.length === 1 ? countries[0] : undefined
  return only ? COUNTRY_LANGUAGE[only] : null
}

/** The indentation of items, which are two levels deep in the document. */
const INDENT = '    '
const AFTER_ITEM = Buffer.from(`${INDENT}</item>\n`)

/**
 * Makes the items of articles that no feed has shown yet, and counts their bytes in the cache of
 * the index.
 */
function makeItems(index: Pick<Searches['index'], 'recount'>, articles: readonly Listed[]): void {
  const without = articles.filter(({ pieces }) => pieces.item === null)
  for (const { pieces } of without) pieces.item = makeItem(pieces.json)
  if (without.length > 0) index.recount(without.map(({ seq }) => seq))
}

/** Makes the item of an article from its JSON. */
export const makeItem = (json: Piece): Piece =>
  pieceOf(writeElement(itemOf(articleIn(json)), INDENT))

/** The item that `makeItems` has made. */
function itemPiece({ pieces }: Listed): Piece {
  if (pieces.item === null) throw new Error('The item has not been made.')
  return pieces.item
}

/** Adds the bytes of an article's item, with its relevance and its source where it has them. */
function addItem(parts: Buffer[], article: Listed, withSource: boolean): void {
  const { bytes } = itemPiece(article)
  const { relevance } = article
  const more = [
    ...(withSource ? sourceOf(article) : []),
    ...(relevance === undefined ? [] : [text('pc:relevance', String(relevance))]),
  ]
  if (more.length === 0) parts.push(bytes)
  else {
    const written = more.map(element => writeElement(element, `${INDENT}  `)).join('')
    parts.push(bytes.subarray(0, -AFTER_ITEM.length), Buffer.from(written), AFTER_ITEM)
  }
}

/**
 * The outlet as the `source` of an item. RSS requires its address, so an outlet without a domain
 * has no `source`.
 */
function sourceOf({ pieces }: Listed): XmlElement[] {
  const { name, domain } = articleIn(pieces.json).outlet
  return domain === null
    ? []
    : [{ name: 'source', attributes: { url: `https://${domain}/` }, content: name ?? domain }]
}

function itemOf(article: ArticleObject): XmlElement {
  const { name, domain } = article.outlet
  const outlet: XmlElement = {
    name: 'pc:outlet',
    ...(domain === null ? {} : { attributes: { domain } }),
    content: name ?? '',
  }
  return {
    name: 'item',
    content: [
      text('title', article.title),
      text('link', article.url),
      { name: 'guid', attributes: { isPermaLink: 'false' }, content: article.id },
      // A date of RFC 822, but with four digits for the year, as RSS 2.0 allows.
      ...optional('pubDate', article.published_at && new Date(article.published_at).toUTCString()),
      ...optional('author', article.authors.map(author => author.name).join(', ') || null),
      ...(name === null && domain === null ? [] : [outlet]),
      text('pc:country', article.country),
    ],
  }
}

/** An element: its attributes, and either text or elements. */
export interface XmlElement {
  name: string
  attributes?: Record<string, string>
  content?: string | XmlElement[]
}

const text = (name: string, content: string): XmlElement => ({ name, content })

/** The element, unless its content is null. */
const optional = (name: string, content: string | null): XmlElement[] =>
  content === null ? [] : [{ name, content }]

/**
 * Writes an XML 1.0 document, indented by two spaces. The document is well-formed for any text. A
 * parser returns the texts unchanged, but without the characters that XML forbids (§2.2, also half
 * a surrogate pair). Line ends that a parser would change are written as references (§2.11,
 * §3.3.3).
 */
export function writeXml(root: XmlElement): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${writeElement(root, '')}`
}

/** Writes an element and what it contains, by the rules of `writeXml`. */
function writeElement({ name, attributes = {}, content = '' }: XmlElement, indent: string): string {
  const start = Object.entries(attributes).reduce(
    (tag, [key, value]) => `${tag} ${key}="${quoted(value)}"`,
    `${indent}<${name}`,
  )
  if (content.length === 0) return `${start}/>\n`
  if (typeof content === 'string') return `${start}>${escaped(content)}</${name}>\n`
  const children = content.map(child => writeElement(child, `${indent}  `)).join('')
  return `${start}>\n${children}${indent}</${name}>\n`
}

/** The text without the characters that XML forbids. */
export const carried = (text: string): string => text.replace(FORBIDDEN, '')

const FORBIDDEN = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu

const REFERENCES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
}

/**
 * Matches a text in which no character must be replaced. Most texts match, and this test is faster
 * than a replacement.
 */
const PLAIN = /^[\t\n\x20-%'-;=?-\ud7ff\ue000-\ufffd]*$/

// XML forbids `]]>` in a text, so `>` is escaped, too.
const escaped = (text: string) =>
  PLAIN.test(text)
    ? text
    : carried(text).replace(/[&<>\r]/g, character => REFERENCES[character] ?? character)

const quoted = (text: string) =>
  carried(text).replace(/[&<>"\t\n\r]/g, character => REFERENCES[character] ?? character)
