import { addressKey, readAddress } from '#shared/articles/address'
import { decodeText } from '#shared/encoding/decode'
import { isRecord } from '#shared/encoding/is-record'
import { isDeep, parseJson } from '#shared/encoding/json'
import type { FeedEntry } from '#shared/outlets/page'
import { begin } from '#shared/threads/clock'
import type { Timed } from '#shared/threads/threads'
import { MAX_AUTHORS, MAX_ENTRIES, readEntries, withoutCdata } from './entries.ts'
import {
  EMPTY_ENTRY,
  EMPTY_FEED,
  type Feed,
  type FeedFormat,
  nextPage,
  type RawEntry,
  type SitemapPart,
} from './feed.ts'
import { decodeEntities, type FeedElement, readMarkup } from './markup.ts'
import {
  readSitemap,
  readSitemapIndex,
  readTextSitemap,
  recentEntries,
  recentParts,
} from './sitemaps.ts'

/**
 * Reads any feed or sitemap: RSS 0.9x, 1.0, 2.0, Atom, RDF, JSON Feed, (news) sitemaps and their
 * indexes. Null: the text is no feed and no sitemap. Never throws. Foreign bytes are parsed in a
 * thread (`parser.ts`).
 *
 * @param base the address of the document
 */
export function parseFeed(text: string, base: string | null): Feed | null {
  const listed = readTextSitemap(text)
  if (listed !== null) return listed
  const start = text.slice(0, 1_000)
  if (/^\s*[{[]/.test(start) || /jsonfeed\.org\/version/.test(start)) {
    // Some servers write a comment before the feed, or a call around it.
    const feed = readJsonFeed(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1), base)
    if (feed !== null) return feed
  }
  const markup = readMarkup(text, base)
  const top = findTop(markup.root)
  if (top === null) return null
  switch (top.name.replace(/^.*:/, '')) {
    case 'urlset':
      return readSitemap(markup, top)
    case 'sitemapindex':
      return readSitemapIndex(markup, top)
    case 'feed':
      return readEntries(markup, top, 'atom')
    case 'rss':
    case 'channel':
      return readEntries(markup, top, 'rss')
    default:
      return readEntries(markup, top, 'rdf')
  }
}

/** Finds the outermost element of a feed. Some servers put other elements around it. */
function findTop(root: FeedElement): FeedElement | null {
  let level = [root]
  for (let depth = 0; depth < 4 && level.length > 0; depth += 1) {
    level = level.flatMap(element => element.children).slice(0, 1_000)
    const top = level.find(({ name }) => TOPS.has(name))
    if (top !== undefined) return top
  }
  return null
}

const TOPS = new Set([
  'rss',
  'rdf:rdf',
  'rdf',
  'feed',
  'atom:feed',
  'channel',
  'urlset',
  'sitemapindex',
])

/** A decompressed document. */
export interface ParseTask {
  bytes: Uint8Array
  contentType: string | null
  /** The address of the document. */
  url: string
  /** Takes old entries and parts of sitemaps, too. */
  old?: boolean
}

/**
 * The content of a feed or sitemap. The size of the document limits its size, and so do limits for
 * each field.
 */
export interface ParsedFeed {
  format: FeedFormat
  /** The addresses that we take, without duplicates, in the feed's order. */
  named: Named[]
  /** The parts of an index that can hold news, the most promising first. */
  parts: SitemapPart[]
  /** The next page of a paged feed. */
  next: string | null
  licence: string | null
  /** The number of addresses or parts in the document, including those that we do not take. */
  total: number
  /** The latest date in the document (ISO 8601), or null. */
  newest: string | null
  /** False: the document breaks off or exceeds the limits, so entries may be missing. */
  whole: boolean
}

/** Parses one document in a thread (`parser.ts`). Null: the document is no feed. */
export default function parse({ begun, ...document }: Timed<ParseTask>): ParsedFeed | null {
  begin(begun)
  return readFeed(document)
}

/**
 * Reads a feed or sitemap as it was served. No network; the clock says which dates are to come.
 * Null: the document is no feed or sitemap.
 */
export function readFeed({ bytes, contentType, url, old = false }: ParseTask): ParsedFeed | null {
  const text = decodeText(bytes, { contentType, kind: 'xml' })
  const feed = parseFeed(text, url)
  if (feed === null) return null
  const { format, entries, whole } = feed
  const recent = old ? entries : recentEntries(feed)
  const named = namedAddresses({ ...feed, entries: recent }, url)
  const total = feed.parts.length + named.length + entries.length - recent.length
  const parts = old ? feed.parts : recentParts(feed.parts)
  return {
    format,
    named,
    parts,
    next: feed.next,
    licence: cut(feed.licence, LONGEST.other),
    total,
    newest: newestOf(feed),
    whole,
  }
}

function newestOf({ entries, parts }: Feed): string | null {
  const written = [
    ...entries.map(entry => entry.published ?? entry.modified),
    ...parts.map(part => part.modified),
  ]
  const times = written
    .map(text => Date.parse(text?.slice(0, 100) ?? ''))
    .filter(time => !Number.isNaN(time))
  return times.length === 0 ? null : new Date(times.reduce((a, b) => Math.max(a, b))).toISOString()
}

/** An address that a feed named, ready for crawl memory. */
export interface Named {
  key: string
  host: string
  entry: FeedEntry
  /** When a sitemap says that the page was last changed. */
  modified: string | null
}

/** Longest texts that are kept, in characters. A longer text is cut. */
const LONGEST = { title: 2_000, summary: 100_000, content: 1_000_000, other: 500 }
/**
 * The most characters of all authors of one entry. Each entry of a JSON Feed stores the authors of
 * the feed again, so they count again.
 */
const LONGEST_AUTHORS = 2_000

/**
 * The addresses that a feed names, each once, in the feed's order. The permanent id of an entry
 * replaces a missing link. An entry without any http(s) address is left out.
 *
 * @param base the address of the feed, for relative links
 */
export function namedAddresses(feed: Feed, base: string): Named[] {
  const named = new Map<string, Named>()
  const fronts = feed.entries.filter(({ link }) => {
    const url = link === null ? null : readAddress(link, base)
    return url !== null && isFront(url)
  })
  for (const raw of feed.entries) {
    const url = addressOf(raw, base, fronts.length > 1)
    if (url === null) continue
    // User name and password are never sent. They must not appear in logs and articles, either.
    url.username = ''
    url.password = ''
    const key = addressKey(url)
    const entry = toEntry(raw, url, feed.language)
    const before = named.get(key)
    if (before === undefined)
      named.set(key, { key, host: url.host, entry, modified: cut(raw.modified, LONGEST.other) })
    else if (richness(entry) > richness(before.entry))
      before.entry = { ...entry, url: before.entry.url }
  }
  return [...named.values()]
}

/** How much of the article the entry holds: content counts 4, summary 2, title 1. */
export const richness = ({ content, summary, title }: FeedEntry): number =>
  Number(content !== null) * 4 + Number(summary !== null) * 2 + Number(title !== null)

const isFront = ({ pathname, search }: URL) => pathname === '/' && search === ''

/** @param isOneOfMany whether several entries link to a front page, which is then no article's */
function addressOf(raw: RawEntry, base: string, isOneOfMany: boolean): URL | null {
  // `originalLink` comes first, because it is the outlet's own address, which a redirecting service
  // has replaced.
  for (const link of [raw.originalLink, raw.link, raw.idIsLink ? raw.id : null, raw.about]) {
    // An id may be any text, but one that begins as an address or a path is one.
    if (link === null || (link === raw.id && !/^(?:https?:|\/[^/])/i.test(link))) continue
    const url = readAddress(link, base)
    // A link without an address leads to no article, and neither does the address of the feed
    // itself.
    if (url !== null && url.href !== base && !(isOneOfMany && isFront(url))) return url
  }
  return null
}

const toEntry = (raw: RawEntry, url: URL, language: string | null): FeedEntry => ({
  ...(raw.categories?.length
    ? { categories: raw.categories.flatMap(one => cut(one, LONGEST.other) ?? []) }
    : {}),
  url: url.href,
  guid: cut(raw.id, LONGEST.other),
  title: cut(escapedOnce(raw.title), LONGEST.title),
  summary: cut(escapedOnce(raw.summary), LONGEST.summary),
  content: cut(escapedOnce(raw.content), LONGEST.content),
  authors: cutAuthors(raw.authors.length > 0 ? raw.authors : raw.sourceAuthors),
  published: cut(raw.published, LONGEST.other),
  language: cut(raw.language ?? language, LONGEST.other),
})

/** An opening or closing tag of a common element, in escaped form. */
const ESCAPED_TAG =
  /&(?:amp;){0,2}lt;\/?(?:p|br|div|span|a|b|i|u|em|strong|small|img|ul|ol|li|h[1-6]|blockquote|figure|table|q)\b/i
/** An entity whose ampersand is escaped. */
const ESCAPED_ENTITY = /&amp;(#\d{2,7}|#x[0-9a-f]{2,6}|[a-z]{3,8});/gi

/**
 * Undoes the escaping of a text whose markup was escaped once too often. Without this, readers
 * would see tags, which no news feed intends. A text that has tags of its own stays as it is.
 */
function escapedOnce(text: string | null): string | null {
  if (text === null) return null
  let plain = withoutCdata(text)
  for (let times = 0; times < 3 && ESCAPED_TAG.test(plain) && !/<[a-z/]/i.test(plain); times += 1) {
    plain = decodeEntities(plain)
  }
  return plain.replace(ESCAPED_ENTITY, (written, entity: string) =>
    decodeEntities(`&${entity};`) === `&${entity};` || /^(?:lt|gt|amp|quot)$/i.test(entity)
      ? written
      : `&${entity};`,
  )
}

function cutAuthors(authors: string[]): string[] {
  const kept: string[] = []
  let left = LONGEST_AUTHORS
  for (const author of authors) {
    const name = cut(author, LONGEST.other) ?? ''
    left -= name.length
    if (left < 0) break
    kept.push(name)
  }
  return kept
}

/**
 * Cuts a text. A lone surrogate, such as half of a pair at the cut, becomes U+FFFD, because
 * Postgres refuses lone surrogates.
 */
const cut = (text: string | null, length: number): string | null =>
  text === null ? null : text.slice(0, length).toWellFormed()

/**
 * Reads a JSON Feed (jsonfeed.org, versions 1 and 1.1). Null: the text is no JSON Feed.
 *
 * @param base the address of the document
 */
function readJsonFeed(text: string, base: string | null): Feed | null {
  if (isDeep(text)) return null
  const feed: unknown = parseJson(text) ?? parseJson(mended(text))
  if (!isRecord(feed) || !Array.isArray(feed.items)) return null
  if (typeof feed.version !== 'string' && typeof feed.title !== 'string') return null
  const authors = authorsOf(feed)
  return {
    ...EMPTY_FEED,
    format: 'json',
    language: textOf(feed.language),
    entries: feed.items
      .slice(0, MAX_ENTRIES)
      .filter(isRecord)
      .map(item => readItem(item, authors)),
    next: typeof feed.next_url === 'string' ? nextPage(feed.next_url, base) : null,
    whole: feed.items.length <= MAX_ENTRIES,
  }
}

/**
 * Escapes raw control characters inside strings, mostly line breaks, and removes commas before a
 * closing bracket outside of them.
 */
function mended(json: string): string {
  let inString = false
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what breaks the parser
  return json.replace(/\\.|["\u0000-\u001f]|,(?=\s*[\]}])/gs, found => {
    if (found === '"') inString = !inString
    if (found === ',') return inString ? found : ''
    return found < ' ' && inString ? JSON.stringify(found).slice(1, -1) : found
  })
}

function readItem(item: Record<string, unknown>, feedAuthors: string[]): RawEntry {
  const authors = authorsOf(item)
  return {
    ...EMPTY_ENTRY,
    link: linkOf(item),
    id: textOf(item.id),
    idIsLink: true,
    title: textOf(item.title),
    summary: textOf(item.summary),
    content: textOf(item.content_html) ?? textOf(item.content_text),
    authors: authors.length > 0 ? authors : feedAuthors,
    published: textOf(item.date_published) ?? textOf(item.date_modified),
    language: textOf(item.language),
    modified: textOf(item.date_modified),
  }
}

/**
 * The authors in `authors`, or in the single `author` of version 1. Either may be an object or a
 * name, or a list of these.
 */
const authorsOf = ({ authors, author }: Record<string, unknown>): string[] =>
  [authors ?? author]
    .flat()
    .slice(0, MAX_AUTHORS)
    .map(person => textOf(isRecord(person) ? person.name : person))
    .filter(name => name !== null)

/**
 * The address of an item. `external_url` is the last choice, because it leads to another page that
 * the item describes.
 */
function linkOf(item: Record<string, unknown>): string | null {
  const url = textOf(item.url)
  const id = textOf(item.id)
  if (url !== null && /^(?:https?:|[/?])/i.test(url)) return url
  return id !== null && /^https?:\/\//i.test(id) ? id : (url ?? textOf(item.external_url))
}

function textOf(value: unknown): string | null {
  const text = typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Postgres refuses NUL in JSON
  return text.replace(/\u0000/g, '').trim() || null
}
